//! How much noise goes through the cells, and what it costs.

use dp_accounting::{
    Budget, Covered, Epsilon, Loss, Mu, Step, budget_to_mu, target_charging_delta,
    target_charging_loss,
};
use dp_mechanism::{CountTest, DiscreteLaplace, MechanismError, Noise, NoisyCount, Ratio};

use super::CellMethod;
use crate::{StreamError, StreamShape};

/// What is drawn for a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one of it")]
pub(super) enum CellNoise {
    /// A noisy count.
    Count(NoisyCount),
    /// Whether the count with noise reaches the threshold.
    Test { test: CountTest, of_threshold: ThresholdNoise },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ThresholdNoise {
    None,
    /// Fresh in every test, so it is part of a public threshold.
    TwicePerTest(Noise),
    /// Drawn at the beginning, and secret.
    Once(CountTest),
}

/// Leaves of receipts.
const TESTS: &str = "tests of cells";
const COUNTS: &str = "counts of cells";
const THRESHOLD: &str = "noisy threshold";

/// A loss that pays for any number of draws, because what they cost is counted per user.
fn unbounded(name: &'static str, draws: &'static str, loss: Loss) -> Step {
    Step::spend_on(name, loss, vec![Covered { name: draws.into(), draws: None }])
}

/// The noise, and what it costs.
pub(super) fn calibrated(
    shape: &StreamShape,
    budget: Budget,
    method: CellMethod,
    k: u8,
) -> Result<(CellNoise, Step), StreamError> {
    let scales = scales(budget, method, k, shape.steps)?;
    Ok(match method {
        CellMethod::KaplanStyle { spread } => {
            let (noise, each) = laplace(scales.0)?;
            let epsilon = budget.epsilon();
            let delta = target_charging_delta(each, k.into(), epsilon)?;
            let loss = Loss::Approximate { epsilon, delta };
            let spent = unbounded("threshold tests, charged by their hits", TESTS, loss);
            let of_threshold = match spread {
                0 => ThresholdNoise::None,
                _ => ThresholdNoise::TwicePerTest(laplace(scales.1)?.0),
            };
            (CellNoise::Test { test: CountTest::new(noise, TESTS, loss), of_threshold }, spent)
        }
        CellMethod::GaussianHistograms => {
            let cells = shape.steps as f64 * f64::from(k);
            let each = Mu::new(scales.0.recip().next_down())?;
            let noise = NoisyCount::rounded(each)?;
            // Squares add up.
            let mu = Mu::new(each.get() * cells.sqrt() * (1.0 + 1e-15))?;
            let loss = Loss::Gaussian { mu };
            let spent = unbounded("noisy histograms of all steps", COUNTS, loss);
            (CellNoise::Count(noise.among(COUNTS, loss)), spent)
        }
        CellMethod::SparseVector { reports } => {
            let ((noise, each), (wider, threshold)) = (laplace(scales.0)?, laplace(scales.1)?);
            let tests = Epsilon::new(each.get() * f64::from(reports) * (1.0 + 1e-15))?;
            let (first, tests) = (Loss::Pure { epsilon: threshold }, Loss::Pure { epsilon: tests });
            let spent = Step::sequential(
                "sparse vector",
                vec![Step::spend(THRESHOLD, first), unbounded("tests", TESTS, tests)],
            );
            let of_threshold = ThresholdNoise::Once(CountTest::new(wider, THRESHOLD, first));
            (CellNoise::Test { test: CountTest::new(noise, TESTS, tests), of_threshold }, spent)
        }
    })
}

/// The scale (or standard deviation) of the noise of a count, and of the wider or threshold noise.
pub(crate) fn scales(
    budget: Budget,
    method: CellMethod,
    k: u8,
    steps: u64,
) -> Result<(f64, f64), StreamError> {
    Ok(match method {
        CellMethod::KaplanStyle { spread } => {
            let each = target_charging_loss(budget.epsilon(), budget.delta(), k.into())?;
            (each.get().recip(), f64::from(spread) / each.get())
        }
        CellMethod::GaussianHistograms => {
            let mu = budget_to_mu(budget).map_or(0.0, Mu::get);
            if mu < 1e-150 {
                let want = "so large, with this delta, that Gaussian noise of some width is enough";
                return Err(StreamError::real("epsilon", budget.epsilon().get(), want));
            }
            ((steps as f64 * f64::from(k)).sqrt() / mu * (1.0 + 1e-12), 0.0)
        }
        CellMethod::SparseVector { reports } => {
            if reports == 0 {
                let (name, want) = ("reports of the sparse vector", "at least 1");
                return Err(StreamError::OutOfRange { name, got: 0, want });
            }
            // The split of Lyu, Su, Li (2017) for monotone counts.
            let c = f64::from(reports);
            let share = c.powf(2.0 / 3.0) / (1.0 + c.powf(2.0 / 3.0));
            let epsilon = budget.epsilon().get() * (1.0 - 1e-14);
            (c / (epsilon * share), ((1.0 - share) * epsilon).recip())
        }
    })
}

/// Discrete Laplace noise of at least this scale, to 32 binary places, and the loss per unit.
fn laplace(scale: f64) -> Result<(Noise, Epsilon), StreamError> {
    let name = "scale of Laplace noise";
    let too_much = MechanismError::TooMuchNoise { name, got: scale };
    if !(scale > 0.0 && scale < 2_f64.powi(31)) {
        return Err(too_much.into());
    }
    let unit = 2_f64.powi(32);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in (0, 2^63]")]
    let parts = (scale * unit).ceil() as u128;
    let ratio = Ratio::new(parts, 1 << 32).map_err(|_| too_much)?;
    let noise = DiscreteLaplace::new(ratio).map_err(|_| too_much)?;
    // Rounded up by two units in the last place of the quotient.
    let each = (unit / parts as f64).next_up().next_up();
    Ok((Noise::Laplace(noise), Epsilon::new(each)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By one rounding: a unit of count costs one over the scale, which the loss that is told is not below.
    #[test]
    fn the_loss_of_a_test_is_no_less_than_that_of_its_noise() {
        for scale in [1e-6, 0.1, 1.0 / 3.0, 1.0, 2.7, 1_000.0, 123_456.789] {
            let (noise, each) = laplace(scale).expect("in range");
            let Noise::Laplace(noise) = noise else { unreachable!("it is Laplace noise") };
            let (above, below) = (noise.scale().numerator(), noise.scale().denominator().get());
            let over = each.get().mul_add(above as f64, -(below as f64));
            assert!(over >= 0.0 && over <= 1e-15 * below as f64, "{scale}: {over:e}");
            assert!(above as f64 / below as f64 >= scale, "{scale}");
        }
    }
}
