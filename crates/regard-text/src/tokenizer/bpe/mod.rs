//! Byte-pair encoding of words, as subword-nmt 0.2 learns and applies it.
//!
//! Sennrich, Haddow and Birch, "Neural Machine Translation of Rare Words with Subword Units", ACL 2016. A word starts as
//! its characters, the last one carrying `</w>`; merges join neighbours in the order in which they were learned. A piece
//! that does not end its word is written with a trailing `@@`.

mod apply;
mod cache;
mod codes;
mod glossary;
mod learn;
mod piece_counts;
mod word_counts;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::Token;
use super::word::{words, words_with_starts};
use crate::error::TextError;
use crate::random::SplitMix64;
use apply::MergeTable;
use cache::Cache;
use glossary::Glossaries;
use word_counts::count_words;

const END_OF_WORD: &str = "</w>";
const CONTINUES: &str = "@@";

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
    table: Arc<MergeTable>,
    /// The only pieces that may come about, marks included; all where there is none.
    vocabulary: Option<HashSet<String>>,
    glossaries: Option<Arc<Glossaries>>,
    cache: Mutex<Cache>,
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
        Self::learn_from_counts(count_words(lines), merges, min_frequency, &mut |_| {})
    }

    /// The words of lines and how often each occurs, counted on several threads.
    #[must_use]
    pub fn count_words(lines: &[impl AsRef<str> + Sync], threads: usize) -> BTreeMap<String, u64> {
        word_counts::count_in_parallel(lines, threads)
    }

    /// Reads such counts: `word count`, a line each.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_word_counts(path: impl AsRef<Path>) -> Result<BTreeMap<String, u64>, TextError> {
        word_counts::read(path.as_ref())
    }

    /// [`learn`](Self::learn) from words and how often each occurs; empty words are ignored. `report` is told now and then
    /// how many merges there are.
    pub fn learn_from_counts(
        counts: impl IntoIterator<Item = (String, u64)>,
        merges: usize,
        min_frequency: u64,
        report: &mut dyn FnMut(usize),
    ) -> Self {
        Self::from_merges(learn::learn(counts, merges, min_frequency, report))
    }

    /// The encoder that applies these merges, first to last. Of a doubled merge the first counts.
    #[must_use]
    pub fn from_merges(merges: Vec<(String, String)>) -> Self {
        let table = Arc::new(MergeTable::new(&merges));
        Self { merges, table, vocabulary: None, glossaries: None, cache: Mutex::default() }
    }

    /// The same encoder, which undoes merges until every piece is one of these (`@@` included) or a character: what was
    /// rare in the training text of its language does not come about in another's (subword-nmt's vocabulary threshold).
    ///
    /// ```
    /// use regard_text::Bpe;
    /// let bpe = Bpe::learn(["low lower lowest", "low low"], 4, 2);
    /// assert_eq!(bpe.with_vocabulary(["lo@@".to_owned()]).segment("low"), ["lo@@", "w"]);
    /// ```
    #[must_use]
    pub fn with_vocabulary(self, pieces: impl IntoIterator<Item = String>) -> Self {
        Self { vocabulary: Some(pieces.into_iter().collect()), cache: Mutex::default(), ..self }
    }

    /// The same encoder, which never cuts what one of these regular expressions matches.
    ///
    /// # Errors
    /// [`TextError::BadGlossary`].
    pub fn with_glossaries(self, patterns: Vec<String>) -> Result<Self, TextError> {
        let glossaries = (!patterns.is_empty()).then(|| Glossaries::new(patterns)).transpose()?.map(Arc::new);
        Ok(Self { glossaries, cache: Mutex::default(), ..self })
    }

    /// The merges in order.
    #[must_use]
    pub fn merges(&self) -> &[(String, String)] {
        &self.merges
    }

    /// The pieces of [`with_vocabulary`](Self::with_vocabulary), by bytes.
    #[must_use]
    pub fn vocabulary(&self) -> Option<Vec<&str>> {
        let mut pieces: Vec<&str> = self.vocabulary.as_ref()?.iter().map(String::as_str).collect();
        pieces.sort_unstable();
        Some(pieces)
    }

    /// The patterns of [`with_glossaries`](Self::with_glossaries).
    #[must_use]
    pub fn glossaries(&self) -> &[String] {
        self.glossaries.as_ref().map_or(&[], |glossaries| glossaries.patterns())
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

    /// Reads the pieces of a vocabulary file (`piece count`, a line each) that are seen at least `threshold` times.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_vocabulary(path: impl AsRef<Path>, threshold: u64) -> Result<HashSet<String>, TextError> {
        piece_counts::read(path.as_ref(), threshold)
    }

    /// Writes a vocabulary file of [`count_pieces`](Self::count_pieces): the most frequent piece first, equal ones in the
    /// order of the counts, as subword-nmt does.
    ///
    /// # Errors
    /// [`TextError::Write`].
    pub fn write_vocabulary(path: impl AsRef<Path>, counts: &[(String, u64)]) -> Result<(), TextError> {
        piece_counts::write(path.as_ref(), counts)
    }

    /// How often each piece occurs in lines of text, in the order in which they first occur.
    #[must_use]
    pub fn count_pieces(&self, lines: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<(String, u64)> {
        piece_counts::count(lines, |word| self.pieces(word, || false))
    }

    /// The pieces of every word of a line.
    ///
    /// They are subword-nmt's, except where those could not be undone: a word whose last piece itself ends in `@@` has
    /// its last `@` split off.
    #[must_use]
    pub fn segment(&self, line: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        self.with_cache(words(line), |_, pieces| tokens.extend(pieces.split(' ').map(str::to_owned)));
        tokens
    }

    /// The same pieces as one line, a space between. Spaces at both ends of the line stay, as in subword-nmt.
    #[must_use]
    pub fn apply(&self, line: &str) -> String {
        let mut pieced = String::with_capacity(line.len() + line.len() / 2);
        self.apply_into(line, &mut pieced);
        pieced
    }

    /// [`apply`](Self::apply), added to a text.
    pub fn apply_into(&self, line: &str, text: &mut String) {
        let inner = line.trim_matches(' ');
        let before = line.len() - line.trim_start_matches(' ').len();
        text.push_str(line.get(..before).unwrap_or_default());
        let mut is_first = true;
        self.with_cache(words(inner), |_, pieces| {
            if !std::mem::take(&mut is_first) {
                text.push(' ');
            }
            text.push_str(pieces);
        });
        text.push_str(line.get(before + inner.len()..).unwrap_or_default());
    }

    /// The same, drawn by chance: each time that a merge could be made it is left out with a probability (Provilkov,
    /// Emelianenko and Voita, "BPE-Dropout", ACL 2020). It depends on the line, the probability and the key alone.
    ///
    /// ```
    /// use regard_text::Bpe;
    /// let bpe = Bpe::learn(["low lower lowest", "low low"], 4, 2);
    /// assert_eq!(bpe.sample("low", 0.0, 1), ["low"]);
    /// assert_eq!(bpe.sample("low", 1.0, 1), ["l@@", "o@@", "w"]);
    /// ```
    #[must_use]
    pub fn sample(&self, line: &str, dropout: f64, key: u64) -> Vec<String> {
        let mut random = SplitMix64::new(key, 0);
        words(line).flat_map(|word| self.pieces(word, || random.unit() < dropout)).collect()
    }

    /// Whether a piece does not end its word.
    pub(crate) fn continues(piece: &str) -> bool {
        piece.ends_with(CONTINUES)
    }

    /// The pieces of a line, with the bytes that each stands for.
    pub(super) fn tokens(&self, line: &str) -> Vec<Token> {
        let mut tokens = Vec::new();
        let mut starts = words_with_starts(line).map(|(start, _)| start);
        self.with_cache(words(line), |word, pieces| {
            let mut start = starts.next().unwrap_or_default();
            let end = start + word.len();
            for piece in pieces.split(' ') {
                let length = piece.strip_suffix(CONTINUES).map_or(end - start, str::len);
                tokens.push(Token::new(piece, start..start + length));
                start += length;
            }
        });
        tokens
    }

    /// Shows the pieces of each word, a space between, known or new.
    fn with_cache<'a>(&self, words: impl Iterator<Item = &'a str>, mut show: impl FnMut(&str, &str)) {
        // The cache only saves time, so what a panicking thread left in it is still right.
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        for word in words {
            show(word, cache.pieces(word, |text| self.cut_into(word, text)));
        }
    }

    /// Adds the pieces of a word to a text, with their marks and a space between.
    fn cut_into(&self, word: &str, text: &mut String) {
        if self.glossaries.is_some() || self.vocabulary.is_some() || word.ends_with('@') {
            text.push_str(&self.pieces(word, || false).join(" "));
            return;
        }
        // The usual case, without a string for each piece.
        let mut start = 0;
        for end in self.table.split(word, || false) {
            if start > 0 {
                text.extend([CONTINUES, " "]);
            }
            text.push_str(word.get(start..end).unwrap_or_default());
            start = end;
        }
    }

    /// The pieces of a word with their marks.
    fn pieces(&self, word: &str, mut drop: impl FnMut() -> bool) -> Vec<String> {
        let Some(glossaries) = &self.glossaries else { return mark(self.split(word, drop)) };
        let mut pieces = Vec::new();
        for part in glossaries.isolate(word) {
            if glossaries.is_match(part) {
                pieces.push(part.to_owned());
            } else {
                pieces.extend(self.split(part, &mut drop));
            }
        }
        mark(pieces)
    }

    fn split(&self, word: &str, drop: impl FnMut() -> bool) -> Vec<String> {
        let mut start = 0;
        let ends = self.table.split(word, drop);
        let texts = ends.filter_map(|end| word.get(std::mem::replace(&mut start, end)..end));
        let pieces = texts.map(str::to_owned).collect();
        match &self.vocabulary {
            None => pieces,
            Some(vocabulary) => self.table.restrict(pieces, vocabulary),
        }
    }
}

impl Clone for Bpe {
    /// A copy with an empty cache.
    fn clone(&self) -> Self {
        Self {
            merges: self.merges.clone(),
            table: Arc::clone(&self.table),
            vocabulary: self.vocabulary.clone(),
            glossaries: self.glossaries.clone(),
            cache: Mutex::default(),
        }
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
    fn the_line_is_its_pieces() {
        let bpe = Bpe::learn(["abab abc abc"], 3, 1);
        for line in ["", "abab abc x", "ab@ a@@ @"] {
            assert_eq!(bpe.apply(line), bpe.segment(line).join(" "));
            assert_eq!(bpe.apply(&format!("  {line} ")), format!("  {} ", bpe.apply(line)));
            let pieces: Vec<String> = words(line).flat_map(|word| bpe.pieces(word, || false)).collect();
            assert_eq!(bpe.segment(line), pieces);
        }
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
