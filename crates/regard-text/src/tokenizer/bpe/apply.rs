//! Applying merges to one word.

use std::collections::HashMap;

use super::END_OF_WORD;

/// The merges by number: symbols are interned, so that the inner loop compares integers.
#[derive(Clone, Debug)]
pub(super) struct MergeTable {
    symbols: HashMap<String, u32>,
    /// (left, right) → (rank, joined symbol).
    merges: HashMap<(u32, u32), (usize, u32)>,
}

/// A stretch of the word: where it begins, and its symbol if some merge knows it.
#[derive(Clone, Copy)]
struct Piece {
    start: usize,
    symbol: Option<u32>,
}

impl MergeTable {
    pub(super) fn new(merges: &[(String, String)]) -> Self {
        let mut table = Self { symbols: HashMap::new(), merges: HashMap::with_capacity(merges.len()) };
        for (rank, (left, right)) in merges.iter().enumerate() {
            let pair = (table.intern(left), table.intern(right));
            let joined = table.intern(&format!("{left}{right}"));
            table.merges.entry(pair).or_insert((rank, joined));
        }
        table
    }

    fn intern(&mut self, symbol: &str) -> u32 {
        let next = self.symbols.len() as u32;
        *self.symbols.entry(symbol.to_owned()).or_insert(next)
    }

    /// The pieces of a word, without marks: again and again the earliest learned merge that applies, everywhere it
    /// applies, from left to right.
    pub(super) fn split(&self, word: &str) -> Vec<String> {
        let marked = format!("{word}{END_OF_WORD}");
        let mut pieces = self.characters(word, &marked);
        while let Some((pair, joined)) = self.first_merge(&pieces) {
            merge(&mut pieces, pair, joined);
        }
        let ends = pieces.iter().skip(1).map(|piece| piece.start).chain([word.len()]);
        pieces
            .iter()
            .zip(ends)
            .filter_map(|(piece, end)| word.get(piece.start..end))
            .map(str::to_owned)
            .collect()
    }

    fn characters(&self, word: &str, marked: &str) -> Vec<Piece> {
        let starts = word.char_indices().map(|(start, _)| start);
        let ends = word.char_indices().skip(1).map(|(start, _)| start).chain([marked.len()]);
        starts
            .zip(ends)
            .map(|(start, end)| {
                let symbol = marked.get(start..end).and_then(|text| self.symbols.get(text)).copied();
                Piece { start, symbol }
            })
            .collect()
    }

    fn first_merge(&self, pieces: &[Piece]) -> Option<((u32, u32), u32)> {
        pieces
            .iter()
            .zip(pieces.iter().skip(1))
            .filter_map(|(left, right)| {
                let pair = (left.symbol?, right.symbol?);
                self.merges.get(&pair).map(|&(rank, joined)| (rank, pair, joined))
            })
            .min()
            .map(|(_, pair, joined)| (pair, joined))
    }
}

/// Joins every occurrence of the pair that does not overlap an earlier one.
fn merge(pieces: &mut Vec<Piece>, (left, right): (u32, u32), joined: u32) {
    let mut merged: Vec<Piece> = Vec::with_capacity(pieces.len());
    let mut open = None;
    for &piece in pieces.iter() {
        match (open.take(), merged.last_mut()) {
            (Some(()), Some(last)) if piece.symbol == Some(right) => last.symbol = Some(joined),
            _ => {
                merged.push(piece);
                open = (piece.symbol == Some(left)).then_some(());
            }
        }
    }
    *pieces = merged;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(merges: &[(&str, &str)]) -> MergeTable {
        MergeTable::new(&merges.iter().map(|&(a, b)| (a.to_owned(), b.to_owned())).collect::<Vec<_>>())
    }

    #[test]
    fn overlapping_pairs_merge_from_the_left() {
        assert_eq!(table(&[("x", "x")]).split("xxxxxy"), ["xx", "xx", "x", "y"]);
        // The last x is the symbol `x</w>`, another one.
        assert_eq!(table(&[("x", "x")]).split("xxx"), ["xx", "x"]);
    }

    #[test]
    fn rank_decides_and_the_first_of_a_doubled_merge_counts() {
        assert_eq!(table(&[("b", "c</w>"), ("a", "b"), ("b", "c</w>")]).split("abc"), ["a", "bc"]);
        assert_eq!(table(&[("a", "b"), ("b", "c</w>")]).split("abc"), ["ab", "c"]);
    }

    #[test]
    fn unknown_characters_stay_alone() {
        assert_eq!(table(&[("a", "b</w>")]).split("日é"), ["日", "é"]);
        assert_eq!(table(&[("a", "b</w>")]).split("é"), ["é"]);
    }
}
