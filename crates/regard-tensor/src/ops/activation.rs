//! Functions of one number, element by element.

use super::for_parts_of;
use crate::element::Element;
use crate::{Result, Tape, Tensor, Var};

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// See [`tanh`].
    Tanh,
    /// See [`sigmoid`].
    Sigmoid,
    /// See [`relu`].
    Relu,
    /// See [`gelu`].
    Gelu,
    /// See [`swish`].
    Swish,
}

impl Function {
    /// The function of each element.
    ///
    /// # Errors
    /// None at present; the type is that of every operation.
    pub fn apply<T: Element>(self, tape: &Tape<T>, x: &Var<T>) -> Result<Var<T>> {
        match self {
            Self::Tanh => tanh(tape, x),
            Self::Sigmoid => sigmoid(tape, x),
            Self::Relu => relu(tape, x),
            Self::Gelu => gelu(tape, x),
            Self::Swish => swish(tape, x),
        }
    }

    /// The function of each number of a slice, in its place.
    pub(super) fn of_slice<T: Element>(self) -> fn(&mut [T]) {
        match self {
            Self::Tanh => T::tanh_slice,
            Self::Sigmoid => T::sigmoid_slice,
            Self::Relu => relu_slice,
            Self::Gelu => T::gelu_slice,
            Self::Swish => T::swish_slice,
        }
    }
}

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

/// `max(x, 0)`; its derivative at 0 is 0.
///
/// # Errors
/// None at present; the type is that of every operation.
pub fn relu<T: Element>(tape: &Tape<T>, x: &Var<T>) -> Result<Var<T>> {
    Ok(apply(tape, x, relu_slice, |y| if y > T::ZERO { T::ONE } else { T::ZERO }))
}

/// `x·Φ(x)`, Φ the normal distribution function: the exact form (Hendrycks & Gimpel 2016), `PyTorch`'s default.
///
/// # Errors
/// None at present; the type is that of every operation.
pub fn gelu<T: Element>(tape: &Tape<T>, x: &Var<T>) -> Result<Var<T>> {
    Ok(apply_of_input(tape, x, T::gelu_slice, T::gelu_backward_slice))
}

/// `x·σ(x)` (Ramachandran et al. 2017), `PyTorch`'s `SiLU`.
///
/// # Errors
/// None at present; the type is that of every operation.
pub fn swish<T: Element>(tape: &Tape<T>, x: &Var<T>) -> Result<Var<T>> {
    Ok(apply_of_input(tape, x, T::swish_slice, T::swish_backward_slice))
}

/// Numbers that are not numbers stay so.
fn relu_slice<T: Element>(x: &mut [T]) {
    for x in x {
        *x = if *x <= T::ZERO { T::ZERO } else { *x };
    }
}

/// A function whose derivative is known from its own value.
fn apply<T: Element>(
    tape: &Tape<T>,
    x: &Var<T>,
    function: fn(&mut [T]),
    derivative: impl Fn(T) -> T + Sync + 'static,
) -> Var<T> {
    let y = forward(tape, x, function);
    if !tape.needs_gradient(&[x]) {
        return Var::constant(y);
    }
    let (x, kept) = (x.clone(), y.clone());
    let [y] = tape.record([y], move |threads, outputs, gradients| {
        if let [Some(dy)] = outputs {
            gradients.update(&x, |dx, fresh| {
                for_parts_of(threads, dx, |first, dx| {
                    let values = dy.values()[first..].iter().zip(&kept.values()[first..]);
                    for (dx, (&dy, &y)) in dx.iter_mut().zip(values) {
                        let change = dy * derivative(y);
                        *dx = if fresh { change } else { *dx + change };
                    }
                });
            });
        }
        Ok(())
    });
    y
}

/// A function whose derivative is known from its input: `backward(x, dy, dx)` adds to dx.
fn apply_of_input<T: Element>(
    tape: &Tape<T>,
    x: &Var<T>,
    function: fn(&mut [T]),
    backward: fn(&[T], &[T], &mut [T]),
) -> Var<T> {
    let y = forward(tape, x, function);
    if !tape.needs_gradient(&[x]) {
        return Var::constant(y);
    }
    let x = x.clone();
    let [y] = tape.record([y], move |threads, outputs, gradients| {
        if let [Some(dy)] = outputs {
            gradients.accumulate(&x, |dx| {
                for_parts_of(threads, dx, |first, dx| {
                    let range = first..first + dx.len();
                    backward(&x.value().values()[range.clone()], &dy.values()[range], dx);
                });
            });
        }
        Ok(())
    });
    y
}

fn forward<T: Element>(tape: &Tape<T>, x: &Var<T>, function: fn(&mut [T])) -> Tensor<T> {
    Tensor::build(x.shape(), |out| {
        for_parts_of(tape.threads(), out, |first, chunk| {
            chunk.copy_from_slice(&x.value().values()[first..][..chunk.len()]);
            function(chunk);
        });
    })
}
