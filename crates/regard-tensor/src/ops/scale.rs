//! A multiple of an array, and an affine function of it.

use crate::element::Element;
use crate::{Result, Tape, Tensor, Var};

/// `factor · x`.
///
/// # Errors
/// None at present; the type is that of every operation.
pub fn scale<T: Element>(tape: &Tape<T>, x: &Var<T>, factor: T) -> Result<Var<T>> {
    affine(tape, x, factor, T::ZERO)
}

/// `factor · x + offset`.
///
/// # Errors
/// None at present; the type is that of every operation.
pub fn affine<T: Element>(tape: &Tape<T>, x: &Var<T>, factor: T, offset: T) -> Result<Var<T>> {
    let y = Tensor::build(x.shape(), |out| {
        for (y, &x) in out.iter_mut().zip(x.value().values()) {
            *y = x * factor + offset;
        }
    });
    if !tape.needs_gradient(&[x]) {
        return Ok(Var::constant(y));
    }
    let x = x.clone();
    let [y] = tape.record([y], move |_, outputs, gradients| {
        if let [Some(dy)] = outputs {
            gradients.accumulate(&x, |dx| T::axpy(factor, dy.values(), dx));
        }
        Ok(())
    });
    Ok(y)
}
