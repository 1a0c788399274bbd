//! The file form of all that travels or rests: a version, a kind, the content and a checksum.

mod confidential;
mod turn;

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, DeserializeOwned, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) use confidential::Confidential;
pub(crate) use turn::Turn;

use crate::{StreamError, session, shards};

/// Of every file form. Another number means that something in a content means something else.
const VERSION: u32 = 7;
const FIELDS: &[&str] = &["version", "kind", "content", "checksum"];

/// What can be sealed.
pub(crate) trait Content: Serialize + DeserializeOwned {
    /// Tells a state of one kind from a state of another.
    const KIND: &'static str;

    /// Every field, in a fixed order.
    fn add_to(&self, sum: &mut Checksum);

    /// Whether a run could have left this behind.
    fn check(&self) -> Result<(), StreamError>;

    fn damaged() -> StreamError {
        StreamError::Damaged { what: Self::KIND }
    }
}

/// 64-bit FNV-1a: every change of one byte, and of more bytes all but one in about 2^64, is seen.
///
/// It finds damage. It does not stop a forger, who can compute it too.
pub(crate) struct Checksum(u64);

impl Checksum {
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) fn number(&mut self, number: u64) {
        self.fold(&number.to_le_bytes());
    }

    /// With their length, so that what follows cannot be mistaken for them.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.fold(bytes);
    }

    pub(crate) fn finish(self) -> u64 {
        self.0
    }

    fn fold(&mut self, bytes: &[u8]) {
        let next =
            |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        self.0 = bytes.iter().fold(self.0, next);
    }
}

fn checksum<T: Content>(content: &T) -> u64 {
    let mut sum = Checksum::new();
    sum.number(VERSION.into());
    sum.bytes(T::KIND.as_bytes());
    content.add_to(&mut sum);
    sum.finish()
}

pub(crate) fn serialize<T: Content, S: Serializer>(
    content: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut fields = serializer.serialize_struct("Sealed", FIELDS.len())?;
    fields.serialize_field("version", &VERSION)?;
    fields.serialize_field("kind", T::KIND)?;
    fields.serialize_field("content", content)?;
    fields.serialize_field("checksum", &checksum(content))?;
    fields.end()
}

pub(crate) fn deserialize<'de, T: Content, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    deserializer.deserialize_struct("Sealed", FIELDS, Reader(PhantomData))
}

/// For those who test what is read: what says that it is of this kind, with a checksum that fits. None if it has not the fields of one.
///
/// # Errors
/// Those of the serializer.
pub fn resealed<'de, D: Deserializer<'de>, S: Serializer>(
    kind: &str,
    content: D,
    to: S,
) -> Option<Result<S::Ok, S::Error>> {
    fn of<'de, T: Content, D: Deserializer<'de>, S: Serializer>(
        content: D,
        to: S,
    ) -> Option<Result<S::Ok, S::Error>> {
        T::deserialize(content).ok().map(|content| serialize(&content, to))
    }
    match kind {
        session::state::Resting::KIND => of::<session::state::Resting, _, _>(content, to),
        shards::shard_state::Resting::KIND => of::<shards::shard_state::Resting, _, _>(content, to),
        shards::decider_state::Resting::KIND => {
            of::<shards::decider_state::Resting, _, _>(content, to)
        }
        shards::messages::CountsMessage::KIND => {
            of::<shards::messages::CountsMessage, _, _>(content, to)
        }
        shards::messages::Decided::KIND => of::<shards::messages::Decided, _, _>(content, to),
        _ => None,
    }
}

/// Fields one after the other, with names or without.
trait Fields<'de> {
    type Error: de::Error;

    fn next<V: Deserialize<'de>>(&mut self, name: &'static str) -> Result<V, Self::Error>;
}

struct Named<A>(A);

impl<'de, A: MapAccess<'de>> Fields<'de> for Named<A> {
    type Error = A::Error;

    fn next<V: Deserialize<'de>>(&mut self, name: &'static str) -> Result<V, A::Error> {
        match self.0.next_key::<String>()? {
            Some(key) if key == name => self.0.next_value(),
            Some(key) => Err(de::Error::custom(format_args!("`{name}` must come before `{key}`"))),
            None => Err(de::Error::missing_field(name)),
        }
    }
}

struct Listed<A>(A);

impl<'de, A: SeqAccess<'de>> Fields<'de> for Listed<A> {
    type Error = A::Error;

    fn next<V: Deserialize<'de>>(&mut self, name: &'static str) -> Result<V, A::Error> {
        self.0.next_element()?.ok_or_else(|| de::Error::missing_field(name))
    }
}

struct Reader<T>(PhantomData<T>);

impl<T: Content> Reader<T> {
    /// The version before anything whose form depends on it.
    fn read<'de, F: Fields<'de>>(fields: &mut F) -> Result<T, F::Error> {
        let got: u32 = fields.next("version")?;
        if got != VERSION {
            let error = StreamError::StateVersion { got, expected: VERSION };
            return Err(de::Error::custom(error));
        }
        if fields.next::<String>("kind")? != T::KIND {
            return Err(de::Error::custom(StreamError::StateKind { expected: T::KIND }));
        }
        let content: T = fields.next("content")?;
        if fields.next::<u64>("checksum")? != checksum(&content) {
            return Err(de::Error::custom(T::damaged()));
        }
        content.check().map_err(de::Error::custom)?;
        Ok(content)
    }
}

impl<'de, T: Content> Visitor<'de> for Reader<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {} with its version first", T::KIND)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        let mut fields = Named(map);
        let content = Self::read(&mut fields)?;
        match fields.0.next_key::<String>()? {
            Some(key) => Err(de::Error::unknown_field(&key, FIELDS)),
            None => Ok(content),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
        let mut fields = Listed(list);
        let content = Self::read(&mut fields)?;
        match fields.0.next_element::<IgnoredAny>()? {
            Some(_) => Err(de::Error::invalid_length(FIELDS.len() + 1, &self)),
            None => Ok(content),
        }
    }
}
