//! The greedy order, not private.

use super::waiting::Waiting;
use crate::Incidence;

/// The greedy order of all sets: always one that serves the most waiting users, the lowest index of
/// a tie. Sets that serve nobody come last, in ascending order. Not private.
///
/// # Utility
/// Its cost is at most `1 + ln(users of the largest set)` times the least possible.
///
/// # Complexity
/// `O(sets + memberships)` and the sorting of ties.
///
/// # Source
/// Chvátal (1979).
///
/// ```
/// use dp_combinatorial::Incidence;
/// use dp_combinatorial::set_cover::{exact_cost, exact_greedy};
///
/// let incidence = Incidence::from_slices(3, [&[0, 2][..], &[1, 2], &[2], &[1]])?;
/// let order = exact_greedy(&incidence);
/// assert_eq!(order, [2, 1, 0]);
/// assert_eq!(exact_cost(&order, &incidence).sets_used, 2);
/// # Ok::<(), dp_combinatorial::CombinatorialError>(())
/// ```
#[must_use]
pub fn exact_greedy(incidence: &Incidence) -> Vec<u32> {
    let mut waiting = Waiting::new(incidence, |_| true);
    let largest = (0..incidence.sets()).map(|set| incidence.users_of(set).len()).max();
    let mut buckets: Vec<Vec<u32>> = vec![Vec::new(); largest.unwrap_or(0) + 1];
    for (set, id) in (0..incidence.sets()).zip(0..) {
        buckets[incidence.users_of(set).len()].push(id);
    }
    let mut order = Vec::with_capacity(incidence.sets());
    // Gains only fall, so a set is filed at its gain or above it; when the bucket of a gain is
    // opened, all sets of that gain are in it, and those whose gain has fallen move down.
    for gain in (0..buckets.len()).rev() {
        let mut sets = std::mem::take(&mut buckets[gain]);
        sets.sort_unstable();
        for set in sets {
            let now = usize::try_from(waiting.gain(set)).expect("a count");
            if now == gain {
                order.push(set);
                waiting.choose(set);
            } else {
                buckets[now].push(set);
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::set_cover::exact_cost;

    fn plain(incidence: &Incidence) -> Vec<u32> {
        let mut waiting = Waiting::new(incidence, |_| true);
        let mut rest: Vec<u32> = (0..u32::try_from(incidence.sets()).unwrap()).collect();
        let mut order = Vec::new();
        while !rest.is_empty() {
            let best = rest.iter().map(|&set| waiting.gain(set)).max().unwrap();
            let place = rest.iter().position(|&set| waiting.gain(set) == best).unwrap();
            let set = rest.remove(place);
            order.push(set);
            waiting.choose(set);
        }
        order
    }

    proptest! {
        #[test]
        fn buckets_do_what_a_search_does(
            lists in prop::collection::vec(prop::collection::vec(0_u32..9, 0..5), 0..40),
        ) {
            let incidence = Incidence::from_slices(9, lists.iter().map(Vec::as_slice)).unwrap();
            prop_assert_eq!(exact_greedy(&incidence), plain(&incidence));
        }
    }

    /// The instance on which greedy is misled: rows of 2, 4, 8 users in two columns.
    #[test]
    fn the_cost_is_that_of_the_known_worst_case() {
        let lists: Vec<[u32; 2]> =
            (0..3_u32).flat_map(|row| (0..2_u32 << row).map(move |i| [row, 3 + i % 2])).collect();
        let incidence = Incidence::from_slices(5, lists.iter().map(<[u32; 2]>::as_slice)).unwrap();
        let order = exact_greedy(&incidence);
        assert_eq!(order, [2, 1, 0, 3, 4]);
        assert_eq!(exact_cost(&order, &incidence).sets_used, 3);
        assert_eq!(exact_cost(&[3, 4, 0, 1, 2], &incidence).sets_used, 2);
    }
}
