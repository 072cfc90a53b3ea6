//! What happens to a line before it is cut into tokens.

use std::borrow::Cow;
use std::ops::Range;

use crate::moses::Moses;
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
    /// Moses' tokenizer: punctuation becomes tokens of its own, spaces between. Undone by the same language's detokenizer.
    pub moses: Option<Moses>,
    /// Lower case, by Unicode's rules, the final sigma's too; the same as Python's `str.lower`, and so as sacremoses has
    /// it, for all that Unicode 14 knew.
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
        if let Some(moses) = self.moses {
            text = Cow::Owned(moses.tokenize(&text).join(" "));
        }
        if self.lowercase {
            text = Cow::Owned(text.to_lowercase());
        }
        text
    }

    /// The line that a prepared one was, as far as it can be undone: normalisation and lower case cannot.
    #[must_use]
    pub fn undo(self, line: &str) -> Cow<'_, str> {
        match self.moses {
            None => Cow::Borrowed(line),
            Some(moses) => {
                let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
                Cow::Owned(moses.detokenize(&words))
            }
        }
    }

    pub(crate) fn prepare_with_offsets(self, line: &str) -> Prepared {
        let (text, map) = self.normalizer.normalize_with_offsets(line);
        let mut prepared = Prepared { text: text.into_owned(), maps: vec![map] };
        if let Some(moses) = self.moses {
            let (text, map) = moses_offsets(moses, &prepared.text);
            prepared.text = text;
            prepared.maps.push(map);
        }
        if self.lowercase {
            prepared.maps.push(lowercase_offsets(&prepared.text));
            prepared.text = prepared.text.to_lowercase();
        }
        prepared
    }
}

/// Moses' tokens with spaces between, and where they come from.
fn moses_offsets(moses: Moses, line: &str) -> (String, OffsetMap) {
    let mut text = String::with_capacity(line.len() + line.len() / 4);
    let mut map = OffsetMap::default();
    for (token, range) in moses.tokenize_with_spans(line) {
        if !text.is_empty() {
            text.push(' ');
        }
        let start = text.len();
        text.push_str(&token);
        let verbatim = line.get(range.clone()) == Some(token.as_str());
        map.push(start..text.len(), range, verbatim);
    }
    (text, map)
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
    use crate::moses::MosesLanguage;

    const LOWER: Preparation = Preparation { normalizer: Normalizer::Nfc, moses: None, lowercase: true };
    const MOSES: Preparation =
        Preparation { moses: Some(Moses { language: MosesLanguage::En, escape: true }), ..LOWER };

    #[test]
    fn moses_tokens_keep_their_place() {
        let line = "Don't  stop, Cafe\u{301} & \u{1}Co.!";
        let prepared = MOSES.prepare_with_offsets(line);
        assert_eq!(prepared.text, "don &apos;t stop , caf\u{e9} &amp; co . !");
        for (token, original) in
            [("&apos;t", "'t"), ("stop", "stop"), (",", ","), ("caf\u{e9}", "Cafe\u{301}"), ("&amp;", "&")]
        {
            let start = prepared.text.find(token).unwrap();
            assert_eq!(&line[prepared.original(start..start + token.len())], original);
        }
        assert_eq!(MOSES.undo(&prepared.text), "don't stop, caf\u{e9} & co.!");
    }

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
        fn moses_both_ways_make_the_same_text(line in "[aA.,'& |\\]\u{301}\u{1}]{0,14}|\\PC{0,14}") {
            let prepared = MOSES.prepare_with_offsets(&line);
            prop_assert_eq!(&prepared.text, &MOSES.prepare(&line));
            let mut end = 0;
            for (start, c) in prepared.text.char_indices().filter(|&(_, c)| c != ' ') {
                let range = prepared.original(start..start + c.len_utf8());
                prop_assert!(line.get(range.clone()).is_some_and(|text| !text.is_empty()) && range.end >= end);
                end = range.end;
            }
        }

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
