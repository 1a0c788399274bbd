//! What a plan may be expected to lose: public numbers only.

use dp_accounting::Mu;

use super::params::{
    Asked, CLEAR_SIGNAL, HIDING_SIGNAL, HOPELESS_SIGNAL, MOST_FOR_SEARCH, SEEN_BY_SEARCH,
    STRONG_SIGNAL, Start, WEAK_SIGNAL,
};
use crate::private_box::BoxSearch;

/// Squared error of a centre, in squared radii of its cluster, from which on a start finds clusters by chance only.
const HOPELESS: f64 = 0.3;
/// With fewer records in a typical cluster, in deviations of what the whole budget would put on a count, rings miss one in more than one of thirty
/// releases or so,
const SEEN_BY_RINGS: f64 = 35.0;
/// and so does a map: measured, as all that follows.
const SEEN_ON_A_MAP: f64 = 26.0;
/// Of rounds after rings the first works at a larger radius. After a map two rounds leave so many times what they would if both worked at the last one.
const AFTER_A_MAP: f64 = 1.2;
/// What rounds leave of how far a start is off falls with this power of the signal: at the hopeless one, as much as noise does.
const UNSETTLED: i32 = 3;

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
        let records = self.settings.expected_records? as f64;
        let search = (BoxSearch::share_to_be_sure(records, one) / MOST_FOR_SEARCH).sqrt();
        let all = signals.into_iter().map(|signal| signal / per_mu);
        let all = all.chain([search, SEEN_BY_SEARCH / records]);
        Some(all.map(|mu| mu * (1.0 - 1e-9)).filter(|mu| mu.is_finite()).collect())
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
        let rounds = choices.rounds[1] as f64;
        let (seen, unsettled) = match choices.start {
            Start::Even => return Some(f64::INFINITY),
            Start::Rings => {
                let off = (HOPELESS_SIGNAL / signal).powi(UNSETTLED);
                (SEEN_BY_RINGS, (1.0 + off) * rounds / (rounds - 1.0))
            }
            Start::Map => (SEEN_ON_A_MAP, AFTER_A_MAP),
        };
        if signal < HIDING_SIGNAL || signal * dim.sqrt() < seen {
            return Some(f64::INFINITY);
        }
        // The squared radius of 4/5 of a normal cluster over its mean square: Wilson and Hilferty (1931).
        let spread = 2.0 / (9.0 * dim);
        let radius = (1.0 - spread + 0.841_6 * spread.sqrt()).powi(3);
        Some(noise * radius * unsettled)
    }
}
