//! What happens to a line before it is cut into tokens.

use std::borrow::Cow;
use std::ops::Range;

use crate::normalizer::Normalizer;
use crate::offsets::OffsetMap;

/// Changes of a line, in this order; an explicit setting, stored with the model and applied alike everywhere. The default
/// changes nothing.
///
/// ```
/// use regard_text::{Normalizer, Preparation};
/// let preparation = Preparation { lowercase: true, ..Preparation::from(Normalizer::Nfc) };
/// assert_eq!(preparation.prepare("Cafe\u{301}"), "caf\u{e9}");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preparation {
    /// Unicode normalisation.
    pub normalizer: Normalizer,
    /// Lower case, by Unicode's rules, the final sigma's too.
    pub lowercase: bool,
}

impl From<Normalizer> for Preparation {
    fn from(normalizer: Normalizer) -> Self {
        Self { normalizer, ..Self::default() }
    }
}

/// A prepared line, and where it comes from.
pub(crate) struct Prepared {
    pub(crate) text: String,
    /// One for each change, the first change first.
    maps: Vec<OffsetMap>,
}

impl Prepared {
    /// The bytes of the original line that a range of the prepared text comes from.
    pub(crate) fn original(&self, range: Range<usize>) -> Range<usize> {
        self.maps.iter().rev().fold(range, |range, map| map.original(&range))
    }
}

impl Preparation {
    /// The prepared line; borrowed where nothing changes.
    #[must_use]
    pub fn prepare(self, line: &str) -> Cow<'_, str> {
        let mut text = self.normalizer.normalize(line);
        if self.lowercase {
            text = Cow::Owned(text.to_lowercase());
        }
        text
    }

    pub(crate) fn prepare_with_offsets(self, line: &str) -> Prepared {
        let (text, map) = self.normalizer.normalize_with_offsets(line);
        let mut prepared = Prepared { text: text.into_owned(), maps: vec![map] };
        if self.lowercase {
            prepared.maps.push(lowercase_offsets(&prepared.text));
            prepared.text = prepared.text.to_lowercase();
        }
        prepared
    }
}

/// Where the lower case of a text comes from: every character becomes one or more of its own.
fn lowercase_offsets(text: &str) -> OffsetMap {
    let mut map = OffsetMap::default();
    let mut end = 0;
    for (start, c) in text.char_indices() {
        // A final sigma becomes another letter than a sigma elsewhere, of as many bytes.
        let length: usize = c.to_lowercase().map(char::len_utf8).sum();
        map.push(end..end + length, start..start + c.len_utf8(), c.to_lowercase().eq([c]));
        end += length;
    }
    map
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LOWER: Preparation = Preparation { normalizer: Normalizer::Nfc, lowercase: true };

    #[test]
    fn lower_case_keeps_its_place() {
        let prepared = LOWER.prepare_with_offsets("İE\u{301} ΟΔΟΣ");
        assert_eq!(prepared.text, "i\u{307}é οδος");
        assert_eq!(prepared.original(0..3), 0..2);
        assert_eq!(prepared.original(3..5), 2..5);
        assert_eq!(prepared.original(6..14), 6..14);
    }

    proptest! {
        #[test]
        fn both_ways_make_the_same_text(line in "[aAİΣ\u{301}\u{323} ßẞ]{0,10}|\\PC{0,12}") {
            let prepared = LOWER.prepare_with_offsets(&line);
            prop_assert_eq!(&prepared.text, &LOWER.prepare(&line));
            let mut end = 0;
            for (start, c) in prepared.text.char_indices() {
                let range = prepared.original(start..start + c.len_utf8());
                prop_assert!(line.get(range.clone()).is_some() && range.end >= end);
                end = range.end;
            }
            prop_assert_eq!(end, line.len());
        }
    }
}
