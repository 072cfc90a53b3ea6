//! A range of the last dimension.

use std::ops::Range;

use crate::element::Element;
use crate::error::TensorError;
use crate::{Result, Tape, Tensor, Var};

/// The columns `range` of `x` seen as `[rows, width]`.
///
/// # Errors
/// Where the range ends outside.
pub fn slice_last<T: Element>(tape: &Tape<T>, x: &Var<T>, range: Range<usize>) -> Result<Var<T>> {
    let width = x.shape().last();
    if range.end > width || range.start > range.end {
        return Err(TensorError::Index { op: "slice_last", index: range.end, limit: width + 1 });
    }
    let part = range.len();
    let y = Tensor::build(x.shape().with_last(part), |out| {
        for (to, from) in out.chunks_exact_mut(part.max(1)).zip(x.value().values().chunks_exact(width.max(1)))
        {
            to.copy_from_slice(&from[range.clone()]);
        }
    });
    if !tape.needs_gradient(&[x]) {
        return Ok(Var::constant(y));
    }
    let x = x.clone();
    let [y] = tape.record([y], move |_, outputs, gradients| {
        if let [Some(dy)] = outputs {
            gradients.accumulate(&x, |dx| {
                for (dx, dy) in dx.chunks_exact_mut(width.max(1)).zip(dy.values().chunks_exact(part.max(1))) {
                    T::add_assign(&mut dx[range.clone()], dy);
                }
            });
        }
        Ok(())
    });
    Ok(y)
}
