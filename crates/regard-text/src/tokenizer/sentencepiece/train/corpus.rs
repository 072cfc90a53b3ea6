//! The training text as words with counts.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::super::double_array::DoubleArray;
use super::super::normalization::{Normalization, SPACE};
use super::super::pieces::PieceKind;
use crate::parallel;

/// Longer lines are left out.
const MAX_LINE_BYTES: usize = 4192;
/// Lines that are read before they are normalised, for each thread.
const LINES_AT_ONCE: usize = 4096;

/// Stands for a space in pieces.
pub(super) const MARK: char = '▁';
/// Ends a line, and stands for a symbol that no other piece may touch.
pub(super) const BOUNDARY: char = '\0';
/// Stands for a character without a piece.
pub(super) const UNCOVERED: char = '▅';

/// A stretch of text that pieces can be made of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Run {
    pub(super) text: String,
    /// What comes behind it: the next word's [`MARK`], [`BOUNDARY`] or [`UNCOVERED`].
    pub(super) after: char,
}

#[derive(Debug, Default)]
pub(super) struct Corpus {
    /// Runs in order of their bytes, with how often they occur.
    pub(super) runs: Vec<(Run, u64)>,
    /// The characters that get a piece, the most frequent first, with how often they occur.
    pub(super) characters: Vec<(char, u64)>,
}

impl Corpus {
    pub(super) fn count(
        lines: impl IntoIterator<Item = impl AsRef<str> + Sync>,
        coverage: f64,
        meta: &[(String, PieceKind)],
        normalization: &Normalization,
        threads: usize,
    ) -> Self {
        let names: BTreeSet<&[u8]> = meta.iter().map(|(name, _)| name.as_bytes()).collect();
        let symbols = DoubleArray::build(&names.into_iter().map(|name| (name, 0)).collect::<Vec<_>>());
        let words = count_words(lines, &symbols, normalization, threads);
        let characters = covered_characters(&words, coverage);
        let covered: BTreeSet<char> = characters.iter().map(|&(character, _)| character).collect();
        let mut runs: BTreeMap<Run, u64> = BTreeMap::new();
        for (word, count) in &words {
            for run in split_uncovered(word, &covered) {
                *runs.entry(run).or_default() += count;
            }
        }
        Self { runs: runs.into_iter().collect(), characters }
    }

    /// Texts of runs, whatever comes behind them.
    pub(super) fn texts(&self) -> Vec<(&str, u64)> {
        let mut texts: Vec<(&str, u64)> = Vec::new();
        for (run, count) in &self.runs {
            match texts.last_mut() {
                Some((text, sum)) if *text == run.text => *sum += count,
                _ => texts.push((&run.text, *count)),
            }
        }
        texts
    }
}

/// Words with their mark in front and what comes behind them.
fn count_words(
    lines: impl IntoIterator<Item = impl AsRef<str> + Sync>,
    symbols: &DoubleArray,
    normalization: &Normalization,
    threads: usize,
) -> BTreeMap<Run, u64> {
    let mut words: BTreeMap<Run, u64> = BTreeMap::new();
    let mut lines = lines.into_iter();
    let threads = threads.max(1);
    loop {
        let some: Vec<_> = lines.by_ref().take(LINES_AT_ONCE * threads).collect();
        if some.is_empty() {
            return words;
        }
        let parts: Vec<_> = some.chunks(LINES_AT_ONCE).collect();
        let counted = parallel::map(threads, parts.len(), |part| {
            let mut counts: HashMap<Run, u64> = HashMap::new();
            for line in parts.get(part).into_iter().copied().flatten().map(AsRef::as_ref) {
                if line.len() <= MAX_LINE_BYTES {
                    count_line(&normalization.normalize(line, false).text, symbols, &mut counts);
                }
            }
            counts
        });
        for (run, count) in counted.into_iter().flatten() {
            *words.entry(run).or_default() += count;
        }
    }
}

fn count_line(line: &str, symbols: &DoubleArray, counts: &mut HashMap<Run, u64>) {
    let mut without = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(character) = rest.chars().next() {
        let symbol = symbols.longest_prefix(rest);
        without.push(if symbol.is_some() { BOUNDARY } else { character });
        let length = symbol.map_or(character.len_utf8(), |(length, _)| length);
        rest = rest.get(length..).unwrap_or_default();
    }
    let starts = without.match_indices(SPACE).map(|(at, _)| at).filter(|&at| at > 0);
    let mut ends: Vec<usize> = starts.collect();
    let last = ends.len();
    ends.push(without.len());
    let mut start = 0;
    for (word, end) in ends.into_iter().enumerate() {
        let text = without.get(start..end).unwrap_or_default().to_owned();
        start = end;
        if !text.is_empty() {
            let after = if word == last { BOUNDARY } else { MARK };
            *counts.entry(Run { text, after }).or_default() += 1;
        }
    }
}

/// The most frequent characters, up to the share of the text that shall be covered.
fn covered_characters(words: &BTreeMap<Run, u64>, coverage: f64) -> Vec<(char, u64)> {
    let mut counts: BTreeMap<char, u64> = BTreeMap::new();
    for (run, count) in words {
        for character in run.text.chars().filter(|&c| !matches!(c, BOUNDARY | UNCOVERED | ' ')) {
            *counts.entry(character).or_default() += count;
        }
    }
    let total: u64 = counts.values().sum();
    let mut ranked: Vec<(char, u64)> = counts.into_iter().collect();
    // Stable, so equal counts keep the order of code points.
    ranked.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let mut covered = 0;
    let enough = |&(_, count): &(char, u64)| {
        let more = (covered as f64) < coverage * total as f64;
        covered += count;
        more
    };
    ranked.into_iter().take_while(enough).collect()
}

/// The parts of a word between what has no piece.
fn split_uncovered(word: &Run, covered: &BTreeSet<char>) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut text = String::new();
    let mut end_run = |text: &mut String, after: char| {
        if !text.is_empty() {
            runs.push(Run { text: std::mem::take(text), after });
        }
    };
    for character in word.text.chars() {
        match character {
            covered_one if covered.contains(&covered_one) => text.push(covered_one),
            BOUNDARY => end_run(&mut text, BOUNDARY),
            _ => end_run(&mut text, UNCOVERED),
        }
    }
    end_run(&mut text, word.after);
    runs
}

#[cfg(test)]
mod tests {
    use super::super::super::proto::NormalizerProto;
    use super::*;

    #[test]
    fn words_symbols_and_rare_characters() {
        let meta = [("<s>", PieceKind::Control), ("xy", PieceKind::UserDefined)];
        let meta = meta.map(|(name, kind)| (name.to_owned(), kind));
        let normalization = Normalization::new(&NormalizerProto::default(), false, None).unwrap();
        let lines = ["ab  ab", "abxyab<s>", "ab☃a"];
        let run = |text: &str, after, count| (Run { text: text.to_owned(), after }, count);
        for threads in [1, 3] {
            let corpus = Corpus::count(lines, 0.9, &meta, &normalization, threads);
            // `☃` is one of 16 characters.
            assert_eq!(corpus.characters, [('a', 6), ('b', 5), ('▁', 4)]);
            let expected = [
                run("a", BOUNDARY, 1),
                run("ab", BOUNDARY, 1),
                run("▁ab", BOUNDARY, 2),
                run("▁ab", MARK, 1),
                run("▁ab", UNCOVERED, 1),
            ];
            assert_eq!(corpus.runs, expected);
            assert_eq!(corpus.texts(), [("a", 1), ("ab", 1), ("▁ab", 4)]);
        }
    }
}
