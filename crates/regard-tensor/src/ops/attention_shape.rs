//! What the attention operations share: rows that read sentences of different lengths.

use std::ops::Range;

use super::for_items;
use crate::element::Element;
use crate::error::TensorError;
use crate::{Result, Shape, Threads};

/// The sizes of an attention step: `rows` queries read `[sentences, positions, width]`.
#[derive(Clone, Copy)]
pub(super) struct AttentionShape {
    pub(super) rows: usize,
    pub(super) positions: usize,
    pub(super) width: usize,
}

impl AttentionShape {
    /// Checks that each row names a sentence and that each sentence's length lies within the padding.
    pub(super) fn new(
        op: &'static str,
        rows: Shape,
        memory: Shape,
        sentences: &[usize],
        lengths: &[usize],
    ) -> Result<Self> {
        let &[count, positions, width] = memory.sizes() else {
            return Err(TensorError::ShapeMismatch { op, left: rows, right: memory });
        };
        if rows.rows() != sentences.len() || lengths.len() != count {
            return Err(TensorError::ShapeMismatch { op, left: rows, right: memory });
        }
        if let Some(&index) = sentences.iter().find(|&&sentence| sentence >= count) {
            return Err(TensorError::Index { op, index, limit: count });
        }
        if let Some(&index) = lengths.iter().find(|&&length| length > positions) {
            return Err(TensorError::Index { op, index, limit: positions + 1 });
        }
        Ok(Self { rows: sentences.len(), positions, width })
    }

    /// Where the states of a sentence lie in its memory, without the padding.
    pub(super) fn range(&self, sentence: usize, lengths: &[usize]) -> Range<usize> {
        let start = sentence * self.positions * self.width;
        start..start + lengths[sentence] * self.width
    }

    /// Calls `work(row, block of the row's sentence, row of a, row of b)` for each row: sentences are shared out over
    /// threads where each is read by one row, else all is done in order, so that each sum has one order.
    pub(super) fn for_each_row<T: Element>(
        &self,
        threads: &Threads,
        sentences: &[usize],
        [blocks, a, b]: [&mut [T]; 3],
        work: impl Fn(usize, &mut [T], &mut [T], &mut [T]) + Sync,
    ) {
        let block = (self.positions * self.width).max(1);
        let (width_a, width_b) = ((a.len() / self.rows.max(1)).max(1), (b.len() / self.rows.max(1)).max(1));
        let one_to_one =
            blocks.len() == self.rows * block && sentences.iter().enumerate().all(|(row, &s)| row == s);
        if !one_to_one {
            for (row, (a, b)) in a.chunks_exact_mut(width_a).zip(b.chunks_exact_mut(width_b)).enumerate() {
                work(row, &mut blocks[sentences[row] * block..][..block], a, b);
            }
            return;
        }
        let rows =
            blocks.chunks_exact_mut(block).zip(a.chunks_exact_mut(width_a)).zip(b.chunks_exact_mut(width_b));
        for_items(threads, rows.enumerate(), block, |(row, ((block, a), b))| work(row, block, a, b));
    }
}
