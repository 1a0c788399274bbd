//! Events of the same users brought together.

/// A user who shows an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) item: u64,
    /// From the first user on.
    pub(crate) user: u32,
    /// The charge of the user before the step, or [`UNKNOWN`].
    pub(crate) before: u8,
}

/// The charge of a user who was busy already.
pub(crate) const UNKNOWN: u8 = u8::MAX;

/// Below this, a sort by comparisons takes less time than to begin one by digits.
const FEW: usize = 1 << 10;
const DIGIT_BITS: u32 = 11;

/// Sorts by user, of which there are so many; those of one user stay in order.
///
/// # Complexity
/// Linear in the events for every digit of a user's number, of which there are three at most. No user can be chosen that
/// takes longer.
pub(crate) fn sort_by_user(shown: &mut Vec<Shown>, scratch: &mut Vec<Shown>, users: usize) {
    if shown.len() < FEW {
        shown.sort_by_key(|shown| shown.user);
        return;
    }
    // What is left there is written over.
    scratch.resize(shown.len(), Shown::default());
    let bits = usize::BITS - users.leading_zeros();
    let passes = bits.div_ceil(DIGIT_BITS).max(1);
    // As few bits a pass as that number of passes needs: fewer places to write to at a time.
    let width = bits.div_ceil(passes);
    for pass in 0..passes {
        let digit = |shown: &Shown| (shown.user >> (pass * width)) as usize & ((1 << width) - 1);
        let mut starts = vec![0_u32; 1 << width];
        for shown in shown.iter() {
            starts[digit(shown)] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            (*start, sum) = (sum, sum + *start);
        }
        for shown in shown.iter() {
            let start = &mut starts[digit(shown)];
            scratch[*start as usize] = *shown;
            *start += 1;
        }
        std::mem::swap(shown, scratch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_that_of_a_stable_sort() {
        for (users, step) in
            [(1, 1), (2, 1), (700, 11), (5_000, 977), (1 << 23, 77_777), (1 << 31, 654_321)]
        {
            for events in [0, 1, FEW - 1, FEW, 5_000] {
                let shown = |i: u64| Shown {
                    item: i,
                    user: u32::try_from(i * step % users).expect("below 2^31"),
                    before: UNKNOWN,
                };
                let mut found: Vec<Shown> = (0..events as u64).map(shown).collect();
                let mut plain = found.clone();
                plain.sort_by_key(|shown| shown.user);
                sort_by_user(&mut found, &mut Vec::new(), usize::try_from(users).expect("small"));
                assert_eq!(found, plain);
            }
        }
    }
}
