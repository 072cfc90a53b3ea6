//! The two kinds of models that need no search: every character, or every word, is a piece.

use super::Segment;
use super::double_array::DoubleArray;
use super::normalization::SPACE;
use super::pieces::Pieces;

/// One segment a character; a user-defined symbol counts as one.
pub(super) fn characters(pieces: &Pieces, user_defined: Option<&DoubleArray>, text: &str) -> Vec<Segment> {
    let mut start = 0;
    let mut ends = Vec::with_capacity(text.len());
    while let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) {
        let symbol = user_defined.and_then(|symbols| symbols.longest_prefix(rest));
        let character = rest.chars().next().map_or(1, char::len_utf8);
        start += symbol.map_or(character, |(length, _)| length);
        ends.push(start);
    }
    numbered(pieces, text, ends)
}

/// One segment a word, with its mark `▁` in front of it.
pub(super) fn words(pieces: &Pieces, text: &str) -> Vec<Segment> {
    let mut ends: Vec<usize> = text.match_indices(SPACE).map(|(at, _)| at).filter(|&at| at > 0).collect();
    ends.push(text.len());
    numbered(pieces, text, ends)
}

fn numbered(pieces: &Pieces, text: &str, ends: Vec<usize>) -> Vec<Segment> {
    let mut start = 0;
    let segment = |end| {
        let piece = text.get(start..end).unwrap_or_default();
        start = end;
        Segment { end, id: pieces.trie().get(piece.as_bytes()).unwrap_or(pieces.unknown()) }
    };
    ends.into_iter().map(segment).collect()
}
