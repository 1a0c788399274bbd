//! A monitor that draws for every item in every step.

use dp_accounting::{AddRemove, Budget, Receipt};
use dp_mechanism::{Algorithm, Draws, Noise, Private, Touched};

use super::CellMethod;
use super::noise::{CellNoise, ThresholdNoise, calibrated};
use crate::advice::utility::Tail;
use crate::plan::params::check_count;
use crate::session::decisions::items_of;
use crate::users::{Admission, Coins, CountingSizes, KnownItems, Participants};
use crate::{Event, ItemOrder, Report, StreamError, StreamShape, Threshold};

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
        let setting = |name, got, want| Err(StreamError::OutOfRange { name, got, want });
        shape.universe.check()?;
        if shape.universe.size() > Self::MAX_CELLS {
            let got = shape.universe.size().cast_signed();
            return setting("size of the universe", got, "at most 2^20 for this method");
        }
        if !(1..=crate::MonitorPlan::MAX_STEPS).contains(&shape.steps) {
            return setting("steps", shape.steps.into(), "between 1 and 2^40");
        }
        if shape.users == 0 {
            return setting("users", 0, "at least 1");
        }
        let (k, delta) = (reports_per_user, budget.delta().get());
        if !(1..=254).contains(&k) {
            return setting("reports_per_user", k.into(), "between 1 and 254");
        }
        let pure = matches!(method, CellMethod::SparseVector { .. });
        if !pure && delta <= 0.0 {
            return Err(StreamError::real("delta", delta, "above 0 for this method"));
        }
        let (noise, spent) = calibrated(&shape, budget, method, k)?;
        let threshold = match threshold {
            Threshold::Count { count } => count,
            Threshold::Rule { beta } if beta > 0.0 && beta < 1.0 => {
                let cells = shape.universe.size() as f64 * shape.steps as f64;
                let tail = Tail::of(method, budget, k, shape.steps)?;
                tail.quantile(beta / cells)
            }
            Threshold::Rule { beta } => {
                return Err(StreamError::real("beta", beta, "above 0 and below 1"));
            }
        };
        check_count("threshold", threshold)?;
        let receipt = Receipt::new(method.id(), AddRemove, budget, spent);
        if !receipt.within_budget() {
            let want = "in a range where rounding costs less than it";
            return Err(StreamError::real("epsilon", budget.epsilon().get(), want));
        }
        Ok(Self { shape, method, reports_per_user, threshold, noise, receipt })
    }

    /// From which noisy count on items are reported.
    pub fn threshold(&self) -> i64 {
        self.threshold
    }

    /// The pure loss of one Laplace test; `None` for Gaussian noise.
    pub fn loss_per_test(&self) -> Option<f64> {
        match self.noise {
            CellNoise::Test { test, .. } => match test.noise() {
                Noise::Laplace(noise) => {
                    let scale = noise.scale();
                    Some(scale.denominator().get() as f64 / scale.numerator() as f64)
                }
                Noise::Gaussian(_) | Noise::Rounded(_) => None,
            },
            CellNoise::Count(_) => None,
        }
    }

    fn admission(&self) -> Admission {
        Admission {
            limit: matches!(self.method, CellMethod::KaplanStyle { .. })
                .then_some(self.reports_per_user),
            items_per_step: self.reports_per_user,
            last_item: self.shape.universe.last(),
            sizes: CountingSizes::default(),
        }
    }

    /// What is reported of a cell, if anything: a noisy count only where that is free, elsewhere the
    /// public threshold, since a noisy one must not come out.
    fn cell(
        &self,
        count: Private<u64>,
        threshold: Private<i64>,
        draws: &mut Draws<'_>,
    ) -> Option<i64> {
        match self.noise {
            CellNoise::Count(noise) => {
                let noisy = noise.release(count, draws);
                (noisy >= self.threshold).then_some(noisy)
            }
            CellNoise::Test { test, of_threshold } => {
                let threshold = match of_threshold {
                    ThresholdNoise::TwicePerTest(wider) => {
                        let once = draws.around(self.threshold, wider);
                        Private::new(draws.around(once, wider))
                    }
                    ThresholdNoise::None | ThresholdNoise::Once(_) => threshold,
                };
                test.reaches(count, threshold, draws).then_some(self.threshold)
            }
        }
    }

    /// The threshold of the whole stream; a noise that it has once stays inside.
    fn first_threshold(&self, draws: &mut Draws<'_>) -> Private<i64> {
        match self.noise {
            CellNoise::Test { of_threshold: ThresholdNoise::Once(noise), .. } => {
                noise.secret(self.threshold, draws)
            }
            _ => Private::new(self.threshold),
        }
    }
}

/// The counts of all cells, in order.
fn dense(cells: usize, touched: Touched<'_>) -> Vec<u64> {
    let mut counts = vec![0; cells];
    for (&item, &count) in touched.cells.iter().zip(touched.counts) {
        counts[usize::try_from(item).expect("below 2^20")] = count.into();
    }
    counts
}

impl Algorithm for CellMonitor {
    type Relation = AddRemove;
    /// The events of each step.
    type Data<'a> = &'a [Vec<Event>];
    /// With a noisy count only where that is free; elsewhere the threshold that was passed.
    type Shape = u64;
    type Output = Vec<Report>;
    type Error = StreamError;

    fn cost(&self) -> Receipt<AddRemove> {
        self.receipt.clone()
    }

    fn shape(data: &&[Vec<Event>]) -> u64 {
        data.len() as u64
    }

    /// # Errors
    /// [`StreamError::Steps`] if there is not one entry per step.
    fn check(&self, got: &u64) -> Result<(), StreamError> {
        let (expected, got) = (self.shape.steps, *got);
        if got == expected { Ok(()) } else { Err(StreamError::Steps { expected, got }) }
    }

    fn run(&self, data: Private<&[Vec<Event>]>, draws: &mut Draws<'_>) -> Vec<Report> {
        let (admission, all) = (self.admission(), self.shape.users as usize);
        let coins = Coins { sample: None, order: ItemOrder::ReportedFirst };
        let users = coins.toss(all.into(), draws);
        let mut users = users.map(|users| Participants::new(admission, 0, users));
        let threshold = self.first_threshold(draws);
        let mut left = match self.method {
            CellMethod::SparseVector { reports } => reports.into(),
            _ => u64::MAX,
        };
        let cells = usize::try_from(self.shape.universe.size()).expect("at most 2^20");
        let (mut reports, mut known) = (Vec::new(), KnownItems::none());
        for (place, time) in (0..self.shape.steps).enumerate() {
            let events = data.map(|steps| steps.get(place).map_or(&[][..], Vec::as_slice));
            let order = known.precedence(time, ItemOrder::ReportedFirst);
            let _ = users.as_mut().zip(events).map(|(users, events)| users.add(events, order));
            let counts = users.as_mut().map(|users| dense(cells, users.counts(order))).cells(cells);
            let mut found = Vec::new();
            for (item, cell) in (0..).zip(0..cells) {
                if left == 0 {
                    break;
                }
                let count = counts.at(cell).map(|count| *count);
                if let Some(noisy_count) = self.cell(count, threshold, draws) {
                    found.push(Report { time, item, noisy_count });
                    left -= 1;
                }
            }
            let items = items_of(&found, time);
            users.update(|users| users.settle(&items));
            known.note(&found);
            reports.append(&mut found);
        }
        reports
    }
}
