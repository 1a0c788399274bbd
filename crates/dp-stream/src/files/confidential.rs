//! Private values in files and messages that are as confidential as the data.

use dp_mechanism::Private;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Checksum;
use crate::users::Standing;

/// A private value that rests in a file or travels in a message.
///
/// It is written and read as it is, and nothing else looks at it: what goes on with it computes with a [`Private`].
#[derive(Clone, Debug)]
pub(crate) struct Confidential<T>(Private<T>);

impl<T> Confidential<T> {
    pub(crate) fn new(value: Private<T>) -> Self {
        Self(value)
    }

    pub(crate) fn private(&self) -> Private<&T> {
        self.0.as_ref()
    }

    pub(crate) fn into_private(self) -> Private<T> {
        self.0
    }

    /// Whether a run could have written this. If not, the file is damaged or forged, and refused.
    pub(crate) fn could_be(&self, possible: impl Fn(&T) -> bool) -> bool {
        possible(self.written())
    }

    /// For the checksum that is written beside it.
    pub(crate) fn add_to(&self, sum: &mut Checksum, add: impl Fn(&T, &mut Checksum)) {
        add(self.written(), sum);
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the file that holds it is as confidential as the data"
    )]
    fn written(&self) -> &T {
        self.0.as_ref().exact()
    }
}

impl Confidential<Standing> {
    /// How many users a range has, which is public.
    pub(crate) fn public_len(&self) -> usize {
        self.written().charges.len()
    }
}

/// Of two files: whether they say the same.
impl<T: PartialEq> PartialEq for Confidential<T> {
    fn eq(&self, other: &Self) -> bool {
        self.written() == other.written()
    }
}

impl<T: Eq> Eq for Confidential<T> {}

impl<T: Serialize> Serialize for Confidential<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.written().serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de> + Send + 'static> Deserialize<'de> for Confidential<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(|value| Self(Private::owned(value)))
    }
}
