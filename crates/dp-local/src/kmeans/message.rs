//! What travels: questions to everybody, answers of one byte or two.

use crate::bytes::{Reader, Writer};
use crate::kmeans::projection::{Anchors, GRID_DIM};
use crate::{LocalError, Session};

/// The form of what travels and rests.
pub(super) const VERSION: u8 = 4;

/// What a server asks the clients of a round. Public.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    plan: u64,
    session: u64,
    round: u8,
    ask: Ask,
}

/// The content of a question.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ask {
    /// Which cell?
    Start,
    /// How far from the nearest centre, in which direction?
    Recentre {
        /// `(k, dim)`, row-major.
        centres: Vec<f64>,
        /// Residuals are cut off here.
        radius: f64,
        /// What is nearest is decided by these, on the projection.
        anchors: Option<Anchors>,
    },
}

impl Question {
    pub(super) fn new(session: &Session, round: u8, ask: Ask) -> Self {
        Self { plan: session.plan().hash(), session: session.number(), round, ask }
    }

    /// The round whose clients are asked.
    pub fn round(&self) -> u8 {
        self.round
    }

    /// The centres that residuals are about, row-major, if it is that kind of question.
    pub fn centres(&self) -> Option<&[f64]> {
        match &self.ask {
            Ask::Start => None,
            Ask::Recentre { centres, .. } => Some(centres),
        }
    }

    pub(super) fn ask(&self) -> &Ask {
        &self.ask
    }

    /// The broadcast.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Writer::default();
        bytes.u8(VERSION);
        bytes.u64(self.plan);
        bytes.u64(self.session);
        bytes.u8(self.round);
        if let Ask::Recentre { centres, radius, anchors } = &self.ask {
            bytes.f64s(centres);
            bytes.f64(*radius);
            if let Some(anchors) = anchors {
                bytes.u8(anchors.projection);
                bytes.f64s(&anchors.places);
            }
        }
        bytes.sealed()
    }

    /// Reads a broadcast to the clients of a session.
    ///
    /// # Errors
    /// It is truncated, damaged, malformed, of another version, plan or session.
    pub fn from_bytes(session: &Session, bytes: &[u8]) -> Result<Self, LocalError> {
        let mut reader = Reader::unsealed("question", bytes)?;
        let version = reader.u8()?;
        if version != VERSION {
            return Err(LocalError::Version { got: version, expected: VERSION });
        }
        let (plan, number, round) = (reader.u64()?, reader.u64()?, reader.u8()?);
        check_origin(session, plan, number)?;
        let ask = if round == 0 {
            Ask::Start
        } else {
            let (k, dim) = (session.plan().k(), session.plan().public_box().dim());
            let centres = reader.f64s(k * dim)?;
            let radius = reader.f64()?;
            let anchored = round == 1 && session.plan().is_projected();
            let anchors = if anchored {
                Some(Anchors { projection: reader.u8()?, places: reader.f64s(k * GRID_DIM)? })
            } else {
                None
            };
            Ask::Recentre { centres, radius, anchors }
        };
        reader.end()?;
        let question = Self { plan, session: number, round, ask };
        question.check(session)?;
        Ok(question)
    }

    /// Refuses a question that is not one of this session.
    pub(super) fn check(&self, session: &Session) -> Result<(), LocalError> {
        check_origin(session, self.plan, self.session)?;
        if self.round > session.plan().rounds() {
            return Err(LocalError::Round { got: self.round, expected: session.plan().rounds() });
        }
        let Ask::Recentre { radius, anchors, .. } = &self.ask else { return Ok(()) };
        let projections = session.projections().len();
        let is_seen = |anchors: &Anchors| usize::from(anchors.projection) < projections;
        if radius.is_finite() && *radius > 0.0 && anchors.as_ref().is_none_or(is_seen) {
            Ok(())
        } else {
            Err(LocalError::Malformed { what: "question" })
        }
    }
}

fn check_origin(session: &Session, plan: u64, number: u64) -> Result<(), LocalError> {
    if plan != session.plan().hash() {
        return Err(LocalError::Plan { got: plan, expected: session.plan().hash() });
    }
    if number != session.number() {
        return Err(LocalError::Session { got: number, expected: session.number() });
    }
    Ok(())
}

/// One answer: an envelope that tells nothing about the record, and a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Of the plan.
    pub plan: u64,
    /// Of the session.
    pub session: u64,
    /// In which the client was asked.
    pub round: u8,
    /// Its number.
    pub client: u32,
    /// What it says.
    pub symbol: u32,
}

impl Message {
    pub(super) fn new(session: &Session, client: u32, symbol: u32) -> Self {
        let (plan, round) = (session.plan().hash(), session.round_of(client));
        Self { plan, session: session.number(), round, client, symbol }
    }

    /// An envelope of 22 bytes, and a symbol of one byte or two: as many for every record.
    pub fn to_bytes(&self, session: &Session) -> Vec<u8> {
        let mut bytes = Writer::default();
        bytes.u8(VERSION);
        bytes.u64(self.plan);
        bytes.u64(self.session);
        bytes.u8(self.round);
        bytes.u32(self.client);
        let [low, high, _, _] = self.symbol.to_le_bytes();
        bytes.u8(low);
        if session.symbols(self.round) > 256 {
            bytes.u8(high);
        }
        bytes.finish()
    }

    /// Reads what a client of a session sent.
    ///
    /// # Errors
    /// It is truncated, too long, of another version, plan or session.
    pub fn from_bytes(session: &Session, bytes: &[u8]) -> Result<Self, LocalError> {
        let mut reader = Reader::new("message", bytes);
        let version = reader.u8()?;
        if version != VERSION {
            return Err(LocalError::Version { got: version, expected: VERSION });
        }
        let (plan, number) = (reader.u64()?, reader.u64()?);
        check_origin(session, plan, number)?;
        let (round, client) = (reader.u8()?, reader.u32()?);
        let low = reader.u8()?;
        let high = if session.symbols(round) > 256 { reader.u8()? } else { 0 };
        reader.end()?;
        let symbol = u32::from(u16::from_le_bytes([low, high]));
        Ok(Self { plan, session: number, round, client, symbol })
    }
}
