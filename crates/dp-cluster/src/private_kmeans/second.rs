//! A second start after a map, where tight clusters may be more than a map shows, and a paid choice between both.
//!
//! k-means on a map pays for noise all over it, and sees nothing finer than its vertices. Centres of what stands out of that noise alone, moved by
//! ring rounds, find tight clusters, and lose what is spread thinly. Which of both the data need no public fact says, and a map likes the centres
//! that its own noise led to; so a [comparison](crate::comparison) is drawn.

use dp_accounting::{Mu, Step};
use dp_geometry::{Points, PublicBox};
use dp_mechanism::Draws;
use dp_mechanism::passes::{Counted, Next, StateError, TableError};
use serde::{Deserialize, Serialize};

use super::params::{Asked, Choices};
use crate::ClusterError;
use crate::comparison::{Comparison, Savings};
use crate::passes::{LARGEST, Question, are_in, asks};
use crate::rings::{RingPlan, RingState};

/// What ring rounds get of the start.
const RINGS: f64 = 0.15;
/// And the comparison.
const COMPARISON: f64 = 0.08;

/// Calibrated steps.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SecondStart {
    rings: RingPlan,
    comparison: Comparison,
}

/// Centres of a start and about how many records are at each: released values.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Centres {
    pub(super) points: Points,
    pub(super) counts: Vec<i64>,
}

/// Where it stands between two questions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum AtSecond {
    Rings { first: Centres, state: RingState },
    Comparison { first: Centres, second: Centres },
}

impl SecondStart {
    /// What is left of the budget of a start for the map, and this with the rest.
    pub(super) fn new(
        asked: &Asked,
        choices: &Choices,
        mu: Mu,
    ) -> Result<(Mu, Self), ClusterError> {
        let parts = mu.split(&[1.0 - RINGS - COMPARISON, RINGS, COMPARISON])?;
        let settings = choices.ring_rounds(asked.settings.public_seed);
        let rings =
            RingPlan::around_centres(asked.public_box.clone(), asked.k, settings, parts[1])?;
        Ok((parts[0], Self { rings, comparison: Comparison::new(parts[2])? }))
    }

    pub(super) fn spent(&self) -> Vec<Step> {
        vec![self.rings.spent(), self.comparison.spent()]
    }

    /// What is asked first, in this box, of the start of the map and of one that begins at what stands out of its noise.
    pub(super) fn first(
        &self,
        last_box: &PublicBox,
        first: Centres,
        standing_out: Option<Centres>,
    ) -> (AtSecond, Question) {
        let Centres { points, counts } = standing_out.unwrap_or_else(|| first.clone());
        let rings = self.rings.finer_in(last_box.clone());
        let (state, question) = rings.first_at(points, &counts);
        (AtSecond::Rings { first, state }, question)
    }

    /// That a run can have got here, and asks this.
    pub(super) fn fits(
        &self,
        last_box: &PublicBox,
        at: &AtSecond,
        question: &Question,
    ) -> Result<(), TableError> {
        let most = self.rings.k();
        match at {
            AtSecond::Rings { first, state } => {
                first.fits(last_box, most)?;
                self.rings.finer_in(last_box.clone()).fits(state, question)
            }
            AtSecond::Comparison { first, second } => {
                first.fits(last_box, most)?;
                second.fits(self.rings.public_box(), most)?;
                asks(question, &comparing(self.box_of(last_box, second), first, second))
            }
        }
    }

    /// The box in which these centres are: this one, unless rings have found some beyond it.
    fn box_of<'a>(&'a self, last_box: &'a PublicBox, centres: &Centres) -> &'a PublicBox {
        let are_inside = centres.points.view().rows().all(|centre| last_box.contains(centre));
        if are_inside { last_box } else { self.rings.public_box() }
    }

    /// In the end the start that costs less, as far as the comparison says, and the box in which its centres are.
    pub(super) fn answer(
        &self,
        last_box: &PublicBox,
        at: AtSecond,
        counted: &Counted,
        draws: &mut Draws<'_>,
    ) -> Next<AtSecond, Question, (PublicBox, Centres)> {
        match at {
            AtSecond::Rings { first, state } => {
                match self.rings.finer_in(last_box.clone()).answer(state, counted, draws) {
                    Next::Ask(state, question) => {
                        Next::Ask(AtSecond::Rings { first, state }, question)
                    }
                    Next::Done(found) => {
                        let (points, counts) = (found.clustering.centres, found.clustering.counts);
                        let second = Centres { points, counts };
                        let all = self.box_of(last_box, &second);
                        let question = comparing(all, &first, &second);
                        Next::Ask(AtSecond::Comparison { first, second }, question)
                    }
                }
            }
            AtSecond::Comparison { first, second } => {
                let is_better = self.comparison.prefers_second(counted, draws);
                let better = if is_better { second } else { first };
                Next::Done((self.box_of(last_box, &better).clone(), better))
            }
        }
    }
}

fn comparing(public_box: &PublicBox, first: &Centres, second: &Centres) -> Question {
    let coords = |centres: &Centres| centres.points.view().coords().to_vec();
    Question::savings(Savings::new(public_box, [coords(first), coords(second)]))
}

impl Centres {
    fn fits(&self, public_box: &PublicBox, most: usize) -> Result<(), TableError> {
        let within = StateError::unless_within;
        within("number of centres", self.points.len() as f64, [1.0, most as f64])?;
        StateError::unless_equal("dimension of the centres", self.points.dim(), public_box.dim())?;
        StateError::unless_equal("number of counts", self.counts.len(), self.points.len())?;
        are_in(self.points.view().coords(), public_box)?;
        let counts = self.counts.iter().map(|&count| count as f64);
        StateError::unless_all_within("count of a centre", counts, [0.0, LARGEST])
    }
}

#[cfg(test)]
mod tests {
    use dp_accounting::Budget;

    use super::*;
    use crate::private_kmeans::PrivateKMeansSettings;
    use crate::total_rho::total_mu;

    /// Rings may find a group beyond the box found, and a state with its centre is that of a run.
    #[test]
    fn centres_beyond_the_box_found_are_in_the_public_one() {
        let [public_box, found] =
            [100.0, 10.0].map(|half| PublicBox::cube(2, -half, half).expect("valid"));
        let budget = Budget::new(1.0, 1e-6).expect("valid");
        let settings = PrivateKMeansSettings::default();
        let asked = Asked { public_box: public_box.clone(), k: 3, budget, settings };
        let mu = total_mu(budget).expect("valid");
        let choices = asked.choices(mu, Some(100_000), None);
        let (_, plan) = SecondStart::new(&asked, &choices, mu).expect("valid");
        let centres = |x: f64| Centres {
            points: Points::new(vec![x, 0.0], 2).expect("one row"),
            counts: vec![5],
        };
        for (second, of_both) in [(9.0, &found), (90.0, &public_box)] {
            let (first, second) = (centres(0.0), centres(second));
            assert_eq!(plan.box_of(&found, &second), of_both);
            let question = comparing(of_both, &first, &second);
            let at = AtSecond::Comparison { first, second };
            plan.fits(&found, &at, &question).expect("a state of a run");
        }
        let (first, second) = (centres(0.0), centres(900.0));
        let question = comparing(&public_box, &first, &second);
        let at = AtSecond::Comparison { first, second };
        assert!(plan.fits(&found, &at, &question).is_err());
    }
}
