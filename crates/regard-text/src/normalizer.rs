//! Unicode normalisation: an explicit setting, stored with the model and applied alike everywhere.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use unicode_normalization::{UnicodeNormalization, is_nfc, is_nfkc};

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
}
