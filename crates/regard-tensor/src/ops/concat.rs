//! Arrays side by side along the last dimension.

use crate::element::Element;
use crate::error::TensorError;
use crate::{List, Result, Tape, Tensor, Var};

/// The parts, all of as many rows, side by side: `[rows, a]` and `[rows, b]` give `[rows, a + b]`.
///
/// # Errors
/// Where the parts differ in more than the last dimension, or there is none.
pub fn concat<T: Element>(tape: &Tape<T>, parts: &[&Var<T>]) -> Result<Var<T>> {
    let first = parts.first().ok_or(TensorError::Index { op: "concat", index: 0, limit: 0 })?.shape();
    for part in parts {
        super::expect_shape("concat", first.with_last(1), part.shape().with_last(1))?;
    }
    let width: usize = parts.iter().map(|part| part.shape().last()).sum();
    let y = Tensor::build(first.with_last(width), |out| {
        let mut start = 0;
        for part in parts {
            let size = part.shape().last();
            for (row, values) in
                out.chunks_exact_mut(width.max(1)).zip(part.value().values().chunks_exact(size.max(1)))
            {
                row[start..start + size].copy_from_slice(values);
            }
            start += size;
        }
    });
    if !tape.needs_gradient(parts) {
        return Ok(Var::constant(y));
    }
    let parts: List<_> = parts.iter().map(|&part| part.clone()).collect();
    let [y] = tape.record([y], move |_, outputs, gradients| {
        let [Some(dy)] = outputs else { return Ok(()) };
        let mut start = 0;
        for part in &parts {
            let size = part.shape().last();
            gradients.accumulate(part, |dx| {
                for (dx, dy) in dx.chunks_exact_mut(size.max(1)).zip(dy.values().chunks_exact(width.max(1))) {
                    T::add_assign(dx, &dy[start..start + size]);
                }
            });
            start += size;
        }
        Ok(())
    });
    Ok(y)
}
