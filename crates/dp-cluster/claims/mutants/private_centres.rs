//! Broken candidates, choices among them, and rounds on the farthest records: the real code with other draws.

use dp_audit::harness::MutantCode;
use dp_mechanism::{Law, Noise, Ratio, RoundedGaussian, Source};

use crate::private_centres::{
    counts_again, known_cells, new_cells, plainly, searches, second_rounds, variance,
};

pub(crate) fn code() -> [MutantCode; 5] {
    [
        ("M120", |e| new_cells(e, one_below), |e| new_cells(e, plainly)),
        ("M121", |e| known_cells(e, in_parallel), |e| known_cells(e, plainly)),
        ("M122", |e| searches(e, by_radius), |e| searches(e, plainly)),
        ("M123", |e| searches(e, best_by_cost), |e| searches(e, plainly)),
        ("M124", |e| second_rounds(e, one_change), |e| second_rounds(e, plainly)),
    ]
}

pub(crate) fn narrower(noise: RoundedGaussian, by: u128) -> Noise {
    let variance = noise.variance().checked_mul(Ratio::new(1, by).expect("valid"));
    Noise::Rounded(RoundedGaussian::new(variance.expect("in range")).expect("in range"))
}

/// A threshold for cells of no record: one less.
fn one_below(_: &[f64], law: Law<'_>, draws: &mut dyn Source) -> i64 {
    let noisy = draws.draw(law);
    match law {
        Law::Noisy { noise: Noise::Rounded(noise), .. } if variance(noise) < 1e6 => noisy + 1,
        _ => noisy,
    }
}

/// Every record in all four histograms, each with the noise of one.
fn in_parallel(_: &[f64], law: Law<'_>, draws: &mut dyn Source) -> i64 {
    match law {
        Law::Noisy { value, noise: Noise::Rounded(noise) } => {
            draws.draw(Law::Noisy { value, noise: narrower(noise, 4) })
        }
        other => draws.draw(other),
    }
}

/// The largest cost of a record taken to be the square of the radius of the ball, not of its diameter.
fn by_radius(_: &[f64], law: Law<'_>, draws: &mut dyn Source) -> i64 {
    match law {
        Law::Choice { scores, rate } => {
            let rate = rate.checked_mul(Ratio::new(4, 1).expect("valid")).expect("in range");
            draws.draw(Law::Choice { scores, rate })
        }
        other => draws.draw(other),
    }
}

/// Of all sets seen, the one that costs least, without noise. There are four; each swap has five or ten outcomes.
fn best_by_cost(_: &[f64], law: Law<'_>, draws: &mut dyn Source) -> i64 {
    match law {
        Law::Choice { scores, .. } if scores.len() == 4 => {
            let best = (0..scores.len()).max_by_key(|&i| scores[i]).expect("four");
            i64::try_from(best).expect("below four")
        }
        other => draws.draw(other),
    }
}

/// The farthest records with the noise for a record that comes or goes, as if none were pushed out.
fn one_change(variances: &[f64], law: Law<'_>, draws: &mut dyn Source) -> i64 {
    let Law::Noisy { value, noise: Noise::Rounded(noise) } = law else { return draws.draw(law) };
    let is_sum = |v: f64| v > 1e6 * variances[0];
    let first_sum = variances.iter().copied().find(|v| is_sum(*v)).unwrap_or(f64::INFINITY);
    let by = match variance(noise) {
        _ if counts_again(variances) => 2,
        v if is_sum(v) && v > 3.0 * first_sum => 4,
        _ => 1,
    };
    draws.draw(Law::Noisy { value, noise: narrower(noise, by) })
}
