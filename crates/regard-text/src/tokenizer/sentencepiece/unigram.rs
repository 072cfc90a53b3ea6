//! The best segmentation under a unigram language model.
//!
//! Kudo, "Subword Regularization: Improving Neural Network Translation Models with Multiple Subword Candidates", ACL
//! 2018: the score of a segmentation is the sum of the log-probabilities of its pieces. The sums are made in f32, left
//! to right, and the first of equal ones is kept, since the choice between near-equal segmentations must be
//! SentencePiece's.

use super::Segment;
use super::pieces::{PieceKind, Pieces};

/// How much less than the worst piece an unknown character scores.
const UNKNOWN_PENALTY: f32 = 10.0;
/// What a user-defined symbol scores for each unit of its length after the first: better than any log-probability.
const USER_DEFINED_BONUS: f64 = 0.1;

/// The score of what is no piece.
#[derive(Clone, Debug)]
pub(super) struct Unigram {
    unknown_score: f32,
}

/// The best path to a place in the text: its score, and its last piece.
#[derive(Clone, Copy)]
struct Best {
    score: f32,
    start: usize,
    id: u32,
}

/// The start of a path that does not exist.
const NOWHERE: usize = usize::MAX;

impl Best {
    fn improve(&mut self, score: f32, start: usize, id: u32) {
        if self.start == NOWHERE || score > self.score {
            *self = Self { score, start, id };
        }
    }
}

impl Unigram {
    pub(super) fn new(pieces: &Pieces) -> Self {
        let min_score = pieces.normal_scores().fold(f32::MAX, f32::min);
        Self { unknown_score: min_score - UNKNOWN_PENALTY }
    }

    /// The score of an unknown character.
    pub(super) fn unknown_score(&self) -> f32 {
        self.unknown_score
    }

    /// The score of a piece; its `length` counts for a user-defined symbol (bytes for the best segmentation, characters
    /// for a lattice, as in SentencePiece). `None` for one that must not be used.
    #[inline]
    pub(super) fn score(pieces: &Pieces, id: u32, length: usize) -> Option<f32> {
        match pieces.kind(id)? {
            PieceKind::Unused => None,
            PieceKind::UserDefined => Some((length as f64 * USER_DEFINED_BONUS - USER_DEFINED_BONUS) as f32),
            _ => Some(pieces.score(id)),
        }
    }

    /// Cuts a normalised text.
    pub(super) fn segment(&self, pieces: &Pieces, text: &str) -> Vec<Segment> {
        let bytes = text.as_bytes();
        let mut best = vec![Best { score: 0.0, start: NOWHERE, id: 0 }; bytes.len() + 1];
        let trie = pieces.trie();
        for (start, character) in text.char_indices() {
            // `start` is a place of the text, and no piece that is found goes beyond its end.
            let before = best[start].score;
            let single = start + character.len_utf8();
            let mut covered = false;
            let mut node = trie.root();
            for (end, &byte) in (start + 1..).zip(&bytes[start..]) {
                let Some((next, id)) = trie.step(node, byte) else { break };
                node = next;
                let Some(id) = id else { continue };
                let Some(score) = Self::score(pieces, id, end - start) else { continue };
                best[end].improve(score + before, start, id);
                covered |= end == single;
            }
            if !covered {
                best[single].improve(self.unknown_score + before, start, pieces.unknown());
            }
        }
        let mut segments = Vec::with_capacity(bytes.len() / 3);
        let mut end = bytes.len();
        while end > 0 {
            // Every place that a path goes through was reached from an earlier one.
            let last = best[end];
            segments.push(Segment { end, id: last.id });
            end = last.start;
        }
        segments.reverse();
        segments
    }
}
