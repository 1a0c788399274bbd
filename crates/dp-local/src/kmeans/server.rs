//! The server of a session: it counts symbols, and decodes them at the end of a round.

use dp_geometry::Points;

use super::fit::Fit;
use super::message::{Ask, Message, Question, VERSION};
use super::projection::{Anchors, GRID_DIM};
use super::session::Session;
use super::start;
use crate::bytes::{Reader, Writer};
use crate::{LocalError, SymbolCounts};

/// Receives the answers of one round after the other. It never holds a record, and of a message it keeps that it came, and a count.
///
/// Shards receive messages side by side and are [merged](Self::merge); a server that stops [goes on](Self::from_bytes) in the middle of a
/// round.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    session: Session,
    question: Question,
    counts: SymbolCounts,
    /// A bit for each client that has answered.
    seen: Vec<u64>,
    /// How many answered in each round.
    answers: Vec<u64>,
    fit: Option<Fit>,
    finished: bool,
}

/// What a session has found. Anything computed from it is free.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalCentres {
    /// `(k, dim)`.
    pub centres: Points,
    /// Of a coordinate of each centre, by noise. Half of the box where the share is not above four of its errors: so much noise alone
    /// shows somewhere, and nothing may be there.
    pub standard_errors: Vec<f64>,
    /// The estimated share of the clients that each centre has; noise can make it negative.
    pub shares: Vec<f64>,
    /// Of each share.
    pub share_errors: Vec<f64>,
    /// How many clients answered in each round.
    pub answers: Vec<u64>,
}

impl Server {
    /// Nobody has been asked yet.
    pub fn new(session: Session) -> Self {
        let question = Question::new(&session, 0, Ask::Start);
        let counts = session.no_answers(0);
        let seen = vec![0; (session.plan().clients() as usize).div_ceil(64)];
        Self { session, question, counts, seen, answers: vec![0], fit: None, finished: false }
    }

    /// What the clients of the present round are asked: the broadcast.
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Whether the last round is over.
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// How many have answered in the present round.
    pub fn answers(&self) -> u64 {
        self.answers.last().copied().unwrap_or(0)
    }

    /// A server for some of the clients of this round, to be merged later.
    #[must_use]
    pub fn shard(&self) -> Self {
        let counts = self.session.no_answers(self.question.round());
        let seen = vec![0; self.seen.len()];
        let mut answers = self.answers.clone();
        answers.pop();
        answers.push(0);
        Self { counts, seen, answers, ..self.clone() }
    }

    /// Receives what a client sent.
    ///
    /// # Errors
    /// Names what is wrong: truncated, too long, of another version, plan, session or round, a client that there is not or that has
    /// answered, a symbol that there is not. Nothing is counted then.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<(), LocalError> {
        let message = Message::from_bytes(&self.session, bytes)?;
        self.accept(&message)
    }

    /// The same for a message that was read already.
    ///
    /// # Errors
    /// As [`receive`](Self::receive).
    pub fn accept(&mut self, message: &Message) -> Result<(), LocalError> {
        let (plan, session) = (self.session.plan(), self.session.number());
        if message.plan != plan.hash() {
            return Err(LocalError::Plan { got: message.plan, expected: plan.hash() });
        }
        if message.session != session {
            return Err(LocalError::Session { got: message.session, expected: session });
        }
        let client = message.client;
        if client >= plan.clients() {
            return Err(LocalError::Client { got: client, clients: plan.clients() });
        }
        let expected = self.question.round();
        for got in [message.round, self.session.round_of(client)] {
            if self.finished || got != expected {
                return Err(LocalError::Round { got, expected });
            }
        }
        self.count(client, message.symbol)
    }

    /// Counts the answer of a client of this round.
    pub(super) fn count(&mut self, client: u32, symbol: u32) -> Result<(), LocalError> {
        let (word, bit) = (client as usize / 64, 1 << (client % 64));
        if self.seen[word] & bit != 0 {
            return Err(LocalError::Repeated { client });
        }
        self.counts.add(self.session.class_of(client), symbol)?;
        self.seen[word] |= bit;
        *self.answers.last_mut().expect("one number per round") += 1;
        Ok(())
    }

    /// Adds what another server of the same round has received.
    ///
    /// # Errors
    /// It is of another plan, session, round or question, or has heard a client that this one has heard; nothing is added then.
    pub fn merge(&mut self, other: &Self) -> Result<(), LocalError> {
        other.question.check(&self.session)?;
        let (got, expected) = (other.question.round(), self.question.round());
        if got != expected || self.finished || other.finished {
            return Err(LocalError::Round { got, expected });
        }
        if other.question != self.question || other.fit != self.fit {
            return Err(LocalError::Malformed { what: "shard" });
        }
        let current = |server: &Self, place: usize, word: u64| -> Option<u32> {
            // Clients of earlier rounds may be known to both.
            (0..64_u32)
                .map(|bit| {
                    (u32::try_from(place * 64).expect("a client's number") + bit, word >> bit & 1)
                })
                .find(|(client, both)| *both == 1 && server.session.round_of(*client) == expected)
                .map(|(client, _)| client)
        };
        for (place, (a, b)) in self.seen.iter().zip(&other.seen).enumerate() {
            if let Some(client) = current(self, place, a & b) {
                return Err(LocalError::Repeated { client });
            }
        }
        self.counts.merge(&other.counts)?;
        self.seen.iter_mut().zip(&other.seen).for_each(|(a, b)| *a |= b);
        *self.answers.last_mut().expect("one number per round") += other.answers();
        Ok(())
    }

    /// Ends the round: decodes its answers, and asks the next question if there is one. However few have answered.
    ///
    /// # Errors
    /// [`LocalError::Round`] if the last round is over.
    pub fn finish_round(&mut self) -> Result<(), LocalError> {
        let round = self.question.round();
        if self.finished {
            return Err(LocalError::Round { got: round + 1, expected: round });
        }
        let fit = match (self.session.vectors_of(round), &self.fit) {
            (Some(vectors), Some(fit)) => fit.next(&self.session, vectors, &self.counts)?,
            _ => match start::start(&self.session, &self.counts)? {
                Some(start) => Fit::from_start(&self.session, start),
                None => Fit::nothing(&self.session),
            },
        };
        if round == self.session.plan().rounds() {
            self.finished = true;
            if round > 0 {
                // What nobody is asked any more: the state is the same after going on.
                self.question = fit.question(&self.session, round);
            }
        } else {
            self.question = fit.question(&self.session, round + 1);
            self.counts = self.session.no_answers(round + 1);
            self.answers.push(0);
        }
        self.fit = Some(fit);
        Ok(())
    }

    /// How far one answer of the present round, forged or not, can move a coordinate of each centre, if all clients of the round answer;
    /// `f` times their number liars move it `f` times that number as far at most. None in the first round, where an answer adds at most
    /// `(1 - q) / (p - q)` clients to cells (see [`LocalHashing`](crate::LocalHashing)).
    pub fn largest_moves(&self) -> Option<Vec<f64>> {
        let round = self.question.round();
        let vectors = self.session.vectors_of(round)?;
        let clients = f64::from(self.session.plan().clients_of(round));
        Some(self.fit.as_ref()?.largest_moves(vectors.largest_share(), clients))
    }

    /// What is known so far; nothing before the first round is over.
    pub fn centres(&self) -> Option<LocalCentres> {
        let fit = self.fit.as_ref()?;
        let dim = self.session.plan().public_box().dim();
        let root = |list: &[f64]| list.iter().map(|x| x.sqrt()).collect();
        let half = 0.5 * self.session.plan().public_box().diagonal();
        let error = |at: usize| {
            let is_clear = fit.shares[at] > 4.0 * fit.share_variances[at].sqrt();
            let error = fit.variances[at].sqrt();
            if is_clear { error } else { error.max(half) }
        };
        Some(LocalCentres {
            centres: Points::new(fit.centres.clone(), dim).expect("whole rows"),
            standard_errors: (0..fit.shares.len()).map(error).collect(),
            shares: fit.shares.clone(),
            share_errors: root(&fit.share_variances),
            answers: self.answers.clone(),
        })
    }

    /// The state, to go on from later: a version, the plan's hash, and a checksum at the end.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Writer::default();
        bytes.u8(VERSION);
        bytes.u64(self.session.plan().hash());
        bytes.u64(self.session.number());
        bytes.u8(self.question.round());
        bytes.u8(u8::from(self.finished));
        self.answers.iter().for_each(|&answers| bytes.u64(answers));
        bytes.u8(u8::from(self.fit.is_some()));
        if let Some(fit) = &self.fit {
            for list in [&fit.centres, &fit.variances, &fit.shares, &fit.share_variances] {
                bytes.f64s(list);
            }
            bytes.f64(fit.radius);
            if let Some(anchors) = &fit.anchors {
                bytes.u8(anchors.projection);
                bytes.f64s(&anchors.places);
            }
        }
        self.seen.iter().for_each(|&word| bytes.u64(word));
        for (place, &count) in (0_u32..).zip(self.counts.flat()).filter(|(_, count)| **count > 0) {
            bytes.u32(place);
            bytes.u32(count);
        }
        bytes.sealed()
    }

    /// Goes on from a state.
    ///
    /// # Errors
    /// It is truncated, damaged, malformed, of another version, plan or session.
    pub fn from_bytes(session: Session, bytes: &[u8]) -> Result<Self, LocalError> {
        const WHAT: &str = "state of a server";
        let malformed = || LocalError::Malformed { what: WHAT };
        let mut reader = Reader::unsealed(WHAT, bytes)?;
        let version = reader.u8()?;
        if version != VERSION {
            return Err(LocalError::Version { got: version, expected: VERSION });
        }
        let (plan, number, round) = (reader.u64()?, reader.u64()?, reader.u8()?);
        let mut server = Self::new(session);
        let settings = server.session.plan();
        if plan != settings.hash() {
            return Err(LocalError::Plan { got: plan, expected: settings.hash() });
        }
        if number != server.session.number() {
            return Err(LocalError::Session { got: number, expected: server.session.number() });
        }
        if round > settings.rounds() {
            return Err(LocalError::Round { got: round, expected: settings.rounds() });
        }
        let (k, dim) = (settings.k(), settings.public_box().dim());
        server.finished = reader.u8()? == 1;
        server.answers = (0..=round).map(|_| reader.u64()).collect::<Result<_, _>>()?;
        let fitted = reader.u8()? == 1;
        if fitted != (server.finished || round > 0) || server.finished && round < settings.rounds()
        {
            return Err(malformed());
        }
        if fitted {
            let (centres, variances) = (reader.f64s(k * dim)?, reader.f64s(k)?);
            let (shares, share_variances) = (reader.f64s(k)?, reader.f64s(k)?);
            let radius = reader.f64()?;
            let anchored = settings.is_projected()
                && (round == 1 && !server.finished || settings.rounds() == 0);
            let anchors = if anchored {
                Some(Anchors { projection: reader.u8()?, places: reader.f64s(k * GRID_DIM)? })
            } else {
                None
            };
            let fit = Fit { centres, variances, shares, share_variances, radius, anchors };
            fit.check(&server.session)?;
            if round > 0 {
                // What was asked last: while a round goes on, that is what the fit says.
                server.question = fit.question(&server.session, round);
                server.question.check(&server.session)?;
            }
            server.fit = Some(fit);
        }
        for word in &mut server.seen {
            *word = reader.u64()?;
        }
        server.counts = server.session.no_answers(round);
        let pairs = reader.rest();
        if pairs.len() % 8 != 0 {
            return Err(malformed());
        }
        let mut pairs = Reader::new(WHAT, pairs);
        while pairs.end().is_err() {
            let (place, count) = (pairs.u32()?, pairs.u32()?);
            server.counts.set(place, count).ok_or_else(malformed)?;
        }
        if server.counts.total() != server.answers() {
            return Err(malformed());
        }
        Ok(server)
    }
}
