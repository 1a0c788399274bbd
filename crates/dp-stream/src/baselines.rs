//! Methods that go through the universe item by item, for comparison.
//!
//! Their noise has no tail that could be jumped over exactly, so every item of every step takes a
//! draw: the universe is limited to [`CellMonitor::MAX_CELLS`] items. Admission and charges of users
//! are those of the [`Monitor`](crate::Monitor).

use dp_accounting::{
    AddRemove, Budget, Epsilon, Loss, Receipt, Rho, Step, budget_to_zcdp, target_charging_delta,
    target_charging_loss,
};
use dp_mechanism::{DiscreteLaplace, Draws, Mechanism, MechanismError, Noise, NoisyCount, Ratio};
use serde::{Deserialize, Serialize};

use crate::decisions::items_of;
use crate::params::check_count;
use crate::participants::{Admission, Participants};
use crate::utility::Tail;
use crate::{Event, Report, StreamError, StreamShape, Threshold};

/// What noise goes through the cells.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum CellMethod {
    /// In the style of Kaplan, Mansour and Stemmer (2021): the count has Laplace noise of loss `e` and
    /// a second, wider noise, and the threshold has a noise of its own.
    ///
    /// Certified like [`TargetCharging`](crate::TargetCharging) with `k` hits per user: the wider
    /// noises do not depend on the data, so they are part of a public threshold. This is not the
    /// algorithm of that paper with its constants, which were not at hand.
    KaplanStyle {
        /// How many times wider the other two noises are; 0 leaves them out.
        spread: u8,
    },
    /// A histogram with Gaussian noise in every step, composed as zCDP: variance `T m / (2 rho)`.
    GaussianHistograms,
    /// The sparse vector technique: one secret noisy threshold, and silence for the rest of the stream
    /// after this many reports in all. Pure. Counts of one user move in one direction, so
    /// `epsilon_1 + epsilon_2` pays for a threshold of loss `epsilon_1` and tests of `epsilon_2 / c`
    /// each (Lyu, Su, Li 2017, Theorem 5).
    SparseVector {
        /// `c`, at least 1.
        reports: u32,
    },
}

impl CellMethod {
    /// The stable id.
    pub fn id(self) -> &'static str {
        match self {
            Self::KaplanStyle { .. } => "kaplan-style",
            Self::GaussianHistograms => "gaussian-histograms",
            Self::SparseVector { .. } => "sparse-vector",
        }
    }
}

/// A plan that draws for every item of the universe in every step.
///
/// # Guarantee
/// That of the [`CellMethod`], under add/remove of a user with the whole history.
///
/// # Complexity
/// `O(T |Y|)` draws, and of [`GaussianHistograms`](CellMethod::GaussianHistograms) and
/// [`KaplanStyle`](CellMethod::KaplanStyle) always as many.
///
/// # Bad records
/// Dropped as in [`MonitorPlan`](crate::MonitorPlan).
#[derive(Clone, Debug, PartialEq)]
pub struct CellMonitor {
    shape: StreamShape,
    method: CellMethod,
    reports_per_user: u8,
    threshold: i64,
    noise: CellNoise,
    receipt: Receipt<AddRemove>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum CellNoise {
    Gaussian(NoisyCount),
    /// Of the count, and of the threshold.
    Laplace(Noise, Noise),
    /// Of the count alone.
    Plain(Noise),
}

impl CellMonitor {
    /// Larger universes are refused.
    pub const MAX_CELLS: u128 = 1 << 20;

    /// Checks every setting and calibrates the noise. Users are in at most `reports_per_user` reports
    /// and show at most as many items per step (the two histogram-like methods charge for items only).
    ///
    /// # Errors
    /// [`StreamError`] names the setting and the limit.
    pub fn new(
        shape: StreamShape,
        budget: Budget,
        method: CellMethod,
        reports_per_user: u8,
        threshold: Threshold,
    ) -> Result<Self, StreamError> {
        let setting = |name, got, want| Err(StreamError::Setting { name, got, want });
        shape.universe.check()?;
        if shape.universe.size() > Self::MAX_CELLS {
            let got = shape.universe.size() as f64;
            return setting("size of the universe", got, "at most 2^20 for this method");
        }
        if !(1..=crate::MonitorPlan::MAX_STEPS).contains(&shape.steps) {
            return setting("steps", shape.steps as f64, "between 1 and 2^40");
        }
        if shape.users == 0 {
            return setting("users", 0.0, "at least 1");
        }
        let (k, delta) = (reports_per_user, budget.delta().get());
        if !(1..=254).contains(&k) {
            return setting("reports_per_user", k.into(), "between 1 and 254");
        }
        let pure = matches!(method, CellMethod::SparseVector { .. });
        if !pure && delta <= 0.0 {
            return setting("delta", delta, "above 0 for this method");
        }
        let (noise, spent) = calibrated(&shape, budget, method, k)?;
        let threshold = match threshold {
            Threshold::Count { count } => count,
            Threshold::Rule { beta } if beta > 0.0 && beta < 1.0 => {
                let cells = shape.universe.size() as f64 * shape.steps as f64;
                let tail = Tail::of(method, budget, k, shape.steps)?;
                tail.quantile(beta / cells)
            }
            Threshold::Rule { beta } => return setting("beta", beta, "above 0 and below 1"),
        };
        check_count("threshold", threshold)?;
        let receipt = Receipt::new(method.id(), AddRemove, budget, spent);
        Ok(Self { shape, method, reports_per_user, threshold, noise, receipt })
    }

    /// From which noisy count on items are reported.
    pub fn threshold(&self) -> i64 {
        self.threshold
    }

    /// The pure loss of one Laplace test; `None` for Gaussian noise.
    pub fn loss_per_test(&self) -> Option<f64> {
        match self.noise {
            CellNoise::Laplace(Noise::Laplace(noise), _)
            | CellNoise::Plain(Noise::Laplace(noise)) => {
                let scale = noise.scale();
                Some(scale.denominator().get() as f64 / scale.numerator() as f64)
            }
            _ => None,
        }
    }

    fn admission(&self) -> Admission {
        Admission {
            limit: matches!(self.method, CellMethod::KaplanStyle { .. })
                .then_some(self.reports_per_user),
            items_per_step: self.reports_per_user,
            last_item: self.shape.universe.last(),
        }
    }

    /// The noisy count of a cell, if it is reported.
    fn cell(&self, count: u32, threshold: i64, draws: &mut dyn Draws) -> Option<i64> {
        let value = i64::from(count);
        match self.noise {
            CellNoise::Gaussian(noise) => {
                let noisy = noise.release(count.into(), draws);
                (noisy >= threshold).then_some(noisy)
            }
            CellNoise::Laplace(noise, wider) => {
                let once = draws.noisy(threshold, wider);
                let threshold = draws.noisy(once, wider);
                draws.exceeds(value, threshold.saturating_sub(1), noise).then_some(threshold)
            }
            CellNoise::Plain(noise) => {
                draws.exceeds(value, threshold.saturating_sub(1), noise).then_some(threshold)
            }
        }
    }
}

impl Mechanism for CellMonitor {
    type Relation = AddRemove;
    /// The events of each step.
    type Data<'a> = &'a [Vec<Event>];
    /// With a noisy count only where that is free; elsewhere the threshold that was passed.
    type Output = Vec<Report>;
    type Error = StreamError;

    fn receipt(&self) -> Receipt<AddRemove> {
        self.receipt.clone()
    }

    /// # Errors
    /// [`StreamError::Steps`] if there is not one entry per step.
    fn check(&self, data: &&[Vec<Event>]) -> Result<(), StreamError> {
        let (expected, got) = (self.shape.steps, data.len() as u64);
        if got == expected { Ok(()) } else { Err(StreamError::Steps { expected, got }) }
    }

    fn run(&self, data: &[Vec<Event>], draws: &mut dyn Draws) -> Vec<Report> {
        let mut users = Participants::sampled(self.admission(), 0, self.shape.users, None, draws);
        // Of the sparse vector, the threshold's noise is drawn once and stays inside.
        let (mut left, threshold) = match (self.method, self.noise) {
            (CellMethod::SparseVector { reports }, CellNoise::Laplace(_, wider)) => {
                (u64::from(reports), draws.noisy(self.threshold, wider))
            }
            _ => (u64::MAX, self.threshold),
        };
        let inner = match (self.method, self.noise) {
            (CellMethod::SparseVector { .. }, CellNoise::Laplace(noise, _)) => {
                Self { noise: CellNoise::Plain(noise), ..self.clone() }
            }
            _ => self.clone(),
        };
        let cells = usize::try_from(self.shape.universe.size()).expect("at most 2^20");
        let mut reports = Vec::new();
        for (time, events) in (0..).zip(data) {
            users.add(events);
            let mut counts = vec![0; cells];
            let touched = users.counts();
            for (&item, &count) in touched.cells.iter().zip(touched.counts) {
                counts[usize::try_from(item).expect("below 2^20")] = count;
            }
            let mut found = Vec::new();
            for (item, &count) in (0..).zip(&counts) {
                if left == 0 {
                    break;
                }
                if let Some(noisy_count) = inner.cell(count, threshold, draws) {
                    // The noisy threshold of the sparse vector must not come out.
                    let noisy_count = match self.method {
                        CellMethod::GaussianHistograms => noisy_count,
                        _ => self.threshold,
                    };
                    found.push(Report { time, item, noisy_count });
                    left -= 1;
                }
            }
            users.settle(&items_of(&found, time));
            reports.append(&mut found);
        }
        reports
    }
}

/// The noise, and what it costs.
fn calibrated(
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
            let spent = Step::spend(
                "threshold tests, charged by their hits",
                Loss::Approximate { epsilon, delta },
            );
            let noise = match spread {
                0 => CellNoise::Plain(noise),
                _ => CellNoise::Laplace(noise, laplace(scales.1)?.0),
            };
            (noise, spent)
        }
        CellMethod::GaussianHistograms => {
            let cells = shape.steps as f64 * f64::from(k);
            let each = Rho::new((0.5 / (scales.0 * scales.0)).next_down())?;
            let noise = NoisyCount::gaussian(each)?;
            let each = noise.loss().zcdp().map_or(0.0, Rho::get);
            let rho = Rho::new(each * cells * (1.0 + 1e-15))?;
            let spent = Step::spend("noisy histograms of all steps", Loss::Zcdp { rho });
            (CellNoise::Gaussian(noise), spent)
        }
        CellMethod::SparseVector { reports } => {
            let ((noise, each), (wider, threshold)) = (laplace(scales.0)?, laplace(scales.1)?);
            let tests = Epsilon::new(each.get() * f64::from(reports) * (1.0 + 1e-15))?;
            let spent = Step::sequential(
                "sparse vector",
                vec![
                    Step::spend("noisy threshold", Loss::Pure { epsilon: threshold }),
                    Step::spend("tests", Loss::Pure { epsilon: tests }),
                ],
            );
            (CellNoise::Laplace(noise, wider), spent)
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
            let rho = budget_to_zcdp(budget).map_or(0.0, Rho::get);
            ((steps as f64 * f64::from(k) / (2.0 * rho) * (1.0 + 1e-12)).sqrt(), 0.0)
        }
        CellMethod::SparseVector { reports } => {
            if reports == 0 {
                let (name, want) = ("reports of the sparse vector", "at least 1");
                return Err(StreamError::Setting { name, got: 0.0, want });
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
    let ratio = Ratio::new(parts, 1 << 32).ok_or(too_much)?;
    let noise = DiscreteLaplace::new(ratio).ok_or(too_much)?;
    // Rounded up by two units in the last place of the quotient.
    let each = (unit / parts as f64).next_up().next_up();
    Ok((Noise::Laplace(noise), Epsilon::new(each)?))
}

/// The items that a threshold without noise would report in each step: not private, for evaluation.
///
/// Counts distinct users. In the order of times and items.
pub fn exact_heavy_hitters(data: &[Vec<Event>], threshold: u32) -> Vec<Report> {
    let mut reports = Vec::new();
    for (time, events) in (0..).zip(data) {
        let mut shown: Vec<(u64, u32)> = events.iter().map(|e| (e.item, e.user)).collect();
        shown.sort_unstable();
        shown.dedup();
        for users in shown.chunk_by(|a, b| a.0 == b.0) {
            if users.len() >= threshold as usize {
                let noisy_count = i64::try_from(users.len()).unwrap_or(i64::MAX);
                reports.push(Report { time, item: users[0].0, noisy_count });
            }
        }
    }
    reports
}
