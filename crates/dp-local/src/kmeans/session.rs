//! What clients and the server of one survey have in common.

use dp_accounting::{Receipt, ReplaceOne};
use dp_geometry::nearest::squared_distance;
use dp_mechanism::{Algorithm, Draws, Private, SubsetResponse};

use super::message::{Ask, Question};
use super::plan::LocalKMeans;
use super::projection::{Anchors, Projection};
use crate::oracle::ANSWER;
use crate::{
    CellAnswer, CodebookVector, FrequencyOracle, LocalError, Oracle, Part, PublicCoins,
    SymbolCounts,
};

/// Weights of a residual, of presence and of a squared residual in the vector that a client sends: their squares add up to 1.
pub(super) const RESIDUAL: f64 = 0.9;
pub(super) const PRESENCE: f64 = 0.3;
pub(super) const SPREAD: f64 = 0.316;

/// A plan, and a number that decides who is asked what.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    plan: LocalKMeans,
    number: u64,
    coins: PublicCoins,
    start: Oracle,
    /// One per round of re-centring.
    vectors: Vec<CodebookVector>,
    /// None if cells are those of the box.
    projections: Vec<Projection>,
}

/// What coins are for.
#[derive(Clone, Copy, Debug)]
enum Purpose {
    Rounds,
    Classes,
    Start,
    Projection,
    Solver,
    Codebooks,
}

impl Session {
    pub(super) fn new(plan: LocalKMeans, number: u64) -> Self {
        let coins = PublicCoins::new(number).of(plan.hash());
        let start = plan.start(coins.of(Purpose::Start as u64)).expect("built once with the plan");
        let books = coins.of(Purpose::Codebooks as u64);
        let vectors =
            (1..=plan.rounds()).map(|round| plan.vectors(books.of(round.into()))).collect();
        let projections = if plan.is_projected() { plan.pictures().0 } else { 0 };
        let coins_of = coins.of(Purpose::Projection as u64);
        let projections = (0..projections)
            .map(|number| Projection::new(plan.public_box().clone(), coins_of.of(number.into())))
            .collect();
        Self { plan, number, coins, start, vectors, projections }
    }

    /// The plan.
    pub fn plan(&self) -> &LocalKMeans {
        &self.plan
    }

    /// The number of the session.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The round in which a client is asked, by public coins: the only one.
    pub fn round_of(&self, client: u32) -> u8 {
        let word = self.coins.of(Purpose::Rounds as u64).word(client.into()) >> 32;
        self.plan.round_at(u32::try_from(word).expect("32 bits"))
    }

    /// The class of a client in its round: a grid with a hash function, or a book of directions.
    pub fn class_of(&self, client: u32) -> u32 {
        let coins = self.coins.of(Purpose::Classes as u64);
        match self.vectors_of(self.round_of(client)) {
            None => coins.below(client.into(), self.plan.views() * self.start.classes()),
            Some(vectors) => coins.below(client.into(), vectors.books()),
        }
    }

    pub(super) fn solver_coins(&self) -> PublicCoins {
        self.coins.of(Purpose::Solver as u64)
    }

    pub(super) fn start(&self) -> &Oracle {
        &self.start
    }

    pub(super) fn projections(&self) -> &[Projection] {
        &self.projections
    }

    /// The codebook of a round, unless that is the first.
    pub(super) fn vectors_of(&self, round: u8) -> Option<&CodebookVector> {
        self.vectors.get(usize::from(round).checked_sub(1)?)
    }

    /// A table for the answers of a round.
    pub(super) fn no_answers(&self, round: u8) -> SymbolCounts {
        let first = || {
            let (classes, symbols) = (self.start.classes(), self.start.response().symbols());
            SymbolCounts::new(self.plan.views() * classes, symbols)
        };
        self.vectors_of(round).map_or_else(first, CodebookVector::no_answers)
    }

    /// What makes answers of a round private.
    fn response(&self, round: u8) -> &SubsetResponse {
        self.vectors_of(round).map_or_else(|| self.start.response(), CodebookVector::response)
    }

    /// The symbols that a client may send in a round.
    pub(super) fn symbols(&self, round: u8) -> u32 {
        self.response(round).symbols()
    }

    /// The cell of a record, in the grid of a class; the last one is that of clients without one.
    pub(super) fn cell(&self, class: u32, record: Option<&[f64]>) -> u32 {
        let none = self.start.cells() - 1;
        let Some(point) = record.map(|record| self.clipped(record)) else { return none };
        let (picture, grid) = self.plan.view(class / self.start.classes());
        let point = match self.projections.get(picture) {
            Some(projection) => projection.of(&point),
            None => point,
        };
        point
            .iter()
            .enumerate()
            .rev()
            .fold(0, |cell, (axis, &x)| cell * grid.cells() + grid.cell(axis, x))
    }

    /// The coordinates of the box, whatever a record holds: what is missing or not a number becomes the middle, what is too much is
    /// ignored.
    fn clipped(&self, record: &[f64]) -> Vec<f64> {
        let public_box = self.plan.public_box();
        let at =
            |j: usize| public_box.clip_coordinate(j, record.get(j).copied().unwrap_or(f64::NAN));
        (0..public_box.dim()).map(at).collect()
    }

    /// The vector of a record: residual, presence and squared residual in the slot of the nearest centre, nothing elsewhere.
    fn vector(&self, ask: &Recentring<'_>, record: Option<&[f64]>) -> (usize, Vec<f64>) {
        let Some(point) = record.map(|record| self.clipped(record)) else {
            return (0, Vec::new());
        };
        let dim = point.len();
        let seen = ask.anchors.and_then(|anchors| {
            let projection = self.projections.get(usize::from(anchors.projection))?;
            Some(nearest(&projection.of(&point), &anchors.places))
        });
        let slot = seen.unwrap_or_else(|| nearest(&point, ask.centres));
        let centre = &ask.centres[slot * dim..(slot + 1) * dim];
        let away: Vec<f64> = point.iter().zip(centre).map(|(x, c)| (x - c) / ask.radius).collect();
        let length = away.iter().map(|x| x * x).sum::<f64>().sqrt();
        let kept = if length > 1.0 { RESIDUAL / length } else { RESIDUAL };
        let mut values: Vec<f64> = away.into_iter().map(|x| x * kept).collect();
        values.extend([PRESENCE, SPREAD * length.min(1.0).powi(2)]);
        (slot * (dim + 2), values)
    }
}

/// What a round of re-centring asks about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recentring<'a> {
    pub(super) centres: &'a [f64],
    pub(super) radius: f64,
    pub(super) anchors: Option<&'a Anchors>,
}

/// The nearest of some centres, the first of equal ones.
pub(super) fn nearest(point: &[f64], centres: &[f64]) -> usize {
    let mut best = (0, f64::INFINITY);
    for (place, centre) in centres.chunks_exact(point.len()).enumerate() {
        let distance = squared_distance(point, centre);
        if distance < best.1 {
            best = (place, distance);
        }
    }
    best.0
}

/// What one client does in its round: the randomiser, as audits see it. A client itself is a [`Client`](super::Client), which answers once.
#[derive(Clone, Copy, Debug)]
pub struct RoundAnswer<'s> {
    session: &'s Session,
    question: &'s Question,
    class: u32,
}

impl<'s> RoundAnswer<'s> {
    /// The answer of a client.
    ///
    /// # Errors
    /// The question is of another plan or session, or the client is not asked in its round.
    pub fn new(
        session: &'s Session,
        question: &'s Question,
        client: u32,
    ) -> Result<Self, LocalError> {
        question.check(session)?;
        let own = session.round_of(client);
        if client >= session.plan.clients() {
            return Err(LocalError::Client { got: client, clients: session.plan.clients() });
        }
        if own != question.round() {
            return Err(LocalError::Round { got: question.round(), expected: own });
        }
        Ok(Self { session, question, class: session.class_of(client) })
    }

    /// What makes the answer private.
    pub fn response(&self) -> &SubsetResponse {
        self.session.response(self.question.round())
    }

    /// What is sent, drawn from what pays for it.
    pub(super) fn symbol(&self, record: Private<Option<&[f64]>>, draws: &mut Draws<'_>) -> u32 {
        let vectors = self.session.vectors_of(self.question.round());
        if let (Ask::Recentre { centres, radius, anchors }, Some(vectors)) =
            (self.question.ask(), vectors)
        {
            let ask = Recentring { centres, radius: *radius, anchors: anchors.as_ref() };
            let vector = record.map(|record| self.session.vector(&ask, record));
            let part = vector.as_ref().map(|(first, values)| Part { first: *first, values });
            vectors.answer(self.class).symbol(part, draws)
        } else {
            let cell = record.map(|record| self.session.cell(self.class, record));
            CellAnswer::new(&self.session.start, self.class).symbol(cell, draws)
        }
    }
}

impl Algorithm for RoundAnswer<'_> {
    type Relation = ReplaceOne;
    /// A record, or none: whether there is one is private too.
    type Data<'a> = Option<&'a [f64]>;
    type Shape = ();
    /// A symbol.
    type Output = u32;
    type Error = LocalError;

    fn cost(&self) -> Receipt<ReplaceOne> {
        self.session.plan.receipt()
    }

    fn shape(_: &Self::Data<'_>) {}

    /// # Errors
    /// None: what is missing of a record counts as the middle of the box.
    fn check(&self, (): &()) -> Result<(), LocalError> {
        Ok(())
    }

    fn run(&self, record: Private<Option<&[f64]>>, draws: &mut Draws<'_>) -> u32 {
        self.symbol(record, &mut draws.leaf(ANSWER, 0))
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;

    use super::*;
    use crate::{LocalKMeans, LocalKMeansSettings, PublicBox};

    #[test]
    fn a_vector_says_how_far_a_record_is_up_to_the_radius() {
        let square = PublicBox::cube(2, -1.0, 1.0).expect("valid");
        let plan = LocalKMeans::new(square, 2, 2.0, 1_000, LocalKMeansSettings::default());
        let session = plan.expect("valid").session(9);
        let ask = Recentring { centres: &[0.0, 0.0, 0.9, 0.9], radius: 0.5, anchors: None };
        // Half of the radius away, and twice as far as it.
        for (x, residual, squared) in [(0.25, 0.5, 0.25), (-1.0, -1.0, 1.0)] {
            let (slot, values) = session.vector(&ask, Some(&[x, 0.0]));
            assert_eq!(slot, 0);
            let expected = [residual * RESIDUAL, 0.0, PRESENCE, squared * SPREAD];
            assert_abs_diff_eq!(&values[..], &expected[..], epsilon = 1e-12);
        }
    }
}
