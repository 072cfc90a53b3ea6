//! The contexts of many heads at once (Vaswani et al. 2017).

use super::expect_shape;
use super::heads::Heads;
use crate::element::Element;
use crate::{Result, Tape, Var};

/// `c_hi = Σ_j w_hij · v_hsj` for each head `h` and row `i`, which reads sentence `s = sentences[i]`.
///
/// `weights` is `[heads, rows, positions]`, `values` is `[sentences, positions, heads · width]`; the result is
/// `[rows, heads · width]`, the heads side by side. Only the first `lengths[s]` positions are read.
///
/// # Errors
/// Where the sizes do not fit or a row names no sentence.
pub fn head_contexts<T: Element>(
    tape: &Tape<T>,
    weights: &Var<T>,
    values: &Var<T>,
    sentences: &[usize],
    lengths: &[usize],
) -> Result<Var<T>> {
    let (heads, rows) = (weights.shape().first(), weights.shape().inner());
    let shape = Heads::new("head_contexts", heads, rows, values.shape(), sentences, lengths)?;
    expect_shape("head_contexts", weights.shape(), shape.scores_shape())?;
    let contexts = shape.contexts(tape.threads(), weights.value().values(), values.value().values(), T::ONE);
    if !tape.needs_gradient(&[weights, values]) {
        return Ok(Var::constant(contexts));
    }
    let (weights, values) = (weights.clone(), values.clone());
    let [contexts] = tape.record([contexts], move |threads, outputs, gradients| {
        let [Some(dc)] = outputs else { return Ok(()) };
        if weights.has_gradient() {
            gradients.add(&weights, &shape.scores(threads, dc.values(), values.value().values(), T::ONE))?;
        }
        gradients.accumulate(&values, |dv| {
            shape.add_to_memory(threads, weights.value().values(), dc.values(), T::ONE, dv);
        });
        Ok(())
    });
    Ok(contexts)
}
