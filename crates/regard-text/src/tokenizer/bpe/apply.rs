//! Applying merges to one word.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;

use super::{CONTINUES, END_OF_WORD};

/// The merges by number: symbols are interned, so that the inner loop compares integers.
#[derive(Clone, Debug)]
pub(super) struct MergeTable {
    symbols: HashMap<String, u32, RandomState>,
    names: Vec<String>,
    /// (left, right) → (rank, joined symbol).
    merges: HashMap<(u32, u32), (usize, u32), RandomState>,
    /// A joined symbol → what the earliest merge makes it of.
    parts: HashMap<u32, (u32, u32)>,
}

/// A stretch of the word: where it ends, and its symbol if some merge knows it.
#[derive(Clone, Copy)]
struct Piece {
    end: usize,
    symbol: Option<u32>,
}

/// A merge that could be made: it joins the piece at `place` with the next one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    rank: usize,
    place: usize,
    joined: u32,
}

impl MergeTable {
    pub(super) fn new(merges: &[(String, String)]) -> Self {
        let mut table = Self {
            symbols: HashMap::default(),
            names: Vec::new(),
            merges: HashMap::with_capacity_and_hasher(merges.len(), RandomState::default()),
            parts: HashMap::with_capacity(merges.len()),
        };
        for (rank, (left, right)) in merges.iter().enumerate() {
            let pair = (table.intern(left), table.intern(right));
            let joined = table.intern(&format!("{left}{right}"));
            table.merges.entry(pair).or_insert((rank, joined));
            table.parts.entry(joined).or_insert(pair);
        }
        table
    }

    fn intern(&mut self, symbol: &str) -> u32 {
        if let Some(&id) = self.symbols.get(symbol) {
            return id;
        }
        let id = self.names.len() as u32;
        self.symbols.insert(symbol.to_owned(), id);
        self.names.push(symbol.to_owned());
        id
    }

    /// Where each piece of a word ends: again and again the earliest learned merge that applies, everywhere it applies,
    /// from left to right. A merge for which `drop` says yes is not made this time (BPE-dropout).
    pub(super) fn split(&self, word: &str, mut drop: impl FnMut() -> bool) -> Vec<usize> {
        let mut pieces = self.characters(word);
        let mut candidates = Vec::with_capacity(pieces.len());
        loop {
            candidates.clear();
            candidates.extend(self.candidates(&pieces).filter(|_| !drop()));
            let Some(first) = candidates.iter().min().copied() else { break };
            candidates.retain(|candidate| candidate.rank == first.rank);
            merge(&mut pieces, &candidates);
        }
        pieces.into_iter().map(|piece| piece.end).collect()
    }

    fn characters(&self, word: &str) -> Vec<Piece> {
        let symbol = |text: &str| self.symbols.get(text).copied();
        let piece = |(start, c): (usize, char)| {
            let end = start + c.len_utf8();
            let text = word.get(start..end).unwrap_or_default();
            let is_last = end == word.len();
            Piece {
                end,
                symbol: if is_last { symbol(&format!("{text}{END_OF_WORD}")) } else { symbol(text) },
            }
        };
        word.char_indices().map(piece).collect()
    }

    fn candidates(&self, pieces: &[Piece]) -> impl Iterator<Item = Candidate> {
        pieces.iter().zip(pieces.iter().skip(1)).enumerate().filter_map(|(place, (left, right))| {
            let &(rank, joined) = self.merges.get(&(left.symbol?, right.symbol?))?;
            Some(Candidate { rank, place, joined })
        })
    }

    /// Undoes merges until every piece is in the vocabulary, where pieces inside a word carry `@@`, or is a character.
    pub(super) fn restrict(&self, pieces: Vec<String>, vocabulary: &HashSet<String>) -> Vec<String> {
        let mut restricted = Vec::with_capacity(pieces.len());
        let last = pieces.len().saturating_sub(1);
        for (place, piece) in pieces.into_iter().enumerate() {
            let mut open = vec![(piece, place == last)];
            while let Some((piece, is_last)) = open.pop() {
                match self.undo(&piece, is_last).filter(|_| !knows(vocabulary, &piece, is_last)) {
                    None => restricted.push(piece),
                    Some((left, right)) => {
                        open.push((right, is_last));
                        open.push((left, false));
                    }
                }
            }
        }
        restricted
    }

    /// What the earliest merge made a piece of.
    fn undo(&self, piece: &str, is_last: bool) -> Option<(String, String)> {
        let end = if is_last { END_OF_WORD } else { "" };
        let symbol = self.symbols.get(&format!("{piece}{end}"))?;
        let &(left, right) = self.parts.get(symbol)?;
        let (left, right) = (self.names.get(left as usize)?, self.names.get(right as usize)?);
        let right = right.strip_suffix(end).filter(|right| !right.is_empty())?;
        Some((left.clone(), right.to_owned()))
    }
}

fn knows(vocabulary: &HashSet<String>, piece: &str, is_last: bool) -> bool {
    if is_last { vocabulary.contains(piece) } else { vocabulary.contains(&format!("{piece}{CONTINUES}")) }
}

/// Joins every occurrence of a pair that does not overlap an earlier one.
fn merge(pieces: &mut Vec<Piece>, occurrences: &[Candidate]) {
    let mut occurrences = occurrences.iter().peekable();
    let (mut read, mut written) = (0, 0);
    while read < pieces.len() {
        while occurrences.next_if(|occurrence| occurrence.place < read).is_some() {}
        let joined = occurrences.next_if(|occurrence| occurrence.place == read).map(|found| found.joined);
        if joined.is_some() {
            read += 1;
        }
        pieces[written] = Piece { symbol: joined.or(pieces[read].symbol), ..pieces[read] };
        read += 1;
        written += 1;
    }
    pieces.truncate(written);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(merges: &[(&str, &str)]) -> MergeTable {
        MergeTable::new(&merges.iter().map(|&(a, b)| (a.to_owned(), b.to_owned())).collect::<Vec<_>>())
    }

    fn split(merges: &[(&str, &str)], word: &str) -> Vec<String> {
        texts(word, &table(merges).split(word, || false))
    }

    fn texts(word: &str, ends: &[usize]) -> Vec<String> {
        let mut start = 0;
        ends.iter().map(|&end| word[std::mem::replace(&mut start, end)..end].to_owned()).collect()
    }

    #[test]
    fn overlapping_pairs_merge_from_the_left() {
        assert_eq!(split(&[("x", "x")], "xxxxxy"), ["xx", "xx", "x", "y"]);
        // The last x is the symbol `x</w>`, another one.
        assert_eq!(split(&[("x", "x")], "xxx"), ["xx", "x"]);
    }

    #[test]
    fn rank_decides_and_the_first_of_a_doubled_merge_counts() {
        assert_eq!(split(&[("b", "c</w>"), ("a", "b"), ("b", "c</w>")], "abc"), ["a", "bc"]);
        assert_eq!(split(&[("a", "b"), ("b", "c</w>")], "abc"), ["ab", "c"]);
    }

    #[test]
    fn unknown_characters_stay_alone() {
        assert_eq!(split(&[("a", "b</w>")], "日é"), ["日", "é"]);
        assert_eq!(split(&[("a", "b</w>")], "é"), ["é"]);
        assert!(split(&[("a", "b</w>")], "").is_empty());
    }

    #[test]
    fn dropped_merges_are_tried_again_in_the_next_round() {
        let merges = [("a", "b"), ("ab", "c</w>")];
        let mut draws = [true, false, false].into_iter();
        // Round 1: (a b) is dropped and nothing else applies, so the word stays as it is.
        assert_eq!(table(&merges).split("abc", || draws.next().unwrap()), [1, 2, 3]);
        let mut draws = [false, true].into_iter();
        assert_eq!(table(&merges).split("abc", || draws.next().unwrap()), [2, 3]);
    }

    #[test]
    fn what_is_not_in_the_vocabulary_is_undone() {
        let merges = [("l", "o"), ("lo", "w"), ("e", "r</w>"), ("low", "er</w>")];
        let table = table(&merges);
        let restrict = |vocabulary: &[&str]| {
            let vocabulary = vocabulary.iter().map(ToString::to_string).collect();
            table.restrict(texts("lower", &table.split("lower", || false)), &vocabulary)
        };
        assert_eq!(restrict(&["lower"]), ["lower"]);
        assert_eq!(restrict(&["low@@", "er"]), ["low", "er"]);
        // Inside a word `low` is `low@@`.
        assert_eq!(restrict(&["low", "lo@@", "er"]), ["lo", "w", "er"]);
        assert_eq!(restrict(&[]), ["l", "o", "w", "e", "r"]);
    }
}
