//! Repeated exponential choices: what a removed record shows, and how many choices there may be.

use dp_accounting::Epsilon;
use dp_audit::{Window, exact_law};
use dp_mechanism::{Draws, PoissonSample, Ratio, Source};

use dp_audit::harness::toys::{Side, count, pure_loss_of_one_more, ratio};
use dp_audit::harness::{Effort, Found};

/// Picks sets one after the other, each with weight `e^rate` per record that it is the first to
/// cover. A record is the set of the sets that hold it, as bits.
fn cover(
    records: &[u128],
    sets: u32,
    picks: u32,
    rate: Ratio,
    draws: &mut dyn Source,
) -> Vec<usize> {
    let mut picked = Vec::new();
    for _ in 0..picks {
        let covered = |record: u128| picked.iter().any(|&set| record >> set & 1 == 1);
        let left: Vec<u128> = records.iter().copied().filter(|&record| !covered(record)).collect();
        let scores: Vec<i64> =
            (0..sets).map(|set| count(&left, |&&record| record >> set & 1 == 1)).collect();
        picked.push(draws.choose(&scores, rate));
    }
    picked
}

/// Claimed for added and removed records, with or without the secret sample that the second need.
/// All small families, and one record that is in all of a hundred sets but two.
pub(super) fn repeated_choice(_: Effort, sampled: bool) -> Found {
    let (sample, claimed) = secret_sample();
    let rate = ratio(if sampled { sample.inner().get() } else { claimed });
    let law = |records: &[u128], sets, picks| {
        exact_law(Window::none(), |draws| {
            let kept = if sampled { select(&sample, records, draws) } else { records.to_vec() };
            cover(&kept, sets, picks, rate, draws)
        })
        .without_receipt()
    };
    let mut found = pure_loss_of_one_more(Side::Both, claimed, (1 << 4, 1), |kinds| {
        let records: Vec<u128> = kinds.iter().map(|&kind| kind as u128).collect();
        law(&records, 4, 3)
    });
    let (without, with) = (law(&[], 100, 2), law(&[(1 << 98) - 1], 100, 2));
    let loss = without.pure_loss(&with).max(with.pure_loss(&without));
    found.see(loss / claimed, || "no record, and one in 98 of 100 sets".to_owned());
    found
}

/// How many centres are picked.
#[derive(Clone, Copy)]
pub(super) enum Picks {
    /// `2 k ln n` for the number of records at hand, with `k = 1`.
    FromTheRecords,
    /// The same for a public bound on it.
    FromABound,
}

/// Centres on a line of three places, each picked with weight `e^(rate gain)`, where the gain is
/// how much nearer the records get, from a distance of two at most.
pub(super) fn centres(effort: Effort, picks: Picks) -> Found {
    const PLACES: usize = 3;
    let most = effort.of(2, 3);
    let (sample, claimed) = secret_sample();
    // One record gains two in all.
    let rate = ratio(sample.inner().get() / 2.0);
    pure_loss_of_one_more(Side::Both, claimed, (PLACES, most), |records| {
        exact_law(Window::none(), |draws| {
            let kept = select(&sample, records, draws);
            let n = match picks {
                Picks::FromTheRecords => kept.len().max(1),
                Picks::FromABound => most + 1,
            };
            let mut distances = vec![2; kept.len()];
            let mut centres = Vec::new();
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
            for _ in 0..(2.0 * (n as f64).ln()).ceil() as usize {
                let nearer = |centre: usize| {
                    let to = |(&record, &now): (&usize, &usize)| now.min(record.abs_diff(centre));
                    kept.iter().zip(&distances).map(to).collect::<Vec<usize>>()
                };
                let before: usize = distances.iter().sum();
                let gain = |centre| before - nearer(centre).iter().sum::<usize>();
                let scores: Vec<i64> =
                    (0..PLACES).map(|c| i64::try_from(gain(c)).expect("small")).collect();
                let centre = draws.choose(&scores, rate);
                distances = nearer(centre);
                centres.push(centre);
            }
            centres
        })
        .without_receipt()
    })
}

fn secret_sample() -> (PoissonSample, f64) {
    let sample = PoissonSample::new(Epsilon::new(1.0).expect("valid")).expect("positive");
    (sample, sample.epsilon().get())
}

fn select<T: Copy>(sample: &PoissonSample, records: &[T], draws: &mut dyn Source) -> Vec<T> {
    let kept = sample.sample(records.len(), &mut Draws::unplanned(draws)).exact();
    records.iter().zip(kept).filter(|(_, kept)| *kept).map(|(record, _)| *record).collect()
}
