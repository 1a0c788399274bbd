//! What a plan may be expected to lose: public numbers only.

use dp_accounting::Mu;

use super::params::{
    Asked, CLEAR_SIGNAL, HOPELESS_SIGNAL, MOST_FOR_SEARCH, STRONG_SIGNAL, Start, WEAK_SIGNAL,
};
use crate::private_box::BoxSearch;

/// Squared error of a centre, in squared radii of its cluster, from which on a start finds clusters by chance only.
const HOPELESS: f64 = 0.3;

/// Records times `mu` below which noise hides how far records are from their centres, so that radii are less than the best,
const FAINT: f64 = 330.0;
/// so many records times `mu` as the share that this adds to the excess: measured;
const FAINT_EXCESS: f64 = 200.0;
/// and below which they are anything.
const NO_RADIUS: f64 = 40.0;
/// Of several clusters, rounds at such radii lose some, unless the signal is above this.
const FAINT_SIGNAL: f64 = 40.0;

impl Asked {
    /// The forecast at a whole budget, or at one just below a change of choices if that is less.
    pub(super) fn forecast(&self, whole: Mu) -> Option<f64> {
        let own = self.of_choices(whole)?;
        let before = self.changes()?.into_iter().filter(|mu| *mu < whole.get());
        let before = before.filter_map(|mu| self.of_choices(Mu::new(mu).ok()?));
        Some(before.fold(own, |least, one| if one < least { one } else { least }))
    }

    pub(super) fn is_hopeless(&self, whole: Mu) -> bool {
        let hidden = self.noise(whole).is_some_and(|noise| noise.is_nan() || noise > HOPELESS);
        let lost = self.signal(whole).is_some_and(|signal| signal < HOPELESS_SIGNAL);
        hidden || lost && self.of_choices(whole).is_some_and(f64::is_infinite)
    }

    /// The budgets just below those from which on other choices are made. Between them, a larger budget has a smaller forecast.
    fn changes(&self) -> Option<Vec<f64>> {
        let one = Mu::new(1.0).ok()?;
        let per_mu = self.signal(one)?;
        let signals = [HOPELESS_SIGNAL, WEAK_SIGNAL, CLEAR_SIGNAL, STRONG_SIGNAL];
        let search = self.search_to_be_sure(one).map(|sure| (sure / MOST_FOR_SEARCH).sqrt());
        let all = signals.into_iter().map(|signal| signal / per_mu).chain(search);
        Some(all.map(|mu| mu * (1.0 - 1e-9)).filter(|mu| mu.is_finite()).collect())
    }

    fn search_to_be_sure(&self, whole: Mu) -> Option<f64> {
        let records = self.settings.expected_records? as f64;
        Some(BoxSearch::share_to_be_sure(records, whole))
    }

    /// Squared error of a centre, in squared radii of its cluster, by the sums of one round that gets all that re-centring has.
    fn noise(&self, whole: Mu) -> Option<f64> {
        let (dim, choices) = (self.public_box.dim() as f64, self.usual_choices(whole));
        let each = self.settings.expected_records? as f64 / self.k as f64;
        let sums = (1.0 - choices.share - choices.search) * (1.0 - choices.radii);
        let rho = 0.5 * whole.get().powi(2) * sums;
        Some(1.09 * dim / (2.0 * rho * each * each))
    }

    /// What the choices at a budget are expected to lose.
    fn of_choices(&self, whole: Mu) -> Option<f64> {
        let (dim, choices) = (self.public_box.dim() as f64, self.usual_choices(whole));
        let (noise, signal) = (self.noise(whole)?, self.signal(whole)?);
        if noise.is_nan() || noise > HOPELESS {
            return Some(f64::INFINITY);
        }
        let unsettled = match choices.start {
            Start::Even => return Some(f64::INFINITY),
            Start::Rings if signal < WEAK_SIGNAL => return Some(f64::INFINITY),
            Start::Rings => 1.0 + (WEAK_SIGNAL / signal).powi(3),
            // In a box that is too wide a map loses all, and the search for a better one needs to be sure of it.
            Start::Map if self.search_to_be_sure(whole)? > choices.search => {
                return Some(f64::INFINITY);
            }
            Start::Map => 1.0,
        };
        let records = self.settings.expected_records? as f64 * whole.get();
        let faint = if records < FAINT { 1.0 + FAINT_EXCESS / records } else { 1.0 };
        if records < NO_RADIUS || records < FAINT && self.k > 1 && signal < FAINT_SIGNAL {
            return Some(f64::INFINITY);
        }
        // The squared radius of 4/5 of a normal cluster over its mean square: Wilson and Hilferty (1931).
        let spread = 2.0 / (9.0 * dim);
        let radius = (1.0 - spread + 0.841_6 * spread.sqrt()).powi(3);
        let rounds = choices.rounds[1] as f64;
        Some(noise * radius * rounds / (rounds - 1.0) * unsettled * faint)
    }
}
