//! A number that may be written as a text, as in forms.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// A whole number, 0 or more, or the text of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Count(pub(crate) usize);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CountVisitor)
    }
}

struct CountVisitor;

impl Visitor<'_> for CountVisitor {
    type Value = Count;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a whole number, 0 or more")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Count, E> {
        // What does not fit is above every limit.
        Ok(Count(usize::try_from(number).unwrap_or(usize::MAX)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Count, E> {
        text.trim().parse().map(Count).map_err(|_| E::invalid_value(serde::de::Unexpected::Str(text), &self))
    }
}
