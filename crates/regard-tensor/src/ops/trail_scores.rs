//! The scores of many heads on keys that lie in different places.

use super::expect_shape;
use super::trails::{Lookup, Trails, tensors};
use crate::element::Element;
use crate::{Result, Tape, Var};

/// `e_hij = factor · q_hi · k_hj` for each head `h`, row `i` and position `j` of its trail: what
/// [`head_scores`](super::head_scores) computes on a memory that was copied together.
///
/// `queries` is `[rows, heads · width]`, each of the `blocks` `[…, heads · width]`; the result is `[heads, rows, positions]`
/// with the positions of the longest trail, zero past the end of a row's own.
///
/// # Errors
/// Where the sizes do not fit or a trail leads out of its block.
pub fn trail_scores<T: Element>(
    tape: &Tape<T>,
    queries: &Var<T>,
    blocks: &[&Var<T>],
    heads: usize,
    factor: T,
    trails: &Trails,
) -> Result<Var<T>> {
    let lookup = Lookup::new("trail_scores", queries.shape(), blocks, heads, trails)?;
    let scores = lookup.scores(tape.threads(), queries.value(), &tensors(blocks), trails, factor);
    if !tape.needs_gradient_of(blocks.iter().copied().chain([queries])) {
        return Ok(Var::constant(scores));
    }
    let (queries, trails) = (queries.clone(), trails.clone());
    let blocks: Vec<Var<T>> = blocks.iter().copied().cloned().collect();
    let [scores] = tape.record([scores], move |threads, outputs, gradients| {
        let [Some(ds)] = outputs else { return Ok(()) };
        expect_shape("trail_scores", ds.shape(), lookup.weights_shape())?;
        if queries.has_gradient() {
            let keys: Vec<&Var<T>> = blocks.iter().collect();
            let mut dq = lookup.contexts(threads, ds, &tensors(&keys), &trails);
            T::scale(dq.values_mut(), factor);
            gradients.add(&queries, &dq)?;
        }
        for (block, keys) in blocks.iter().enumerate() {
            gradients.accumulate(keys, |dk| {
                lookup.add_to_block((ds, queries.value()), factor, (&trails, block), dk);
            });
        }
        Ok(())
    });
    Ok(scores)
}
