//! Toy mechanisms: what the checks and mutants of several crates share.

use std::collections::BTreeMap;

use dp_accounting::{AddOnly, AddRemove, AnyRelation, Relation};
use dp_mechanism::{
    DiscreteGaussian, DiscreteLaplace, Geometric, JumpSizes, Law as DrawLaw, Noise, Ratio,
    Reported, Source, ThresholdReports, Touched,
};

use super::Found;
use crate::{Law, Neighbours, compare, multisets};

/// Which direction of the neighbouring relation a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Adding a record, and nothing about removing it.
    Added,
    /// Adding and removing.
    Both,
}

/// Exact pure loss over all data sets of at most `most` records of `kinds` kinds, each with one
/// record more, as a multiple of `claimed`.
pub fn pure_loss_of_one_more<O: Ord>(
    side: Side,
    claimed: f64,
    (kinds, most): (usize, usize),
    law: impl Fn(&[usize]) -> Law<O>,
) -> Found {
    let mut found = Found::claim(1.0);
    let mut see = |without: &Law<O>, with: &Law<O>, witness: &str| {
        let mut loss = with.pure_loss(without);
        if side == Side::Both {
            loss = loss.max(without.pure_loss(with));
        }
        found.see(loss / claimed, || witness.to_owned());
    };
    let relation = match side {
        Side::Added => AddOnly.any(),
        Side::Both => AddRemove.any(),
    };
    for_each_added(relation, (kinds, most), &law, &mut see);
    found
}

/// The laws on all data sets of at most `most` records and on the same with one record more.
pub fn for_each_one_more<O: Ord>(
    (kinds, most): (usize, usize),
    law: impl Fn(&[usize]) -> Law<O>,
    mut see: impl FnMut(&Law<O>, &Law<O>, &str),
) {
    for_each_added(AddRemove.any(), (kinds, most), &law, &mut see);
}

/// Is told two laws, and on which records they are.
type See<'a, O> = dyn FnMut(&Law<O>, &Law<O>, &str) + 'a;

/// The same under one of the relations in which a record is added. Compiled once for a type of output: claims have many.
fn for_each_added<O: Ord>(
    relation: AnyRelation,
    (kinds, most): (usize, usize),
    law: &dyn Fn(&[usize]) -> Law<O>,
    see: &mut See<'_, O>,
) {
    // The toys look at their records in no particular order, so one law per multiset is enough.
    let data_sets = multisets(kinds, most + 1);
    let held = |law: Law<O>| law.held_under(relation).unwrap_or_else(|why| panic!("{why}"));
    let laws: Vec<Law<O>> = data_sets.iter().map(|data| held(law(data))).collect();
    for (without, with, added) in one_more(&data_sets, kinds, most) {
        let records = &data_sets[without];
        see(&laws[without], &laws[with], &format!("records {records:?} and {added} more"));
    }
}

/// The places of each data set of at most `most` records and of the same with one record more, and the kind of that.
fn one_more(data_sets: &[Vec<usize>], kinds: usize, most: usize) -> Vec<(usize, usize, usize)> {
    let places: BTreeMap<&[usize], usize> = data_sets.iter().map(Vec::as_slice).zip(0..).collect();
    let small = places.iter().filter(|(data, _)| data.len() <= most);
    let pairs =
        small.flat_map(|(data, &without)| (0..kinds).map(move |added| (data, without, added)));
    pairs
        .map(|(data, without, added)| {
            let mut with = [*data, &[added]].concat();
            with.sort_unstable();
            (without, places[&*with], added)
        })
        .collect()
}

/// Laplace noise that costs at most `epsilon` per unit of change: its scale is `1 / epsilon`,
/// rounded up to 30 binary places.
///
/// # Panics
/// If `epsilon` is not positive and of a usual size.
pub fn laplace(epsilon: f64) -> Noise {
    let places = f64::from(1 << 30);
    Noise::Laplace(
        DiscreteLaplace::new(ratio((places / epsilon).ceil() / places)).expect("positive"),
    )
}

/// A positive number of at most 30 binary places, rounded down if it has more.
pub fn ratio(x: f64) -> Ratio {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, small")]
    Ratio::new((x * f64::from(1 << 30)).floor() as u128, 1 << 30).expect("in range")
}

/// How many satisfy it, as mechanisms want it.
pub fn count<T>(items: impl IntoIterator<Item = T>, satisfies: impl Fn(&T) -> bool) -> i64 {
    i64::try_from(items.into_iter().filter(satisfies).count()).expect("toys are small")
}

/// Answers secret coins so that all records take part but one, which comes last: coins come in rounds of one per record.
///
/// Who is not in the sample must not count, so a run on it is the same as one without that record, to the last number that any draw
/// sees: [`nothing_of_who_is_left_out`].
struct AllButLast<'a> {
    source: &'a mut dyn Source,
    records: u64,
    left_out: bool,
    coins: u64,
}

impl Source for AllButLast<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.source.promised(relation);
    }

    fn draw(&mut self, law: DrawLaw<'_>) -> i64 {
        if !matches!(law, DrawLaw::Keep { .. }) {
            return self.source.draw(law);
        }
        self.coins += 1;
        i64::from(!(self.left_out && self.coins.is_multiple_of(self.records)))
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.source.noisy_vector(values, noise);
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.source.noisy_max(scores, noise)
    }
}

/// Whether a run on the first records and one on all of them, of whom the last is not in the secret sample, draw from the same numbers
/// and release the same. The last record is left out of every round of coins.
pub fn nothing_of_who_is_left_out<R, O: PartialEq + serde::Serialize>(
    all: &[R],
    outcomes: &mut dyn Source,
    run: impl Fn(&[R], &mut dyn Source) -> O,
) -> bool {
    let sampled = |records: &[R], source: &mut dyn Source| {
        let left_out = records.len() == all.len();
        let records_of_all = all.len() as u64;
        run(records, &mut AllButLast { source, records: records_of_all, left_out, coins: 0 })
    };
    let last = |a: &[R], b: &[R]| a.len() == b.len() + 1;
    let neighbours = Neighbours::tested(AddOnly, last).without_receipt();
    let seen = compare(&neighbours, sampled, all, &all[..all.len() - 1], outcomes);
    seen.pure_loss() == 0.0 && seen.rho() == 0.0
}

/// Makes reports by jumps, as a release does, with sizes of its own: an audit then goes through the outcomes of all coins that jumps
/// are made of, instead of those of the loop over cells that defines them.
#[allow(missing_debug_implementations, reason = "a source is not printed")]
pub struct Jumping<'a> {
    /// Where the coins come from.
    pub source: &'a mut dyn Source,
    /// From where on another way is taken.
    pub sizes: JumpSizes,
}

impl Source for Jumping<'_> {
    fn promised(&mut self, relation: Option<AnyRelation>) {
        self.source.promised(relation);
    }

    fn draw(&mut self, law: DrawLaw<'_>) -> i64 {
        self.source.draw(law)
    }

    fn noisy_vector(&mut self, values: &mut [i64], noise: DiscreteGaussian) {
        self.source.noisy_vector(values, noise);
    }

    fn noisy_max(&mut self, scores: &[i64], noise: Geometric) -> (usize, i64) {
        self.source.noisy_max(scores, noise)
    }

    fn reports(
        &mut self,
        touched: Touched<'_>,
        steps: u64,
        threshold: i64,
        law: &ThresholdReports,
    ) -> Vec<Reported> {
        law.by_jumps(touched, steps, threshold, self.sizes, self.source)
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;
    use dp_mechanism::Coin;

    use super::*;
    use crate::{Window, exact_law};

    /// Whoever is not in the sample must not even move a number with noise.
    #[test]
    fn who_is_left_out_moves_no_draw() {
        use dp_mechanism::{ChaCha20Rng, SecureSource};
        use rand::SeedableRng;
        type Run<'a> = &'a dyn Fn(&[u8], &mut dyn Source) -> i64;
        let coin = |source: &mut dyn Source| source.keep(Coin::Rational(ratio(0.5)));
        let coins = |records: &[u8], source: &mut dyn Source| {
            for _ in records {
                coin(source);
            }
        };
        let gaussian = Noise::Gaussian(
            DiscreteGaussian::new(Ratio::new(9, 1).expect("valid")).expect("positive"),
        );
        let honest = |records: &[u8], source: &mut dyn Source, noise: Noise| {
            let kept: Vec<bool> = records.iter().map(|_| coin(source)).collect();
            source.noisy(count(kept, |kept| *kept), noise)
        };
        let broken: [Run<'_>; 4] = [
            &|records, source| {
                coins(records, source);
                source.noisy(count(records, |_| true), laplace(0.5))
            },
            &|records, source| {
                coins(records, source);
                source.noisy(count(records, |_| true), gaussian)
            },
            &|records, source| {
                coins(records, source);
                i64::from(source.exceeds(count(records, |_| true), 9, laplace(0.5)))
            },
            &|records, source| {
                coins(records, source);
                source.noisy(0, laplace(0.5)) + count(records, |_| true)
            },
        ];
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let mut outcomes = SecureSource::new(&mut rng);
        let mut passes = |run: Run<'_>| nothing_of_who_is_left_out(&[1, 2, 3], &mut outcomes, run);
        assert!(passes(&|records, source| honest(records, source, laplace(0.5))));
        assert!(passes(&|records, source| honest(records, source, gaussian)));
        for (number, run) in broken.iter().enumerate() {
            assert!(!passes(run), "run {number}");
        }
    }

    /// Who is there is always said to be; where nobody is, it is a coin.
    #[test]
    fn both_sides_are_looked_at_where_both_are_promised() {
        let law = |data: &[usize]| {
            exact_law(Window::none(), |source| {
                !data.is_empty() || source.keep(Coin::Rational(ratio(0.25)))
            })
            .without_receipt()
        };
        let worst = |side| pure_loss_of_one_more(side, 1.0, (1, 0), law).worst;
        assert_abs_diff_eq!(worst(Side::Added), 4_f64.ln(), epsilon = 1e-9);
        assert!(worst(Side::Both).is_infinite());
    }
}
