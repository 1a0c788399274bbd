//! The ledger refuses, survives, and cannot be talked out of it through its file.

use dp_accounting::{
    AddRemove, Ledger, Receipt, SpendError, Step, Within, budget_to_zcdp, zcdp_to_epsilon,
};
use serde_json::{from_str, to_string};

use crate::{approximate, budget, close, delta, epsilon, pure, step, zcdp};

fn costs(e: f64) -> Receipt<AddRemove> {
    Receipt::new("m", AddRemove, budget(e, 0.0), step(pure(e)))
}

#[test]
fn it_fills_to_the_brim_and_refuses_the_rest() {
    let mut ledger = Ledger::new(AddRemove, budget(1.0, 0.0));
    assert_eq!(ledger.spent(), Some(epsilon(0.0)));
    for _ in 0..4 {
        ledger.spend(&costs(0.25)).unwrap();
    }
    assert_eq!(ledger.spent(), Some(epsilon(1.0)));
    let before = ledger.clone();
    let error = ledger.spend(&costs(0.5)).unwrap_err();
    assert_eq!(ledger, before, "a refused spend changes nothing");
    insta::assert_snapshot!(error, @"budget exceeded: the release needs epsilon 0.5 at delta 0, epsilon 1 is spent, together epsilon 1.5, the limit is epsilon 1");
    let SpendError::Exceeded(exceeded) = error else { panic!("{error}") };
    assert_eq!(exceeded.requested, Some(epsilon(0.5)));
    assert_eq!(exceeded.spent, Some(epsilon(1.0)));
    assert_eq!(exceeded.total, Some(epsilon(1.5)));
    assert_eq!(exceeded.limit, budget(1.0, 0.0));
    assert!(ledger.spend(&costs(5e-324)).is_err(), "not even the smallest loss fits");
}

#[test]
fn what_has_no_place_at_the_limit_is_refused() {
    let mut ledger = Ledger::new(AddRemove, budget(1.0, 0.0));
    let gaussian = Receipt::new("g", AddRemove, budget(1.0, 1e-6), step(zcdp(1e-3)));
    let error = ledger.spend(&gaussian).unwrap_err();
    insta::assert_snapshot!(error, @"budget exceeded: the release needs no finite epsilon at delta 0, epsilon 0 is spent, together no finite epsilon, the limit is epsilon 1");
    assert!(ledger.entries().is_empty());
}

#[test]
fn zcdp_adds_up_in_rho() {
    let limit = budget(1.0, 1e-6);
    let r = budget_to_zcdp(limit).unwrap();
    let mut ledger = Ledger::new(AddRemove, limit);
    for share in r.split(&[1.0; 10]).unwrap() {
        let own = zcdp_to_epsilon(share, delta(1e-6)).unwrap();
        let asked = budget(own.get(), 1e-6);
        ledger.spend(&Receipt::new("g", AddRemove, asked, step(zcdp(share.get())))).unwrap();
    }
    close(ledger.spent().unwrap().get(), 1.0, 1e-12);
    assert!(ledger.spend(&costs(1e-3)).is_err());
}

/// Two releases leave out twice the mass that each of them leaves out.
#[test]
fn deltas_add_up() {
    for (most, fits) in [(1e-6, 1), (1.9e-6, 1), (2.1e-6, 2), (3.1e-6, 3)] {
        let mut ledger = Ledger::new(AddRemove, budget(9.0, most));
        let one = Receipt::new("m", AddRemove, budget(1.0, 1e-6), step(approximate(1.0, 1e-6)));
        let spent = (0..5).filter(|_| ledger.spend(&one).is_ok()).count();
        assert_eq!(spent, fits, "{most}");
    }
}

/// One small pure loss costs no epsilon at the delta of its budget; many of them do, and use up that delta one after the other.
#[test]
fn pure_receipts_use_up_the_delta_at_which_they_are_priced() {
    let limit = budget(1.0, 1e-6);
    let mut ledger = Ledger::new(AddRemove, limit);
    let one = Receipt::new("m", AddRemove, limit, step(pure(1e-6)));
    assert_eq!(one.epsilon(), Some(epsilon(0.0)));
    (0..300).for_each(|_| ledger.spend(&one).unwrap());
    let all = Step::sequential("all", vec![step(pure(1e-6)); 300]);
    let all = Receipt::new("m", AddRemove, limit, all).total().unwrap().epsilon(limit.delta());
    assert!(all.lower() > 1e-6, "{all}");
    assert!(ledger.spent().unwrap().get() >= all.lower(), "{:?} {all}", ledger.spent());
}

#[test]
fn the_order_of_entries_does_not_matter() {
    let limit = budget(10.0, 1e-5);
    let receipts = [zcdp(0.01), pure(0.3), approximate(0.2, 1e-6), pure(0.01)]
        .map(|loss| Receipt::new("m", AddRemove, budget(1.0, 1e-6), step(loss)));
    let total = |order: [usize; 4]| {
        let mut ledger = Ledger::new(AddRemove, limit);
        for i in order {
            ledger.spend(&receipts[i]).unwrap();
        }
        ledger.spent().unwrap().get()
    };
    close(total([0, 1, 2, 3]), total([3, 1, 0, 2]), 1e-14);
}

#[test]
fn a_converted_receipt_costs_its_own_bound() {
    // As two leaves of zCDP it would cost more than the group bound on its (epsilon, delta).
    let asked = budget(1.0, 1e-6);
    let receipt =
        Receipt::new("g", AddRemove, asked, step(zcdp(budget_to_zcdp(asked).unwrap().get())));
    let receipt = receipt.into_replace_one();
    let mut ledger = Ledger::new(receipt.relation(), receipt.budget());
    ledger.spend(&receipt).unwrap();
    assert!(ledger.spent().unwrap() <= receipt.budget().epsilon());
}

#[test]
fn another_distance_is_another_relation() {
    let [near, far] = [0.5, 1.0].map(|rho| Within::new(rho).unwrap());
    let mut ledger = Ledger::new(near, budget(1.0, 0.0));
    let receipt = |relation| Receipt::new("m", relation, budget(0.5, 0.0), step(pure(0.5)));
    let error = ledger.spend(&receipt(far)).unwrap_err();
    assert_eq!(error, SpendError::OtherDistance { ledger: Some(0.5), receipt: Some(1.0) });
    assert_eq!(error.to_string(), "the ledger protects distance 0.5, the receipt 1");
    assert!(ledger.spend(&receipt(near)).is_ok());
}

#[test]
fn it_survives_a_restart_even_when_full() {
    let limit = budget(1.0, 1e-6);
    let mut ledger = Ledger::new(AddRemove, limit);
    let shares = budget_to_zcdp(limit).unwrap().split(&[0.1, 0.2, 0.7]).unwrap();
    for share in shares {
        let spent = Step::sequential("all", vec![step(zcdp(share.get()))]);
        ledger.spend(&Receipt::new("g", AddRemove, budget(0.9, 1e-6), spent)).unwrap();
    }
    let mut opened: Ledger<AddRemove> = from_str(&to_string(&ledger).unwrap()).unwrap();
    assert_eq!(opened.entries().len(), 3);
    close(opened.spent().unwrap().get(), 1.0, 1e-12);
    assert!(opened.spend(&costs(1e-3)).is_err(), "it remembers that it is full");
}

#[test]
fn a_tampered_file_is_refused() {
    let mut ledger = Ledger::new(AddRemove, budget(1.0, 0.0));
    ledger.spend(&costs(0.5)).unwrap();
    ledger.spend(&costs(0.25)).unwrap();
    let text = to_string(&ledger).unwrap();
    assert!(from_str::<Ledger<AddRemove>>(&text).is_ok());
    for (from, to) in [
        (r#""limit":{"epsilon":1.0"#, r#""limit":{"epsilon":0.7"#),
        (r#""pure":{"epsilon":0.25}"#, r#""pure":{"epsilon":0.75}"#),
        // Over the limit by no more than a rounded digit or two could not be.
        (r#""limit":{"epsilon":1.0"#, r#""limit":{"epsilon":0.74999999925"#),
        (r#""pure":{"epsilon":0.25}"#, r#""pure":{"epsilon":-0.25}"#),
        (r#""relation":"add-remove","limit""#, r#""relation":"add-only","limit""#),
        (r#""limit":{"#, r#""spare":1,"limit":{"#),
    ] {
        let tampered = text.replacen(from, to, 1);
        assert_ne!(tampered, text, "{from}");
        assert!(from_str::<Ledger<AddRemove>>(&tampered).is_err(), "{tampered}");
    }
}

#[test]
fn types_can_be_shared_between_threads() {
    fn check<T: Send + Sync>() {}
    check::<Ledger<AddRemove>>();
    check::<Receipt<Within>>();
}
