//! Whether two outputs are the same to whoever receives them.

use serde::Serialize;

/// Whether two outputs are the same, bit for bit: `-0.0` is not `0.0`, and a NaN is only itself. What
/// serialisation leaves out is compared by value.
///
/// ```
/// use dp_audit::same_bits;
///
/// assert!(same_bits(&vec![1.0, f64::NAN], &vec![1.0, f64::NAN]));
/// assert!(!same_bits(&0.0, &-0.0));
/// ```
///
/// # Panics
/// If an output cannot be serialised: a map or list that does not know its length, or an error of its own.
pub fn same_bits<O: PartialEq + Serialize>(a: &O, b: &O) -> bool {
    // Equality is asked only of what equals itself, which a NaN does not.
    #[allow(clippy::eq_op, reason = "whether it does")]
    let comparable = a == a && b == b;
    bytes(a) == bytes(b) && (!comparable || a == b)
}

/// What tells outputs apart.
pub(crate) fn bytes<O: Serialize>(output: &O) -> Vec<u8> {
    append(output, Vec::new())
}

/// The same, behind those of others.
pub(crate) fn append<O: Serialize>(output: &O, others: Vec<u8>) -> Vec<u8> {
    postcard::to_extend(output, others).expect("outputs can be serialised")
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::same_bits;

    #[derive(PartialEq, Serialize)]
    struct Hiding {
        shown: f64,
        #[serde(skip)]
        hidden: i64,
    }

    #[test]
    fn bits_count_where_values_are_equal_and_values_where_bits_are_left_out() {
        let with = |shown, hidden| Hiding { shown, hidden };
        assert!(same_bits(&with(0.5, 1), &with(0.5, 1)));
        assert!(!same_bits(&with(0.0, 1), &with(-0.0, 1)));
        assert!(!same_bits(&with(0.5, 1), &with(0.5, 2)));
        let other_nan = f64::from_bits(f64::NAN.to_bits() ^ 1);
        assert!(same_bits(&f64::NAN, &f64::NAN) && !same_bits(&f64::NAN, &other_nan));
        assert!(!same_bits(&[f32::NAN], &[1.0]) && !same_bits(&Some(0_u8), &None));
    }
}
