//! Records that a mechanism may not expect.

use rand::{Rng, RngExt};
use serde_json::Value;

/// Integers: small, large, and the ends, whose sums and differences do not fit.
pub fn integers() -> Vec<i64> {
    vec![0, 1, -1, 2, 7, -1_000, 1_000_000, 1 << 40, i64::MAX, i64::MIN]
}

/// Odd floats: zeros of both signs, infinities, no number at all, the smallest and very large ones.
pub fn floats() -> Vec<f64> {
    vec![
        0.0,
        -0.0,
        1.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::from_bits(1),
        -f64::MIN_POSITIVE,
        1e300,
        -1e300,
    ]
}

/// Points for a box: its corners, centre and border, points that agree in all coordinates or in none, points far
/// outside, and one for each odd float in each of the first two coordinates.
///
/// A box that is far from the origin is up to the caller, and worth a try: there neighbouring floats are far
/// apart.
///
/// # Panics
/// If the ends have different lengths.
pub fn points(low: &[f64], high: &[f64]) -> Vec<Vec<f64>> {
    assert_eq!(low.len(), high.len(), "a box has as many lower ends as upper ones");
    let between = |share: f64| -> Vec<f64> {
        low.iter().zip(high).map(|(low, high)| low + share * (high - low)).collect()
    };
    let centre = between(0.5);
    let mixed = |odd: bool| -> Vec<f64> {
        let ends = low.iter().zip(high).enumerate();
        ends.map(|(i, (low, high))| if (i % 2 == 1) == odd { *low } else { *high }).collect()
    };
    let mut points = vec![
        low.to_vec(),
        high.to_vec(),
        centre.clone(),
        mixed(true),
        mixed(false),
        between(1.0 - f64::EPSILON),
        between(0.25),
        between(-1e9),
        between(1e9),
        vec![low.first().copied().unwrap_or(0.0); low.len()],
    ];
    for odd in floats() {
        for coordinate in 0..low.len().min(2) {
            let mut point = centre.clone();
            point[coordinate] = odd;
            points.push(point);
        }
    }
    points
}

/// A JSON text with one to three changes: odd numbers and texts, fields and entries that are gone, come twice or are of another kind.
///
/// What a reader of files accepts of it, it has to stand by.
///
/// # Errors
/// If the text is no JSON.
pub fn changed_json<R: Rng + ?Sized>(text: &str, rng: &mut R) -> serde_json::Result<String> {
    let mut value: Value = serde_json::from_str(text)?;
    for _ in 0..rng.random_range(1..=3) {
        let at = rng.random_range(0..size(&value));
        change(&mut value, at, rng);
    }
    serde_json::to_string(&value)
}

/// What is put into a text or a table to see what becomes of it.
const PIECES: [&[u8]; 25] = [
    b"0",
    b"-1",
    b"1e999",
    b"-0.0",
    b"18446744073709551615",
    b"1e-300",
    b"NaN",
    b"null",
    b"{",
    b"[",
    b"]",
    b"\\u0000",
    b"\xff",
    b"\0",
    b",",
    b";",
    b"\"",
    b"\"\"",
    b"\n",
    b"\r\n",
    b"\xef\xbb\xbf",
    b"0,5",
    b" ",
    b"\xff\xff\xff\xff\xff\xff\xff\x7f",
    b"\x80",
];

/// Bytes with one to three changes: bits flipped, an end cut off, a part twice, pieces of texts put in or over, a number in the place of another.
pub fn changed_bytes<R: Rng + ?Sized>(whole: &[u8], rng: &mut R) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for _ in 0..rng.random_range(1..4) {
        if bytes.is_empty() {
            break;
        }
        let at = rng.random_range(0..bytes.len());
        let piece = PIECES[rng.random_range(0..PIECES.len())].iter().copied();
        match rng.random_range(0..6) {
            0 => bytes[at] ^= 1 << rng.random_range(0..8),
            1 => bytes.truncate(at),
            2 => {
                let to = rng.random_range(at..bytes.len());
                let again = bytes[at..to].to_vec();
                bytes.splice(at..at, again);
            }
            3 => drop(bytes.splice(at..at, piece)),
            4 => drop(bytes.splice(at..bytes.len().min(at + piece.len()), piece)),
            // A number in the place of another.
            _ => {
                let digit = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
                if let Some(from) = bytes[at..].iter().position(digit).map(|more| at + more) {
                    let to = bytes[from..].iter().position(|byte| !digit(byte));
                    let to = to.map_or(bytes.len(), |more| from + more);
                    let number = PIECES[rng.random_range(0..7)].iter().copied();
                    bytes.splice(from..to, number);
                }
            }
        }
    }
    bytes
}

/// Values in a value, itself included.
fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(all) => all.iter().map(size).sum(),
        Value::Object(all) => all.values().map(size).sum(),
        _ => 0,
    }
}

/// Changes the value of this number, from the outside in.
fn change<R: Rng + ?Sized>(value: &mut Value, mut at: usize, rng: &mut R) {
    if at == 0 {
        *value = odd(value, rng);
        return;
    }
    at -= 1;
    let parts: Vec<&mut Value> = match value {
        Value::Array(all) => all.iter_mut().collect(),
        Value::Object(all) => all.values_mut().collect(),
        _ => vec![],
    };
    for part in parts {
        let own = size(part);
        if at < own {
            return change(part, at, rng);
        }
        at -= own;
    }
}

fn odd<R: Rng + ?Sized>(value: &Value, rng: &mut R) -> Value {
    match value {
        Value::Array(all) if !all.is_empty() => {
            let (mut all, at) = (all.clone(), rng.random_range(0..all.len()));
            match rng.random_range(0..4) {
                0 => drop(all.remove(at)),
                1 => all.insert(at, all[at].clone()),
                2 => all.swap(at, 0),
                _ => all.clear(),
            }
            Value::Array(all)
        }
        Value::Object(all) if !all.is_empty() => {
            let name = all.keys().nth(rng.random_range(0..all.len())).cloned().unwrap_or_default();
            let mut all = all.clone();
            let gone = all.remove(&name).unwrap_or_default();
            if rng.random() {
                all.insert(format!("{name}_"), gone);
            }
            Value::Object(all)
        }
        Value::Number(number) => {
            let next =
                number.as_i64().map(|number| [number.wrapping_add(1), number.wrapping_sub(1)]);
            let mut odd: Vec<Value> =
                integers().into_iter().chain([3, 255, 256, 1 << 32]).map(Value::from).collect();
            odd.extend(next.into_iter().flatten().map(Value::from));
            odd.extend(
                floats().into_iter().chain([0.5, 1.0 - f64::EPSILON, 1e-9]).map(Value::from),
            );
            odd.push(u64::MAX.into());
            odd.swap_remove(rng.random_range(0..odd.len()))
        }
        _ => [Value::Null, true.into(), 1.into(), "".into(), Value::Array(vec![])]
            [rng.random_range(0..5)]
        .clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand::rngs::ChaCha20Rng;

    #[test]
    fn points_go_to_the_ends_of_the_box_and_beyond() {
        let points = points(&[1e6, -1.0], &[1e6 + 1.0, 1.0]);
        assert!(points.iter().all(|point| point.len() == 2));
        for wanted in [[1e6, -1.0], [1e6 + 1.0, 1.0], [1e6, 1.0], [1e6 + 0.5, 0.0]] {
            assert!(points.iter().any(|point| point == &wanted), "{wanted:?}");
        }
        assert!(points.iter().any(|point| point[0] < 0.0) && points.iter().any(|p| p[1].is_nan()));
        assert!(points.iter().any(|point| point[1] == 0.0 && point[1].is_sign_negative()));
    }

    #[test]
    fn changes_are_json_of_many_kinds() {
        let text = r#"{"a":[1,2,{"b":0.5}],"c":"x","d":null}"#;
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let all: std::collections::BTreeSet<String> =
            (0..2_000).map(|_| changed_json(text, &mut rng).expect("it was JSON")).collect();
        assert!(all.len() > 500, "{}", all.len());
        let holds = |part: &str| all.iter().any(|changed| changed.contains(part));
        assert!(
            ["\"a_\"", "-1", "null", "[]", "[1,1", "18446744073709551615"].into_iter().all(holds)
        );
        assert!(changed_json("{", &mut rng).is_err());
    }
}
