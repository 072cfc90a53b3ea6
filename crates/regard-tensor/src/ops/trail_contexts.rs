//! The contexts of many heads from values that lie in different places.

use super::expect_shape;
use super::trails::{Lookup, Trails, tensors};
use crate::element::Element;
use crate::error::TensorError;
use crate::{Result, Tape, Var};

/// `c_hi = Σ_j w_hij · v_hj` for each head `h` and row `i`, over the positions `j` of its trail: what
/// [`head_contexts`](super::head_contexts) computes on a memory that was copied together.
///
/// `weights` is `[heads, rows, positions]` with the positions of the longest trail, each of the `blocks`
/// `[…, heads · width]`; the result is `[rows, heads · width]`, the heads side by side.
///
/// # Errors
/// Where the sizes do not fit or a trail leads out of its block.
pub fn trail_contexts<T: Element>(
    tape: &Tape<T>,
    weights: &Var<T>,
    blocks: &[&Var<T>],
    trails: &Trails,
) -> Result<Var<T>> {
    let first = blocks.first().ok_or(TensorError::Index { op: "trail_contexts", index: 0, limit: 0 })?;
    let rows = [trails.rows(), first.shape().last()].into();
    let lookup = Lookup::new("trail_contexts", rows, blocks, weights.shape().first(), trails)?;
    expect_shape("trail_contexts", weights.shape(), lookup.weights_shape())?;
    let contexts = lookup.contexts(tape.threads(), weights.value(), &tensors(blocks), trails);
    if !tape.needs_gradient_of(blocks.iter().copied().chain([weights])) {
        return Ok(Var::constant(contexts));
    }
    let (weights, trails) = (weights.clone(), trails.clone());
    let blocks: Vec<Var<T>> = blocks.iter().copied().cloned().collect();
    let [contexts] = tape.record([contexts], move |threads, outputs, gradients| {
        let [Some(dc)] = outputs else { return Ok(()) };
        if weights.has_gradient() {
            let values: Vec<&Var<T>> = blocks.iter().collect();
            gradients.add(&weights, &lookup.scores(threads, dc, &tensors(&values), &trails, T::ONE))?;
        }
        for (block, values) in blocks.iter().enumerate() {
            gradients.accumulate(values, |dv| {
                lookup.add_to_block((weights.value(), dc), T::ONE, (&trails, block), dv);
            });
        }
        Ok(())
    });
    Ok(contexts)
}
