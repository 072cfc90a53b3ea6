//! Applying merges to one word.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;

use super::{CONTINUES, END_OF_WORD};

/// The merges by number: symbols are interned, so that the inner loop compares integers.
#[derive(Clone, Debug)]
pub(super) struct MergeTable {
    symbols: HashMap<String, u32, RandomState>,
    names: Vec<String>,
    /// A character → its symbols inside a word and at its end, where a merge knows them.
    characters: HashMap<char, [Option<u32>; 2], RandomState>,
    /// (left, right) → what it makes.
    merges: HashMap<(u32, u32), Merge, RandomState>,
    /// A joined symbol → what the earliest merge makes it of.
    parts: HashMap<u32, (u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Merge {
    rank: u32,
    joined: u32,
}

/// A stretch of the word: where it ends, its symbol if some merge knows it, and the merge that joins it with the next.
#[derive(Clone, Copy)]
struct Piece {
    end: usize,
    symbol: Option<u32>,
    merge: Option<Merge>,
    /// The merge is left out this time.
    dropped: bool,
}

impl Piece {
    fn rank(&self) -> Option<u32> {
        self.merge.filter(|_| !self.dropped).map(|merge| merge.rank)
    }
}

impl MergeTable {
    pub(super) fn new(merges: &[(String, String)]) -> Self {
        let mut table = Self {
            symbols: HashMap::default(),
            names: Vec::new(),
            characters: HashMap::default(),
            merges: HashMap::with_capacity_and_hasher(merges.len(), RandomState::default()),
            parts: HashMap::with_capacity(merges.len()),
        };
        for (rank, (left, right)) in (0..).zip(merges) {
            let pair = (table.intern(left), table.intern(right));
            let joined = table.intern(&format!("{left}{right}"));
            table.merges.entry(pair).or_insert(Merge { rank, joined });
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
        if let Some((character, is_last)) = character(symbol) {
            self.characters.entry(character).or_default()[usize::from(is_last)] = Some(id);
        }
        id
    }

    /// Where each piece of a word ends: again and again the earliest learned merge that applies, everywhere it applies,
    /// from left to right. A merge for which `drop` says yes is not made this time (BPE-dropout).
    pub(super) fn split(&self, word: &str, mut drop: impl FnMut() -> bool) -> impl Iterator<Item = usize> {
        let mut pieces = self.characters(word);
        for place in 0..pieces.len() {
            self.find_merge(&mut pieces, place);
        }
        loop {
            for piece in pieces.iter_mut().filter(|piece| piece.merge.is_some()) {
                piece.dropped = drop();
            }
            let Some(rank) = pieces.iter().filter_map(Piece::rank).min() else { break };
            self.merge(&mut pieces, rank);
        }
        pieces.into_iter().map(|piece| piece.end)
    }

    fn characters(&self, word: &str) -> Vec<Piece> {
        let piece = |(start, c): (usize, char)| {
            let end = start + c.len_utf8();
            let symbols = self.characters.get(&c).copied().unwrap_or_default();
            Piece { end, symbol: symbols[usize::from(end == word.len())], merge: None, dropped: false }
        };
        word.char_indices().map(piece).collect()
    }

    /// Makes a merge wherever it does not overlap an earlier place of the same.
    fn merge(&self, pieces: &mut Vec<Piece>, rank: u32) {
        let (mut read, mut written) = (0, 0);
        let mut joined = None;
        while read < pieces.len() {
            let mut piece = pieces[read];
            // What has a merge has a next piece.
            if piece.rank() == Some(rank) {
                joined = piece.merge.map(|merge| merge.joined);
                read += 1;
                piece = Piece { symbol: joined, ..pieces[read] };
            }
            pieces[written] = piece;
            read += 1;
            written += 1;
        }
        pieces.truncate(written);
        for place in 0..written {
            if pieces[place].symbol == joined {
                self.find_merge(pieces, place.saturating_sub(1));
                self.find_merge(pieces, place);
            }
        }
    }

    /// Looks up what joins a piece with the one after it.
    fn find_merge(&self, pieces: &mut [Piece], place: usize) {
        let symbol = |place: usize| pieces.get(place)?.symbol;
        let pair = symbol(place).zip(symbol(place + 1));
        pieces[place].merge = pair.and_then(|pair| self.merges.get(&pair).copied());
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

/// The character that a symbol consists of, and whether it ends its word.
fn character(symbol: &str) -> Option<(char, bool)> {
    let inner = symbol.strip_suffix(END_OF_WORD).filter(|inner| !inner.is_empty());
    let mut characters = inner.unwrap_or(symbol).chars();
    characters.next().filter(|_| characters.next().is_none()).map(|character| (character, inner.is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(merges: &[(&str, &str)]) -> MergeTable {
        MergeTable::new(&merges.iter().map(|&(a, b)| (a.to_owned(), b.to_owned())).collect::<Vec<_>>())
    }

    fn split(merges: &[(&str, &str)], word: &str) -> Vec<String> {
        texts(word, table(merges).split(word, || false))
    }

    fn texts(word: &str, ends: impl Iterator<Item = usize>) -> Vec<String> {
        let mut start = 0;
        ends.map(|end| word[std::mem::replace(&mut start, end)..end].to_owned()).collect()
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
        assert!(table(&merges).split("abc", || draws.next().unwrap()).eq([1, 2, 3]));
        let mut draws = [false, true].into_iter();
        assert!(table(&merges).split("abc", || draws.next().unwrap()).eq([2, 3]));
    }

    #[test]
    fn what_is_not_in_the_vocabulary_is_undone() {
        let merges = [("l", "o"), ("lo", "w"), ("e", "r</w>"), ("low", "er</w>")];
        let table = table(&merges);
        let restrict = |vocabulary: &[&str]| {
            let vocabulary = vocabulary.iter().map(ToString::to_string).collect();
            table.restrict(texts("lower", table.split("lower", || false)), &vocabulary)
        };
        assert_eq!(restrict(&["lower"]), ["lower"]);
        assert_eq!(restrict(&["low@@", "er"]), ["low", "er"]);
        // Inside a word `low` is `low@@`.
        assert_eq!(restrict(&["low", "lo@@", "er"]), ["lo", "w", "er"]);
        assert_eq!(restrict(&[]), ["l", "o", "w", "e", "r"]);
    }
}
