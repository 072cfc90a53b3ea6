//! The scores of many heads at once (Vaswani et al. 2017).

use super::expect_shape;
use super::heads::Heads;
use crate::element::Element;
use crate::{Result, Tape, Var};

/// `e_hij = factor · q_hi · k_hsj` for each head `h` and row `i`, which reads sentence `s = sentences[i]`.
///
/// `queries` is `[rows, heads · width]`, `keys` is `[sentences, positions, heads · width]`; the result is
/// `[heads, rows, positions]`, zero past the end of the sentence (the first `lengths[s]` positions count). Neighbouring
/// rows of one sentence are multiplied together.
///
/// # Errors
/// Where the sizes do not fit or a row names no sentence.
pub fn head_scores<T: Element>(
    tape: &Tape<T>,
    (queries, keys): (&Var<T>, &Var<T>),
    heads: usize,
    factor: T,
    sentences: &[usize],
    lengths: &[usize],
) -> Result<Var<T>> {
    let shape = Heads::new("head_scores", heads, queries.shape(), keys.shape(), sentences, lengths)?;
    expect_shape("head_scores", queries.shape(), queries.shape().with_last(keys.shape().last()))?;
    let scores = shape.scores(tape.threads(), queries.value().values(), keys.value().values(), factor);
    if !tape.needs_gradient(&[queries, keys]) {
        return Ok(Var::constant(scores));
    }
    let (queries, keys) = (queries.clone(), keys.clone());
    let [scores] = tape.record([scores], move |threads, outputs, gradients| {
        let [Some(ds)] = outputs else { return Ok(()) };
        if queries.has_gradient() {
            gradients.add(&queries, &shape.contexts(threads, ds.values(), keys.value().values(), factor))?;
        }
        gradients.accumulate(&keys, |dk| {
            shape.add_to_memory(threads, ds.values(), queries.value().values(), factor, dk);
        });
        Ok(())
    });
    Ok(scores)
}
