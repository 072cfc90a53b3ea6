//! Byte-pair encoding of words, as subword-nmt 0.2 learns and applies it.
//!
//! Sennrich, Haddow and Birch, "Neural Machine Translation of Rare Words with Subword Units", ACL 2016. A word starts as
//! its characters, the last one carrying `</w>`; merges join neighbours in the order in which they were learned. A piece
//! that does not end its word is written with a trailing `@@`.

mod apply;
mod codes;
mod learn;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::word::words;
use crate::error::TextError;
use apply::MergeTable;

const END_OF_WORD: &str = "</w>";
const CONTINUES: &str = "@@";
/// Words that the cache holds before it starts afresh, so that a server's memory stays bounded.
const CACHE_WORDS: usize = 1 << 16;

/// An ordered list of merges, and what applying them needs.
///
/// ```
/// use regard_text::{Bpe, Tokenizer};
/// let bpe = Bpe::learn(["low lower lowest", "low low"], 4, 2);
/// assert_eq!(bpe.merges()[0], ("l".to_owned(), "o".to_owned()));
/// let tokens = bpe.segment("low slow lower");
/// assert_eq!(tokens, ["low", "s@@", "low", "lowe@@", "r"]);
/// assert_eq!(Tokenizer::Bpe(bpe).detokenize(&tokens), "low slow lower");
/// ```
#[derive(Debug)]
pub struct Bpe {
    merges: Vec<(String, String)>,
    table: MergeTable,
    cache: Mutex<HashMap<String, Vec<String>>>,
}

impl Bpe {
    /// Learns up to `merges` merges from lines of text; stops where no pair is as frequent as `min_frequency`
    /// (subword-nmt's default: 2; 0 counts as 1).
    ///
    /// Among equally frequent pairs the greatest in code-point order wins, so the result does not depend on the order of
    /// the lines.
    pub fn learn(
        lines: impl IntoIterator<Item = impl AsRef<str>>,
        merges: usize,
        min_frequency: u64,
    ) -> Self {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for line in lines {
            for word in words(line.as_ref()) {
                match counts.get_mut(word) {
                    Some(count) => *count += 1,
                    None => _ = counts.insert(word.to_owned(), 1),
                }
            }
        }
        Self::learn_from_counts(counts, merges, min_frequency)
    }

    /// [`learn`](Self::learn) from words and how often each occurs. Empty words are ignored.
    pub fn learn_from_counts(
        counts: impl IntoIterator<Item = (String, u64)>,
        merges: usize,
        min_frequency: u64,
    ) -> Self {
        Self::from_merges(learn::learn(counts, merges, min_frequency))
    }

    /// The encoder that applies these merges, first to last. Of a doubled merge the first counts.
    #[must_use]
    pub fn from_merges(merges: Vec<(String, String)>) -> Self {
        let table = MergeTable::new(&merges);
        Self { merges, table, cache: Mutex::default() }
    }

    /// The merges in order.
    #[must_use]
    pub fn merges(&self) -> &[(String, String)] {
        &self.merges
    }

    /// Reads a codes file: `#version: 0.2`, then one merge a line.
    ///
    /// # Errors
    /// [`TextError::Read`], [`TextError::InvalidUtf8`], [`TextError::BadCodes`].
    pub fn read(path: impl AsRef<Path>) -> Result<Self, TextError> {
        codes::read(path.as_ref()).map(Self::from_merges)
    }

    /// Writes the codes file.
    ///
    /// # Errors
    /// [`TextError::Write`].
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), TextError> {
        codes::write(path.as_ref(), &self.merges)
    }

    /// The pieces of every word of a line.
    ///
    /// They are subword-nmt's, except where those could not be undone: a word whose last piece itself ends in `@@` has
    /// its last `@` split off.
    #[must_use]
    pub fn segment(&self, line: &str) -> Vec<String> {
        // The cache only saves time, so what a panicking thread left in it is still right.
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tokens = Vec::new();
        for word in words(line) {
            if let Some(known) = cache.get(word) {
                tokens.extend_from_slice(known);
                continue;
            }
            let pieces = mark(self.table.split(word));
            tokens.extend_from_slice(&pieces);
            if cache.len() >= CACHE_WORDS {
                cache.clear();
            }
            cache.insert(word.to_owned(), pieces);
        }
        tokens
    }
}

impl Clone for Bpe {
    /// A copy with an empty cache.
    fn clone(&self) -> Self {
        Self { merges: self.merges.clone(), table: self.table.clone(), cache: Mutex::default() }
    }
}

/// Adds `@@` to every piece but the last, and keeps the last from looking like one that continues.
fn mark(mut pieces: Vec<String>) -> Vec<String> {
    if let Some(last) = pieces.last_mut()
        && last.ends_with(CONTINUES)
    {
        last.pop();
        pieces.push("@".to_owned());
    }
    let inner = pieces.len().saturating_sub(1);
    for piece in pieces.iter_mut().take(inner) {
        piece.push_str(CONTINUES);
    }
    pieces
}

/// Joins pieces to words and words with one space. A mark at the very end (a cut output) is dropped.
pub(super) fn join(tokens: &[impl AsRef<str>]) -> String {
    let mut line = String::new();
    let mut inside_word = true;
    for token in tokens {
        if !inside_word {
            line.push(' ');
        }
        let token = token.as_ref();
        let piece = token.strip_suffix(CONTINUES);
        line.push_str(piece.unwrap_or(token));
        inside_word = piece.is_some();
    }
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_users_own_marks_survive() {
        let bpe = Bpe::learn(["@@ @@ foo@@ foo@@ a@@b a@@b @@@ @@@ ▁under"], 20, 1);
        for line in ["mail me @@ home", "foo@@", "▁under", "a@@b", "@@@", "@", "@@"] {
            assert_eq!(join(&bpe.segment(line)), line);
        }
        assert_eq!(join(&["ho@@", "me@@"]), "home");
    }

    #[test]
    fn the_cache_changes_nothing() {
        let bpe = Bpe::learn(["abab abc abc"], 3, 1);
        let first = bpe.segment("abab abc abab");
        assert_eq!(bpe.segment("abab abc abab"), first);
        assert_eq!(bpe.clone().segment("abab abc abab"), first);
    }

    proptest! {
        #[test]
        fn segmenting_is_undone(line in "[ab@</w>é]{1,8}( [ab@</w>é]{1,8}){0,4}") {
            let bpe = Bpe::learn([line.as_str(), "ab ab </w> @@ a</w> a</w>"], 12, 1);
            prop_assert_eq!(join(&bpe.segment(&line)), line);
        }
    }
}
