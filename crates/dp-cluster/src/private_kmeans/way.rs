//! A way that a plan may go, made for so many records: a search for a box, a start, and rounds that move its centres.

use dp_accounting::{AddRemove, Mu, Step};
use dp_geometry::PublicBox;
use dp_mechanism::passes::{ByPasses as _, Counted, Next, StateError, TableError};
use dp_mechanism::{Algorithm as _, Draws};
use serde::{Deserialize, Serialize};

use super::background::with_others;
use super::even::Even;
use super::number;
use super::on_map::OnMap;
use super::params::{Asked, Choices, Start};
use super::second::{AtSecond, Centres, SecondStart};
use super::together::Together;
use crate::in_pool;
use crate::map::{PrivateMap, PrivateMapSettings};
use crate::passes::{Question, asks, is_inside, is_there};
use crate::private_box::{BoxSearch, BoxState, FoundBox};
use crate::recentring::{self, Recentring, RoundState, Rounds};
use crate::rings::{self, RingPlan, RingState};
use crate::{ClusterError, Clustering};

/// Calibrated steps that spend all that the way has.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Way {
    /// Gone from so many counted records on.
    pub(super) least: u64,
    pub(super) choices: Choices,
    pub(super) start: StartPlan,
    pub(super) recentring: Recentring,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum StartPlan {
    Rings(BoxSearch, RingPlan),
    Map(Part, PrivateMap<AddRemove>, Option<Box<SecondStart>>),
    Even(Option<Together>, Even),
}

/// What finds the part of the box that a map is finer in.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    Search(BoxSearch),
    Together(Together),
}

/// No box found has a shorter diagonal: the shortest that a public one may have, over `2^49`.
const SHORTEST: f64 = 1e-100;

/// The part of the box that a map is finer in has sides of so many radii of the ball that most records are in: it is just around it.
const SIDES: f64 = 2.0;

/// The step of the receipt that pays for a map. Ring rounds bring their own.
const MAP: &str = "map as a start";

/// Where a release stands between two questions.
///
/// All but the first with a part of the box that nearly all records are in. The last rounds are in that part, unless there surely are records outside of it, or centres.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum At {
    Box(BoxState),
    Together(RingState),
    Rings(PublicBox, RingState),
    Map(PublicBox),
    Second(PublicBox, AtSecond),
    Rounds { public_box: PublicBox, longest: f64, state: RoundState },
}

pub(super) type Asks = Next<At, Question, Clustering>;

impl Way {
    /// For any number of records, of which about so many are expected.
    pub(super) fn new(
        asked: &Asked,
        mu: Mu,
        records: Option<u64>,
        start: Option<Start>,
    ) -> Result<Self, ClusterError> {
        let choices = asked.choices(mu, records, start);
        let public_seed = asked.settings.public_seed;
        let rest = 1.0 - choices.share - choices.search;
        let radii = rest * choices.radii;
        let shares = [choices.search, choices.share, radii, rest - radii];
        // A step that gets nothing is left out.
        let mut parts = mu
            .split(&shares.into_iter().filter(|share| *share > 0.0).collect::<Vec<_>>())?
            .into_iter();
        let mut part = || parts.next().expect("one for each share");
        let public_box = asked.public_box.clone();
        let together =
            |mu| Together::new(asked.public_box.clone(), records.unwrap_or(0), public_seed, mu);
        let start = match choices.start {
            Start::Rings => {
                let [search, mu] = [part(), part()];
                let settings = choices.ring_rounds(public_seed);
                let rings = RingPlan::new(public_box.clone(), asked.k, settings, mu)?;
                StartPlan::Rings(BoxSearch::new(&public_box, search, choices.surely)?, rings)
            }
            Start::Map => {
                let [search, mu] = [part(), part()];
                let (mu, second) = if choices.rounds[0] > 0 {
                    let (mu, second) = SecondStart::new(asked, &choices, mu)?;
                    (mu, Some(Box::new(second)))
                } else {
                    (mu, None)
                };
                let settings = PrivateMapSettings {
                    expected_records: records,
                    spend: Some(mu),
                    ..Default::default()
                };
                let map = PrivateMap::add_remove(public_box.clone(), asked.budget, settings)?;
                let part = if choices.together {
                    Part::Together(together(search)?)
                } else {
                    Part::Search(BoxSearch::new(&public_box, search, choices.surely)?)
                };
                StartPlan::Map(part, map, second)
            }
            Start::Even => {
                let together = choices.together.then(|| together(part())).transpose()?;
                let records = records.unwrap_or(0);
                StartPlan::Even(together, Even::new(&public_box, asked.k, records, public_seed)?)
            }
        };
        let rounds = Rounds::without_splits(choices.rounds[1]);
        let recentring = Recentring::new(public_box, rounds, Some(asked.k), [part(), part()])?;
        Ok(Self { least: 0, choices, start, recentring })
    }

    /// Whether it does the same as one for fewer records.
    pub(super) fn does_as(&self, other: &Self) -> bool {
        let levels = |way: &Self| match &way.start {
            StartPlan::Map(_, map, _) => map.levels().len(),
            StartPlan::Rings(..) | StartPlan::Even(..) => 0,
        };
        self.choices == other.choices && levels(self) == levels(other)
    }

    pub(super) fn spent(&self) -> Vec<Step> {
        let mut steps = match &self.start {
            StartPlan::Rings(search, rings) => vec![search.spent(), rings.spent()],
            StartPlan::Map(part, map, second) => {
                let part = match part {
                    Part::Search(search) => search.spent(),
                    Part::Together(together) => together.spent(),
                };
                let map = Step::sequential(MAP, vec![map.cost().spent().clone()]);
                let second = second.iter().flat_map(|second| second.spent());
                [part, map].into_iter().chain(second).collect()
            }
            StartPlan::Even(together, _) => together.iter().map(Together::spent).collect(),
        };
        steps.push(self.recentring.spent());
        steps
    }

    /// # Errors
    /// [`ClusterError::Dimension`] if the points do not have the dimension of the public box.
    pub(super) fn check(&self, dim: usize) -> Result<(), ClusterError> {
        self.recentring.check(dim)
    }

    /// Whether it begins with the search for a box.
    pub(super) fn searches(&self) -> bool {
        match self.start {
            StartPlan::Rings(..) | StartPlan::Map(Part::Search(_), ..) => true,
            StartPlan::Map(Part::Together(_), ..) | StartPlan::Even(..) => false,
        }
    }

    /// That a run can have got here, and asks this.
    pub(super) fn fits(
        &self,
        public_box: &PublicBox,
        at: &At,
        question: &Question,
    ) -> Result<(), TableError> {
        let box_of = |found: &PublicBox| is_inside(found, public_box).map(|()| found.clone());
        match (at, &self.start) {
            (At::Box(state), StartPlan::Rings(..) | StartPlan::Map(Part::Search(_), ..)) => {
                BoxSearch::fits(public_box, state, question)
            }
            (
                At::Together(state),
                StartPlan::Map(Part::Together(together), ..) | StartPlan::Even(Some(together), _),
            ) => together.fits(state, question),
            (At::Rings(found, state), StartPlan::Rings(_, rings)) => {
                rings.finer_in(box_of(found)?).fits(state, question)
            }
            (At::Second(found, at), StartPlan::Map(_, _, Some(second))) => {
                second.fits(&box_of(found)?, at, question)
            }
            (At::Map(found), StartPlan::Map(_, map, _)) => {
                asks(question, &map.finer_in(&box_of(found)?).first().1)
            }
            (At::Box(_) | At::Together(_) | At::Rings(..) | At::Map(_) | At::Second(..), _) => {
                is_there("the start of the plan", false)
            }
            (At::Rounds { public_box: found, longest, state }, start) => {
                let diagonal = found.diagonal();
                if let StartPlan::Even(together, _) = start {
                    let is_all = together.is_some() || longest.to_bits() == diagonal.to_bits();
                    is_there("the box of the plan", is_all && found == public_box)?;
                }
                StateError::unless_within("longest radius", *longest, [SHORTEST, diagonal])?;
                self.recentring.in_box(box_of(found)?, *longest).fits(state, question)
            }
        }
    }

    pub(super) fn first(&self, public_box: &PublicBox) -> (At, Question) {
        match &self.start {
            StartPlan::Rings(..) | StartPlan::Map(Part::Search(_), ..) => {
                let (state, question) = BoxSearch::first(public_box);
                (At::Box(state), question)
            }
            StartPlan::Map(Part::Together(together), ..) | StartPlan::Even(Some(together), _) => {
                let (state, question) = together.first();
                (At::Together(state), question)
            }
            StartPlan::Even(None, even) => {
                let start = even.start(public_box);
                self.rounds(public_box.clone(), public_box.diagonal(), start)
            }
        }
    }

    pub(super) fn answer(
        &self,
        asked: &Asked,
        at: At,
        counted: &Counted,
        draws: &mut Draws<'_>,
    ) -> Asks {
        let widest = self.choices.widest;
        match (at, &self.start) {
            (At::Box(state), StartPlan::Rings(search, rings)) => {
                match search.answer(state, widest, counted, draws) {
                    Next::Ask(state, question) => Next::Ask(At::Box(state), question),
                    Next::Done(FoundBox { public_box, .. }) => {
                        let rings = rings.finer_in(public_box.clone());
                        let (state, question) = rings.first(counted.rows, draws);
                        Next::Ask(At::Rings(public_box, state), question)
                    }
                }
            }
            (At::Box(state), StartPlan::Map(Part::Search(search), map, _)) => {
                match search.answer(state, widest, counted, draws) {
                    Next::Ask(state, question) => Next::Ask(At::Box(state), question),
                    Next::Done(FoundBox { public_box, .. }) => Self::map_in(public_box, map),
                }
            }
            (At::Together(state), StartPlan::Map(Part::Together(together), map, _)) => {
                match together.answer(state, counted, draws) {
                    Next::Ask(state, question) => Next::Ask(At::Together(state), question),
                    Next::Done(ball) => {
                        Self::map_in(ball.part_of(&asked.public_box, SIDES, 1.0 / widest), map)
                    }
                }
            }
            (At::Together(state), StartPlan::Even(Some(together), even)) => {
                match together.answer(state, counted, draws) {
                    Next::Ask(state, question) => Next::Ask(At::Together(state), question),
                    Next::Done(ball) => {
                        let part = Even::part_around(&ball, &asked.public_box);
                        let start = even.start(&part);
                        self.last(asked.public_box.clone(), part.diagonal(), start)
                    }
                }
            }
            (At::Rings(public_box, state), StartPlan::Rings(_, rings)) => {
                let count_noise = rings.count_standard_deviation();
                match rings.finer_in(public_box.clone()).answer(state, counted, draws) {
                    Next::Ask(state, question) => Next::Ask(At::Rings(public_box, state), question),
                    Next::Done(found) => {
                        let finds_k = asked.settings.finds_k;
                        let found = if finds_k {
                            number::clusters(found)
                        } else {
                            let (k, seed) = (asked.k, asked.settings.public_seed);
                            with_others(found, k, count_noise, (&asked.public_box, seed))
                        };
                        let rings::Found { clustering, of_cells, reach, noise, .. } = found;
                        let is_inside = |centre: &[f64]| public_box.contains(centre);
                        let are_inside = clustering.centres.view().rows().all(is_inside);
                        let last_box = if are_inside { &public_box } else { &asked.public_box };
                        let start = recentring::Start::at(clustering.centres, clustering.counts);
                        let (reach, noise) = (Some(reach), Some(noise));
                        let start = recentring::Start { reach, noise, of_cells, ..start };
                        self.last(last_box.clone(), public_box.diagonal(), start)
                    }
                }
            }
            (At::Map(public_box), StartPlan::Map(_, map, second)) => {
                let draws = &mut draws.within(MAP);
                let map = map.finer_in(&public_box);
                let levels = map.levels();
                let map = map.release_sums(&counted.entries, counted.rows, draws);
                self.after_map(asked, &OnMap::new(&map, levels), second.as_deref())
            }
            (At::Second(last_box, at), StartPlan::Map(_, _, Some(second))) => {
                match second.answer(&last_box, at, counted, draws) {
                    Next::Ask(at, question) => Next::Ask(At::Second(last_box, at), question),
                    Next::Done((of_centres, Centres { points, counts })) => {
                        let start = recentring::Start::at(points, counts);
                        self.last(of_centres, last_box.diagonal(), start)
                    }
                }
            }
            (At::Rounds { public_box, longest, state }, _) => {
                let rounds = self.recentring.in_box(public_box.clone(), longest);
                match rounds.answer(state, counted, draws) {
                    Next::Ask(state, question) => {
                        Next::Ask(At::Rounds { public_box, longest, state }, question)
                    }
                    Next::Done(centres) => Next::Done(centres.release()),
                }
            }
            _ => unreachable!("a state is bound to its plan"),
        }
    }

    /// Rounds at what a map says, or first the second start.
    fn after_map(&self, asked: &Asked, on_map: &OnMap<'_>, second: Option<&SecondStart>) -> Asks {
        let last_box = on_map.last_box(asked.settings.finds_k);
        let start = || on_map.start(asked.k, asked.settings);
        let Some(second) = second else {
            let longest = last_box.diagonal();
            return self.last(last_box, longest, in_pool(start));
        };
        let standing_out = || on_map.standing_out(asked.k, asked.settings);
        let (start, standing_out) = rayon::join(start, standing_out);
        let centres =
            |start: recentring::Start| Centres { points: start.centres, counts: start.counts };
        let (at, question) = second.first(&last_box, centres(start), standing_out.map(centres));
        Next::Ask(At::Second(last_box, at), question)
    }

    fn map_in(part: PublicBox, map: &PrivateMap<AddRemove>) -> Asks {
        let ((), question) = map.finer_in(&part).first();
        Next::Ask(At::Map(part), question)
    }

    /// What the last rounds ask first.
    fn rounds(
        &self,
        public_box: PublicBox,
        longest: f64,
        start: recentring::Start,
    ) -> (At, Question) {
        let (state, question) = self.recentring.in_box(public_box.clone(), longest).first(start);
        (At::Rounds { public_box, longest, state }, question)
    }

    fn last(&self, public_box: PublicBox, longest: f64, start: recentring::Start) -> Asks {
        let (at, question) = self.rounds(public_box, longest, start);
        Next::Ask(at, question)
    }
}
