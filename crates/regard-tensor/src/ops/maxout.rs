//! The larger of two neighbours (Goodfellow et al. 2013).

use crate::element::Element;
use crate::error::TensorError;
use crate::{Result, Tape, Tensor, Var};

/// `y_i = max(x_{2i}, x_{2i+1})`: `[rows, 2 · width]` to `[rows, width]`.
///
/// # Errors
/// Where the last dimension is odd.
pub fn maxout<T: Element>(tape: &Tape<T>, x: &Var<T>) -> Result<Var<T>> {
    let width = x.shape().last();
    if width % 2 == 1 {
        return Err(TensorError::Index { op: "maxout", index: width, limit: width });
    }
    let y = Tensor::build(x.shape().with_last(width / 2), |out| {
        for (y, pair) in out.iter_mut().zip(x.value().values().chunks_exact(2)) {
            *y = if pair[1] > pair[0] { pair[1] } else { pair[0] };
        }
    });
    if !tape.needs_gradient(&[x]) {
        return Ok(Var::constant(y));
    }
    let x = x.clone();
    let [y] = tape.record([y], move |_, outputs, gradients| {
        if let [Some(dy)] = outputs {
            gradients.accumulate(&x, |dx| {
                let pairs = dx.chunks_exact_mut(2).zip(x.value().values().chunks_exact(2));
                for ((dx, pair), &dy) in pairs.zip(dy.values()) {
                    let winner = usize::from(pair[1] > pair[0]);
                    dx[winner] = dx[winner] + dy;
                }
            });
        }
        Ok(())
    });
    Ok(y)
}
