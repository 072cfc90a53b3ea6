//! tanh and the logistic function, element by element.

use crate::element::Element;
use crate::{Result, Tape, Tensor, Var};

/// `tanh(x)`.
///
/// # Errors
/// None at present; the type is that of every operation.
pub fn tanh<T: Element>(tape: &Tape<T>, x: &Var<T>) -> Result<Var<T>> {
    Ok(apply(tape, x, T::tanh_slice, |y| T::ONE - y * y))
}

/// `1 / (1 + e^-x)`.
///
/// # Errors
/// None at present; the type is that of every operation.
pub fn sigmoid<T: Element>(tape: &Tape<T>, x: &Var<T>) -> Result<Var<T>> {
    Ok(apply(tape, x, T::sigmoid_slice, |y| y * (T::ONE - y)))
}

/// A function whose derivative is known from its own value.
fn apply<T: Element>(
    tape: &Tape<T>,
    x: &Var<T>,
    function: fn(&mut [T]),
    derivative: impl Fn(T) -> T + 'static,
) -> Var<T> {
    let y = Tensor::build(x.shape(), |out| {
        out.copy_from_slice(x.value().values());
        let part = out.len().div_ceil(tape.threads().count()).next_multiple_of(64).max(super::SERIAL);
        tape.threads().chunks_mut(out, part, |_, chunk| function(chunk));
    });
    if !tape.needs_gradient(&[x]) {
        return Var::constant(y);
    }
    let (x, kept) = (x.clone(), y.clone());
    let [y] = tape.record([y], move |_, outputs, gradients| {
        if let [Some(dy)] = outputs {
            gradients.accumulate(&x, |dx| {
                for ((dx, &dy), &y) in dx.iter_mut().zip(dy.values()).zip(kept.values()) {
                    *dx = *dx + dy * derivative(y);
                }
            });
        }
        Ok(())
    });
    y
}
