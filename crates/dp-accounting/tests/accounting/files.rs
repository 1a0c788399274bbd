//! What is written can be read back, and what no constructor would make cannot be read.

use dp_accounting::{
    AddOnly, AddRemove, Budget, Delta, Epsilon, Loss, Receipt, Relation, ReplaceOne, Rho, Step,
    Within,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{from_str, to_string};

use crate::{approximate, budget, delta, epsilon, gaussian, pure, range, rho, step, zcdp};

#[track_caller]
fn round_trip<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) {
    let text = to_string(value).expect("serialises");
    assert_eq!(&from_str::<T>(&text).expect("reads back"), value, "{text}");
}

fn receipt<R: Relation>(relation: R) -> Receipt<R> {
    let parts = Step::parallel("parts", vec![step(pure(0.25)), step(range(0.5))]);
    let ways = Step::one_of("ways", vec![step(pure(0.125)), step(range(0.25))]);
    let all = vec![parts, ways, step(zcdp(0.125)), step(approximate(0.5, 0.25))];
    Receipt::new("mechanism", relation, budget(1.0, 0.5), Step::sequential("all", all))
}

#[test]
fn round_trips() {
    round_trip(&epsilon(0.5));
    round_trip(&delta(0.0));
    round_trip(&rho(3.0));
    round_trip(&budget(1.0, 0.25));
    round_trip(&Loss::Unbounded);
    round_trip(&gaussian(0.25));
    round_trip(&receipt(AddRemove));
    round_trip(&receipt(AddRemove).into_replace_one());
    round_trip(&receipt(AddOnly));
    round_trip(&receipt(Within::new(0.5).unwrap()));
}

#[test]
fn the_file_form_is_stable() {
    let short = Receipt::new("m", AddRemove, budget(1.0, 0.25), step(pure(0.5)));
    insta::assert_snapshot!(to_string(&short).unwrap(), @r#"{"mechanism":"m","relation":"add-remove","budget":{"epsilon":1.0,"delta":0.25},"spent":{"spend":{"name":"step","loss":{"pure":{"epsilon":0.5}}}}}"#);
    insta::assert_snapshot!(to_string(&gaussian(0.25)).unwrap(), @r#"{"gaussian":{"mu":0.25}}"#);
    insta::assert_snapshot!(to_string(&Within::new(0.5).unwrap()).unwrap(), @r#"{"within":{"rho":0.5}}"#);
}

#[test]
fn no_file_can_bypass_a_constructor() {
    for bad in ["-1", "1e999", "null", "\"1\""] {
        assert!(from_str::<Epsilon>(bad).is_err(), "{bad}");
        assert!(from_str::<Rho>(bad).is_err(), "{bad}");
        assert!(from_str::<Delta>(bad).is_err(), "{bad}");
    }
    assert!(from_str::<Delta>("1").is_err());
    assert!(from_str::<Budget>(r#"{"epsilon":1.0,"delta":0.0}"#).is_ok());
    for bad in [
        r#"{"epsilon":0.0,"delta":0.0}"#,
        r#"{"epsilon":101.0,"delta":0.0}"#,
        r#"{"epsilon":1.0,"delta":1.0}"#,
        r#"{"epsilon":1.0}"#,
        r#"{"epsilon":1.0,"delta":0.0,"rho":1.0}"#,
    ] {
        assert!(from_str::<Budget>(bad).is_err(), "{bad}");
    }
    assert!(from_str::<Loss>(r#"{"pure":{"epsilon":-0.5}}"#).is_err());
    assert!(from_str::<Within>(r#"{"within":{"rho":0.0}}"#).is_err());
    let nobody =
        r#"{"group":{"name":"g","size":0,"step":{"spend":{"name":"s","loss":"unbounded"}}}}"#;
    assert!(from_str::<Step>(nobody).is_err(), "a group of 0 would hide its cost");
}

#[test]
fn a_receipt_of_one_relation_is_not_read_as_another() {
    fn reads_as<R: Relation>(text: &str) -> bool {
        from_str::<Receipt<R>>(text).is_ok()
    }
    let texts = [
        to_string(&receipt(AddRemove)).unwrap(),
        to_string(&receipt(ReplaceOne)).unwrap(),
        to_string(&receipt(AddOnly)).unwrap(),
        to_string(&receipt(Within::new(0.5).unwrap())).unwrap(),
    ];
    for (written, text) in texts.iter().enumerate() {
        let read = [
            reads_as::<AddRemove>(text),
            reads_as::<ReplaceOne>(text),
            reads_as::<AddOnly>(text),
            reads_as::<Within>(text),
        ];
        for (reader, ok) in read.into_iter().enumerate() {
            assert_eq!(ok, reader == written, "{text}");
        }
    }
    let error = from_str::<Receipt<AddRemove>>(&texts[1]).unwrap_err().to_string();
    assert!(error.contains("the relation is `replace-one`, expected `add-remove`"), "{error}");
}
