//! The first two dimensions exchanged.

use crate::element::Element;
use crate::error::TensorError;
use crate::{Result, Shape, Tape, Tensor, Var};

/// `[a, b, width]` to `[b, a, width]`: time-major to batch-major and back.
///
/// # Errors
/// Where there are not three dimensions.
pub fn transpose_leading<T: Element>(tape: &Tape<T>, x: &Var<T>) -> Result<Var<T>> {
    let &[a, b, width] = x.shape().sizes() else {
        let right = Shape::new(&[0, 0, 0]);
        return Err(TensorError::ShapeMismatch { op: "transpose_leading", left: x.shape(), right });
    };
    let y = Tensor::build([b, a, width], |out| exchange(x.value().values(), out, a, b, width));
    if !tape.needs_gradient(&[x]) {
        return Ok(Var::constant(y));
    }
    let x = x.clone();
    let [y] = tape.record([y], move |_, outputs, gradients| match outputs {
        [Some(dy)] => {
            gradients.add(&x, &Tensor::build([a, b, width], |dx| exchange(dy.values(), dx, b, a, width)))
        }
        _ => Ok(()),
    });
    Ok(y)
}

fn exchange<T: Element>(from: &[T], to: &mut [T], a: usize, b: usize, width: usize) {
    for i in 0..a {
        for j in 0..b {
            to[(j * a + i) * width..][..width].copy_from_slice(&from[(i * b + j) * width..][..width]);
        }
    }
}
