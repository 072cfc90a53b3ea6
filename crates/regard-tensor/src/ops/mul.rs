//! Products element by element.

use super::same_shape;
use crate::element::Element;
use crate::{Result, Tape, Tensor, Var};

/// `a ∘ b`.
///
/// # Errors
/// Where the shapes differ.
pub fn mul<T: Element>(tape: &Tape<T>, a: &Var<T>, b: &Var<T>) -> Result<Var<T>> {
    same_shape("mul", a, b)?;
    let y = Tensor::build(a.shape(), |out| product(out, a.value().values(), b.value().values()));
    if !tape.needs_gradient(&[a, b]) {
        return Ok(Var::constant(y));
    }
    let (a, b) = (a.clone(), b.clone());
    let [y] = tape.record([y], move |_, outputs, gradients| {
        if let [Some(dy)] = outputs {
            gradients.accumulate(&a, |da| add_product(da, dy.values(), b.value().values()));
            gradients.accumulate(&b, |db| add_product(db, dy.values(), a.value().values()));
        }
        Ok(())
    });
    Ok(y)
}

fn product<T: Element>(out: &mut [T], a: &[T], b: &[T]) {
    for ((y, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *y = a * b;
    }
}

fn add_product<T: Element>(sum: &mut [T], a: &[T], b: &[T]) {
    for ((y, &a), &b) in sum.iter_mut().zip(a).zip(b) {
        *y = *y + a * b;
    }
}
