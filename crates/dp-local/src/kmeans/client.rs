//! A client, who answers once.

use std::fmt;

use dp_mechanism::{Mechanism, ReleaseRng};

use super::message::{Message, Question};
use super::session::{RoundAnswer, Session};
use crate::LocalError;

/// One client of a session. To answer uses it up, so a second answer does not compile:
///
/// ```compile_fail,E0382
/// # use dp_local::{Client, Question, ReleaseRng};
/// fn twice(client: Client<'_>, question: &Question, record: &[f64], rng: &mut ReleaseRng) {
///     let first = client.answer(question, Some(record), rng);
///     let second = client.answer(question, Some(record), rng);
/// }
/// ```
///
/// Two clients of one number, on a device that forgot, are beyond a type; whoever makes clients keeps a list of sessions.
pub struct Client<'s> {
    session: &'s Session,
    number: u32,
}

impl fmt::Debug for Client<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("number", &self.number).finish_non_exhaustive()
    }
}

/// A client that has not answered, and why: all of it public.
#[derive(Debug)]
pub struct NotAnswered<'s> {
    /// As it was.
    pub client: Client<'s>,
    /// What is wrong with the question.
    pub why: LocalError,
}

impl<'s> Client<'s> {
    /// The client of this number.
    ///
    /// # Errors
    /// [`LocalError::Client`] if the plan has no such number.
    pub fn new(session: &'s Session, number: u32) -> Result<Self, LocalError> {
        let clients = session.plan().clients();
        if number < clients {
            Ok(Self { session, number })
        } else {
            Err(LocalError::Client { got: number, clients })
        }
    }

    /// The round in which it is asked.
    pub fn round(&self) -> u8 {
        self.session.round_of(self.number)
    }

    /// The client's answer, whatever its record is. One without a record answers too.
    ///
    /// A coordinate that is missing or not a number counts as the middle of the box, one outside as the nearest inside.
    ///
    /// # Errors
    /// The client itself, unspent, and why: the question is of another plan, session or round.
    pub fn answer(
        self,
        question: &Question,
        record: Option<&[f64]>,
        rng: &mut ReleaseRng,
    ) -> Result<Message, NotAnswered<'s>> {
        let released = RoundAnswer::new(self.session, question, self.number)
            .and_then(|answer| answer.release(record, rng));
        match released {
            Ok(release) => Ok(Message::new(self.session, self.number, release.output)),
            Err(why) => Err(NotAnswered { client: self, why }),
        }
    }
}
