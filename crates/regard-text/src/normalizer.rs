//! Unicode normalisation: an explicit setting, stored with the model and applied alike everywhere.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{
    IsNormalized, UnicodeNormalization, is_nfc, is_nfc_quick, is_nfkc, is_nfkc_quick,
};

use crate::offsets::OffsetMap;

/// What happens to a line before it is tokenised. The default changes nothing.
///
/// ```
/// use regard_text::Normalizer;
/// assert_eq!(Normalizer::None.normalize("cafe\u{301}"), "cafe\u{301}");
/// assert_eq!(Normalizer::Nfc.normalize("cafe\u{301}"), "caf\u{e9}");
/// assert_eq!(Normalizer::Nfkc.normalize("10\u{a0}km²"), "10 km2");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Normalizer {
    /// The text as it is.
    #[default]
    None,
    /// Canonical composition (UAX #15): `e` + combining acute becomes `é`; nothing is lost.
    Nfc,
    /// Compatibility composition (UAX #15): also folds ligatures, full-width forms and no-break spaces.
    Nfkc,
}

impl Normalizer {
    /// The normalised line; borrowed where nothing changes.
    #[must_use]
    pub fn normalize(self, line: &str) -> Cow<'_, str> {
        match self {
            Self::None => Cow::Borrowed(line),
            Self::Nfc if is_nfc(line) => Cow::Borrowed(line),
            Self::Nfc => Cow::Owned(line.nfc().collect()),
            Self::Nfkc if is_nfkc(line) => Cow::Borrowed(line),
            Self::Nfkc => Cow::Owned(line.nfkc().collect()),
        }
    }

    /// The normalised line, and where it comes from: character by character where nothing changes, else from one boundary
    /// over which nothing composes to the next (UAX #15, section 9).
    pub(crate) fn normalize_with_offsets(self, line: &str) -> (Cow<'_, str>, OffsetMap) {
        let normalized = self.normalize(line);
        if let Cow::Borrowed(_) = normalized {
            let map = OffsetMap::identity(line.len());
            return (normalized, map);
        }
        let mut text = String::with_capacity(normalized.len());
        let mut map = OffsetMap::default();
        let mut start = 0;
        while let Some(rest) = line.get(start..).filter(|rest| !rest.is_empty()) {
            let length = rest.char_indices().skip(1).find(|&(_, c)| self.is_boundary(c)).map(|(at, _)| at);
            let chunk = rest.get(..length.unwrap_or(rest.len())).unwrap_or(rest);
            let before = text.len();
            text.push_str(&self.normalize(chunk));
            map.push(before..text.len(), start..start + chunk.len(), text.get(before..) == Some(chunk));
            start += chunk.len();
        }
        (Cow::Owned(text), map)
    }

    /// Whether a character begins a stretch that is normalised alone, whatever is before it.
    fn is_boundary(self, c: char) -> bool {
        let quick = match self {
            Self::None => return true,
            Self::Nfc => is_nfc_quick(std::iter::once(c)),
            Self::Nfkc => is_nfkc_quick(std::iter::once(c)),
        };
        canonical_combining_class(c) == 0 && quick == IsNormalized::Yes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn changed_stretches_know_their_bytes() {
        let line = "a cafe\u{301} x";
        let (text, map) = Normalizer::Nfc.normalize_with_offsets(line);
        assert_eq!(text, "a caf\u{e9} x");
        assert_eq!(map.original(&(2..7)), 2..8);
        assert_eq!(map.original(&(5..7)), 5..8);
        assert_eq!(map.original(&(7..9)), 8..10);
    }

    proptest! {
        #[test]
        fn chunks_make_the_whole(line in "[a\u{301}\u{323}\u{327}\u{1100}\u{1161}\u{11a8}\u{ac00}\u{fb01}\u{b2}\u{2126}\u{a0}é ]{0,12}|\\PC{0,12}") {
            for normalizer in [Normalizer::None, Normalizer::Nfc, Normalizer::Nfkc] {
                let (text, map) = normalizer.normalize_with_offsets(&line);
                prop_assert_eq!(&text, &normalizer.normalize(&line));
                let mut end = 0;
                for (start, c) in text.char_indices() {
                    let range = map.original(&(start..start + c.len_utf8()));
                    prop_assert!(line.get(range.clone()).is_some());
                    prop_assert!(range.end >= end);
                    end = range.end;
                }
                prop_assert_eq!(end, if text.is_empty() { 0 } else { line.len() });
            }
        }
    }
}
