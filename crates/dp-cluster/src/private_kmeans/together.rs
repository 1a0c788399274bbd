//! Where all records together are, if no cluster is seen: a part of the box, found by ring rounds of one centre.
//!
//! A [search for a box](crate::private_box) is of no use below sixty records or so, in deviations of a count's noise: it looks for the outermost place that surely has records. Where
//! nine tenths of them are is seen from a dozen on.

use dp_accounting::{Mu, Step};
use dp_geometry::PublicBox;
use dp_mechanism::Draws;
use dp_mechanism::passes::{Counted, Next, TableError};

use crate::ClusterError;
use crate::passes::Question;
use crate::rings::{Found, RingPlan, RingRoundsSettings, RingState};

/// Two find a box in a corner too seldom, and four find no more.
const ROUNDS: usize = 3;
/// What each gets over what the one before gets.
const GROWTH: f64 = 1.2;

/// Calibrated rounds, and about how many records there are.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Together {
    rings: RingPlan,
    records: i64,
}

/// The ball that most records are in, as far as is known.
pub(super) struct Ball {
    middle: Vec<f64>,
    reach: f64,
}

impl Together {
    pub(super) fn new(
        public_box: PublicBox,
        records: u64,
        public_seed: u64,
        mu: Mu,
    ) -> Result<Self, ClusterError> {
        let settings = RingRoundsSettings {
            rounds: ROUNDS,
            growth: GROWTH,
            public_seed,
            ..Default::default()
        };
        let rings = RingPlan::around_the_middle(public_box, 1, settings, mu)?;
        Ok(Self { rings, records: i64::try_from(records).unwrap_or(i64::MAX) })
    }

    pub(super) fn spent(&self) -> Step {
        self.rings.spent()
    }

    pub(super) fn first(&self) -> (RingState, Question) {
        self.rings.first_of(self.records)
    }

    /// That a run can have got here, and asks this.
    pub(super) fn fits(&self, state: &RingState, question: &Question) -> Result<(), TableError> {
        self.rings.fits(state, question)
    }

    pub(super) fn answer(
        &self,
        state: RingState,
        counted: &Counted,
        draws: &mut Draws<'_>,
    ) -> Next<RingState, Question, Ball> {
        match self.rings.answer(state, counted, draws) {
            Next::Ask(state, question) => Next::Ask(state, question),
            Next::Done(Found { clustering, reach, .. }) => {
                Next::Done(Ball { middle: clustering.centres.view().coords().to_vec(), reach })
            }
        }
    }
}

impl Ball {
    /// The part of the box in a cube around the ball, with sides of so many radii of it; or all of it, if that is no more than so many times as wide.
    pub(super) fn part_of(&self, public_box: &PublicBox, sides: f64, most: f64) -> PublicBox {
        let half = 0.5 * sides * self.reach;
        let dim = public_box.dim();
        let fits = (0..dim).all(|i| 2.0 * half * most > public_box.width(i));
        let side = |sign: f64| {
            let end = |i: usize| public_box.clip_coordinate(i, self.middle[i] + sign * half);
            (0..dim).map(end).collect()
        };
        let part = (!fits).then(|| PublicBox::new(side(-1.0), side(1.0)).ok()).flatten();
        part.unwrap_or_else(|| public_box.clone())
    }
}
