//! The operations, one a file: forward beside backward.
//!
//! Every operation takes the tape that it is recorded on and returns its outputs; a backward pass exists for an output
//! only where some input has a gradient. Shapes are checked first; an error names the operation and the shapes.

mod activation;
mod add;
mod additive_scores;
mod attention_shape;
mod carry;
mod concat;
mod cross_entropy;
mod dot_scores;
mod dropout;
mod embedding;
mod gaussian_window;
mod gru_cell;
mod head_contexts;
mod head_scores;
mod heads;
mod kullback_leibler;
mod layer_norm;
mod linear;
mod link_cross_entropy;
mod log_softmax;
mod lstm_cell;
mod masked_softmax;
mod maxout;
mod mul;
mod reshape;
mod rms_norm;
mod rotary;
mod scale;
mod select_rows;
mod slice;
mod slice_last;
mod stack;
mod sum;
mod total_variation;
mod trail_attention;
mod trail_contexts;
mod trail_scores;
mod trails;
mod transpose;
mod weighted_sum;

pub use activation::{Function, gelu, relu, sigmoid, swish, tanh};
pub use add::add;
pub use additive_scores::additive_scores;
pub use carry::carry;
pub use concat::concat;
pub use cross_entropy::{CrossEntropy, Targets, linear_cross_entropy};
pub use dot_scores::dot_scores;
pub use dropout::{DropoutMask, dropout};
pub use embedding::embedding;
pub use gaussian_window::gaussian_window;
pub use gru_cell::gru_cell;
pub use head_contexts::head_contexts;
pub use head_scores::head_scores;
pub use kullback_leibler::kullback_leibler;
pub use layer_norm::layer_norm;
pub use linear::{linear, linear_sum, linear_then};
pub use link_cross_entropy::{Link, link_cross_entropy};
pub use log_softmax::log_softmax;
pub use lstm_cell::lstm_cell;
pub use masked_softmax::{Span, masked_softmax};
pub use maxout::maxout;
pub use mul::mul;
pub use reshape::reshape;
pub use rms_norm::rms_norm;
pub use rotary::rotary;
pub use scale::{affine, scale};
pub use select_rows::select_rows;
pub use slice::slice;
pub use slice_last::slice_last;
pub use stack::stack;
pub use sum::sum;
pub use total_variation::total_variation;
pub use trail_attention::{trail_attention, trail_spans};
pub use trail_contexts::trail_contexts;
pub use trail_scores::trail_scores;
pub use trails::Trails;
pub use transpose::transpose_leading;
pub use weighted_sum::weighted_sum;

use crate::element::Element;
use crate::error::{Result, TensorError};
use crate::{Shape, Threads, Var};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Work below this many values stays on the caller's thread.
pub(crate) const SERIAL: usize = 16 * 1024;

fn same_shape<T: Element>(op: &'static str, left: &Var<T>, right: &Var<T>) -> Result<()> {
    expect_shape(op, left.shape(), right.shape())
}

/// Says where there is not one entry a row.
fn expect_rows(op: &'static str, found: usize, rows: usize) -> Result<()> {
    if found == rows { Ok(()) } else { Err(TensorError::Index { op, index: found, limit: rows }) }
}

fn expect_shape(op: &'static str, left: Shape, right: Shape) -> Result<()> {
    if left == right { Ok(()) } else { Err(TensorError::ShapeMismatch { op, left, right }) }
}

/// Calls `work(first, part)` for parts of `out` that begin with element `first`, on several threads where it is long.
pub(crate) fn for_parts_of<T: Send>(threads: &Threads, out: &mut [T], work: impl Fn(usize, &mut [T]) + Sync) {
    let size = out.len().div_ceil(threads.count()).next_multiple_of(64).max(SERIAL);
    threads.chunks_mut(out, size, |index, part| work(index * size, part));
}

/// Calls `work(columns, sums)` for ranges of the columns of `rows` that are summed up in `sums`, on several threads where
/// there are many: each sum is that of one thread, in the order of the rows.
fn for_columns_of<T: Element>(
    threads: &Threads,
    rows: &[T],
    sums: &mut [T],
    work: impl Fn(Range<usize>, &mut [T]) + Sync,
) {
    let parts = if rows.len() < SERIAL { 1 } else { threads.count() };
    let size = sums.len().div_ceil(parts).next_multiple_of(16);
    threads.chunks_mut(sums, size, |index, sums| work(index * size..index * size + sums.len(), sums));
}

/// `sums[column] += Σ rows[·, column]`.
fn add_column_sums<T: Element>(threads: &Threads, rows: &[T], sums: &mut [T]) {
    let width = sums.len().max(1);
    for_columns_of(threads, rows, sums, |columns, sums| {
        if sums.len() == width {
            return T::add_column_sums(rows, sums);
        }
        rows.chunks_exact(width).for_each(|row| T::add_assign(sums, &row[columns.clone()]));
    });
}

/// Items that a thread takes at a time at most.
const GRASP: usize = 16;

/// Calls `work` for each item (a row, of about `cost` elements' work), on several threads where there is enough to do: whoever
/// is free takes the next few.
pub(crate) fn for_items<P: Send>(
    threads: &Threads,
    items: impl ExactSizeIterator<Item = P> + Send,
    cost: usize,
    work: impl Fn(P) + Sync,
) {
    let count = items.len();
    if threads.count() == 1 || count * cost < SERIAL {
        items.for_each(work);
        return;
    }
    let grasp = (count / (4 * threads.count())).clamp(1, GRASP);
    let left = Mutex::new(items);
    threads.for_each(threads.count().min(count), |_| {
        loop {
            let taken = next_items(&left, grasp);
            if taken[0].is_none() {
                return;
            }
            taken.into_iter().flatten().for_each(&work);
        }
    });
}

fn next_items<P>(left: &Mutex<impl Iterator<Item = P>>, count: usize) -> [Option<P>; GRASP] {
    let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
    std::array::from_fn(|place| if place < count { left.next() } else { None })
}

/// Calls `work(row, values of the row)` for each row of `out`, on several threads where the `cost` in elements is large.
fn for_rows_of<T: Element>(
    threads: &Threads,
    cost: usize,
    out: &mut [T],
    width: usize,
    work: impl Fn(usize, &mut [T]) + Sync,
) {
    let width = width.max(1);
    let parts = if cost < SERIAL { 1 } else { threads.count() };
    let size = (out.len() / width).div_ceil(parts);
    threads.chunks_mut(out, size * width, |part, out| {
        out.chunks_exact_mut(width).enumerate().for_each(|(row, out)| work(part * size + row, out));
    });
}
