//! Exact laws of mechanisms that run for many steps, by merging equal states.

use std::collections::BTreeMap;

use dp_mechanism::Source;

use crate::law::Mass;
use crate::numbers::Floats;
use crate::promises::Promises;
use crate::tape::for_each_path;
use crate::{Law, Window};

/// What one step leads to.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress<S, O> {
    /// Go on from this state: all that the remaining steps read, public or private.
    Continue(S),
    /// The run ends with this output.
    Done(O),
}

/// The exact law of a mechanism given as steps on a state, when its transcripts are too many to
/// walk: runs that reach the same state are merged, so the work grows with the number of states.
///
/// The state must hold everything that later steps and the output depend on; for a transcript that
/// is the part of it that still matters, plus the output so far if that is what is released.
///
/// # Panics
/// As [`exact_law`](crate::exact_law), or if states are still alive after a million rounds.
pub fn exact_law_of_steps<S: Ord + Clone, O: Ord>(
    window: Window,
    start: S,
    step: impl Fn(&S, &mut dyn Source) -> Progress<S, O>,
) -> Law<O> {
    let mut alive = BTreeMap::from([(start, Mass::new(1.0, false))]);
    let (mut done, mut promises) = (Vec::new(), Promises::default());
    for _ in 0..1_000_000 {
        let mut next: BTreeMap<S, Mass> = BTreeMap::new();
        for (state, mass) in alive {
            let step = |draws: &mut dyn Source| step(&state, draws);
            let mut report = |progress, probability, outside| {
                let mass = mass.then(Mass::new(probability, outside));
                match progress {
                    Progress::Continue(state) => next.entry(state).or_default().add(mass),
                    Progress::Done(output) => done.push((output, mass)),
                }
            };
            promises.merge(&for_each_path(&Floats, window, &step, &mut report));
        }
        if next.is_empty() {
            return Law::from_masses(done, promises);
        }
        alive = next;
    }
    panic!("the steps do not come to an end")
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;
    use dp_mechanism::{Coin, Ratio};

    use super::*;
    use crate::exact_law;

    fn heads(draws: &mut dyn Source) -> bool {
        draws.keep(Coin::Rational(Ratio::new(1, 3).expect("valid")))
    }

    #[test]
    fn merged_steps_give_the_law_of_the_whole_run() {
        let whole = exact_law(Window::none(), |draws| (0..8).filter(|_| heads(draws)).count());
        let merged = exact_law_of_steps(Window::none(), (0, 0), |&(toss, sum), draws| {
            let sum = sum + usize::from(heads(draws));
            if toss == 7 { Progress::Done(sum) } else { Progress::Continue((toss + 1, sum)) }
        });
        for (output, p) in whole.iter() {
            assert_abs_diff_eq!(merged.probability(output), p, epsilon = 1e-12);
        }
    }

    /// A step without a receipt, be it the last, leaves a law that says nothing until somebody answers for it.
    #[test]
    fn merged_steps_are_held_to_what_they_promised() {
        use dp_accounting::{AddRemove, Relation as _, ReplaceOne};
        let law = |planned: u8| {
            exact_law_of_steps(Window::none(), 0_u8, move |&step, draws| {
                let promised = if step < planned { Some(AddRemove.any()) } else { None };
                if promised.is_some() {
                    draws.promised(promised);
                }
                heads(draws);
                if promised.is_some() {
                    draws.promised(None);
                }
                if step == 1 { Progress::Done(()) } else { Progress::Continue(step + 1) }
            })
        };
        let whole = || law(2).under(AddRemove);
        assert!(whole().pure_loss(&whole()).abs() < 1e-12);
        assert!(law(2).held_under(ReplaceOne.any()).is_err());
        for planned in [0, 1] {
            assert!(law(planned).pure_loss(&law(planned)).is_infinite(), "{planned}");
            assert!(law(planned).held_under(AddRemove.any()).is_err(), "{planned}");
        }
    }

    /// Two hundred tosses have 2^200 transcripts and 20,301 states.
    #[test]
    fn long_runs_are_within_reach() {
        let law = exact_law_of_steps(Window::none(), (0_u32, 0_u32), |&(toss, sum), draws| {
            let sum = sum + u32::from(heads(draws));
            if toss == 199 { Progress::Done(sum) } else { Progress::Continue((toss + 1, sum)) }
        });
        let mean: f64 = law.iter().map(|(sum, p)| f64::from(*sum) * p).sum();
        assert_abs_diff_eq!(mean, 200.0 / 3.0, epsilon = 1e-9);
    }
}
