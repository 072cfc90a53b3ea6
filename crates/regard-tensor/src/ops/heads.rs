//! What the multi-head operations share: rows that each read one sentence of a memory, a head a range of the columns.
//!
//! A sentence is read to its own length, and a product's sums run over its index alone, so that neither padding nor
//! company changes a bit.

use std::ops::Range;

use super::attention_shape::AttentionShape;
use super::for_items;
use crate::element::Element;
use crate::error::TensorError;
use crate::kernels::Packed;
use crate::{List, Result, Shape, Tensor, Threads};

/// The sizes of a multi-head lookup.
pub(super) struct Heads {
    /// How many heads.
    count: usize,
    /// Columns of a head.
    width: usize,
    rows: usize,
    positions: usize,
    runs: List<Run>,
}

/// Neighbouring rows that read the same sentence, and how far they read: one product for each head.
struct Run {
    rows: Range<usize>,
    sentence: usize,
    length: usize,
}

impl Heads {
    /// Checks that `rows` rows read sentences of a memory `[sentences, positions, heads · width]` within their padding.
    pub(super) fn new(
        op: &'static str,
        heads: usize,
        rows: Shape,
        memory: Shape,
        sentences: &[usize],
        lengths: &[usize],
    ) -> Result<Self> {
        let shape = AttentionShape::new(op, rows, memory, sentences, lengths)?;
        if heads == 0 || shape.width == 0 || !shape.width.is_multiple_of(heads) {
            return Err(TensorError::Index { op, index: shape.width, limit: heads });
        }
        let mut runs: List<Run> = List::default();
        for (row, &sentence) in sentences.iter().enumerate() {
            match runs.last_mut() {
                Some(run) if run.sentence == sentence => run.rows.end = row + 1,
                _ => runs.push(Run { rows: row..row + 1, sentence, length: lengths[sentence] }),
            }
        }
        let width = shape.width / heads;
        Ok(Self { count: heads, width, rows: shape.rows, positions: shape.positions, runs })
    }

    /// `[heads, rows, positions]`.
    pub(super) fn scores_shape(&self) -> Shape {
        [self.count, self.rows, self.positions].into()
    }

    /// `factor · q · kᵀ` for each head: `q` is `[rows, columns]`, `k` the memory; zero past a sentence's end.
    pub(super) fn scores<T: Element>(&self, threads: &Threads, q: &[T], k: &[T], factor: T) -> Tensor<T> {
        Tensor::build(self.scores_shape(), |mut out| {
            let work = (0..self.count * self.runs.len()).map(|place| {
                let (head, run) = (place / self.runs.len(), &self.runs[place % self.runs.len()]);
                (head, run, out.split_off_mut(..run.rows.len() * self.positions).unwrap_or_default())
            });
            for_items(threads, work, self.cost() / self.count, |(head, run, out)| {
                let q = self.head_of_rows(q, run, head);
                let packed = Packed::from_transposed(
                    &Threads::single(),
                    self.head_of_memory(k, run, head).values(),
                    run.length,
                    self.width,
                );
                let scores = product(&q, &packed);
                put(&scores, out, self.positions, 0..run.length, factor);
                for row in out.chunks_exact_mut(self.positions.max(1)) {
                    row[run.length..].fill(T::ZERO);
                }
            });
        })
    }

    /// `factor · w · v` for each head, side by side: `w` is `[heads, rows, positions]`, `v` the memory.
    pub(super) fn contexts<T: Element>(&self, threads: &Threads, w: &[T], v: &[T], factor: T) -> Tensor<T> {
        let columns = self.count * self.width;
        Tensor::build([self.rows, columns], |mut out| {
            let work = self
                .runs
                .iter()
                .map(|run| (run, out.split_off_mut(..run.rows.len() * columns).unwrap_or_default()));
            for_items(threads, work, self.cost(), |(run, out)| {
                for head in 0..self.count {
                    let memory = self.head_of_memory(v, run, head);
                    let packed =
                        Packed::from_rows(&Threads::single(), memory.values(), run.length, self.width);
                    let contexts = product(&self.head_of_weights(w, run, head), &packed);
                    put(&contexts, out, columns, self.columns(head), factor);
                }
            });
        })
    }

    /// Adds `factor · wᵀ · q` of each head to a memory: the gradient that flows to what was read.
    pub(super) fn add_to_memory<T: Element>(
        &self,
        threads: &Threads,
        w: &[T],
        q: &[T],
        factor: T,
        memory: &mut [T],
    ) {
        let columns = self.count * self.width;
        let blocks = memory.chunks_exact_mut((self.positions * columns).max(1));
        for_items(threads, blocks.enumerate(), self.cost(), |(sentence, block)| {
            let readers = self.runs.iter().filter(|run| run.sentence == sentence);
            for (run, head) in readers.flat_map(|run| (0..self.count).map(move |head| (run, head))) {
                let (w, q) = (self.head_of_weights(w, run, head), self.head_of_rows(q, run, head));
                let mut sums = Tensor::build([run.length, self.width], |_| ());
                let segment = (w.values(), q.values(), run.rows.len());
                let (threads, into) = (Threads::single(), sums.values_mut());
                T::gemm_tn(&threads, &[segment], run.length, self.width, into, false);
                for (block, sums) in
                    block.chunks_exact_mut(columns).zip(sums.values().chunks_exact(self.width))
                {
                    T::axpy(factor, sums, &mut block[self.columns(head)]);
                }
            }
        });
    }

    /// About the work of a run, in elements.
    fn cost(&self) -> usize {
        self.rows.div_ceil(self.runs.len().max(1)) * self.positions * self.count * self.width
    }

    fn columns(&self, head: usize) -> Range<usize> {
        head * self.width..(head + 1) * self.width
    }

    fn head_of_rows<T: Element>(&self, x: &[T], run: &Run, head: usize) -> Tensor<T> {
        cut(x, self.count * self.width, run.rows.clone(), self.columns(head))
    }

    fn head_of_memory<T: Element>(&self, memory: &[T], run: &Run, head: usize) -> Tensor<T> {
        let first = run.sentence * self.positions;
        cut(memory, self.count * self.width, first..first + run.length, self.columns(head))
    }

    fn head_of_weights<T: Element>(&self, w: &[T], run: &Run, head: usize) -> Tensor<T> {
        let first = head * self.rows;
        cut(w, self.positions, first + run.rows.start..first + run.rows.end, 0..run.length)
    }
}

/// Some rows and columns of an array of `width` columns.
fn cut<T: Element>(x: &[T], width: usize, rows: Range<usize>, columns: Range<usize>) -> Tensor<T> {
    Tensor::build([rows.len(), columns.len()], |out| {
        let from = x[rows.start * width..rows.end * width].chunks_exact(width.max(1));
        for (out, from) in out.chunks_exact_mut(columns.len().max(1)).zip(from) {
            out.copy_from_slice(&from[columns.clone()]);
        }
    })
}

fn product<T: Element>(a: &Tensor<T>, b: &Packed<T>) -> Tensor<T> {
    Tensor::build([a.shape().rows(), b.n()], |out| {
        T::gemm(&Threads::single(), a.values(), a.shape().rows(), b, out, false, None);
    })
}

/// Writes `factor · x` into the columns of an array of `width` columns.
fn put<T: Element>(x: &Tensor<T>, out: &mut [T], width: usize, columns: Range<usize>, factor: T) {
    let rows = x.values().chunks_exact(columns.len().max(1));
    for (out, x) in out.chunks_exact_mut(width.max(1)).zip(rows) {
        for (out, &x) in out[columns.clone()].iter_mut().zip(x) {
            *out = factor * x;
        }
    }
}
