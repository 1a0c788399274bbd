//! One bisection for all root finding: over the floats themselves, so it ends at two neighbouring numbers.

/// The last non-negative float in `[yes, no]` for which `holds`, and the first for which it does not.
///
/// The caller vouches for both ends and they are not evaluated again; in between, only values that were seen to hold
/// (or not to) are returned, so even a predicate that is not monotone gives a correct, if not extreme, answer.
/// `yes` may lie above `no`.
pub(crate) fn bisect(yes: f64, no: f64, mut holds: impl FnMut(f64) -> bool) -> (f64, f64) {
    // Bit patterns of non-negative floats are ordered like their values.
    let (mut yes, mut no) = (yes.to_bits(), no.to_bits());
    while yes.abs_diff(no) > 1 {
        let middle = yes.midpoint(no);
        if holds(f64::from_bits(middle)) {
            yes = middle;
        } else {
            no = middle;
        }
    }
    (f64::from_bits(yes), f64::from_bits(no))
}

#[cfg(test)]
mod tests {
    use super::bisect;

    #[test]
    fn it_ends_at_two_neighbours_in_either_direction() {
        let (below, above) = bisect(0.0, 10.0, |x| x * x < 2.0);
        assert!(below * below < 2.0 && above * above >= 2.0);
        assert_eq!(below.next_up().to_bits(), above.to_bits());
        let (above, below) = bisect(10.0, 0.0, |x| x * x >= 2.0);
        assert_eq!(below.next_up().to_bits(), above.to_bits());
    }
}
