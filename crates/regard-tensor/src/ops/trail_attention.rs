//! Scores, softmax and contexts of many heads in one go.

use super::masked_softmax::{Span, masked_softmax};
use super::trail_contexts::trail_contexts;
use super::trail_scores::trail_scores;
use super::trails::{Lookup, Trails, tensors};
use crate::element::Element;
use crate::{List, Result, Tape, Tensor, Var};

/// The whole-row spans of weights along trails, head after head, as [`masked_softmax`] takes them.
#[must_use]
pub fn trail_spans(heads: usize, trails: &Trails) -> List<Span> {
    let spans: List<Span> = (0..trails.rows()).map(|row| Span { start: 0, end: trails.len(row) }).collect();
    spans.repeat(heads)
}

/// [`trail_scores`], [`masked_softmax`] and [`trail_contexts`] one after the other, to the bit; scores and weights are kept
/// only where a gradient is wanted. Keys and values lie in blocks of the same rows.
///
/// # Errors
/// As there.
pub fn trail_attention<T: Element>(
    tape: &Tape<T>,
    queries: &Var<T>,
    (keys, values): (&[&Var<T>], &[&Var<T>]),
    heads: usize,
    factor: T,
    trails: &Trails,
) -> Result<Var<T>> {
    if tape.needs_gradient_of(keys.iter().chain(values).copied().chain([queries])) {
        let scores = trail_scores(tape, queries, keys, heads, factor, trails)?;
        let weights = masked_softmax(tape, &scores, &trail_spans(heads, trails))?;
        return trail_contexts(tape, &weights, values, trails);
    }
    let lookup = Lookup::new("trail_attention", queries.shape(), keys, heads, trails)?;
    Lookup::new("trail_attention", queries.shape(), values, heads, trails)?;
    let (keys, values) = (tensors(keys), tensors(values));
    Ok(Var::constant(Tensor::build([lookup.rows, lookup.columns], |out| {
        lookup.for_each_row(tape.threads(), out, lookup.columns, |row, read, out| {
            let places = trails.places(row);
            read.gather(&keys, places);
            read.weights.resize(heads * places.len(), T::ZERO);
            T::head_scores_row(queries.value().row(row), &read.rows, heads, factor, &mut read.weights);
            read.weights.chunks_exact_mut(places.len().max(1)).for_each(T::softmax_row);
            read.gather(&values, places);
            T::head_contexts_row(&read.weights, &read.rows, heads, out);
        });
    })))
}
