//! The sum of two arrays of one shape.

use super::{for_parts_of, same_shape};
use crate::element::Element;
use crate::{Result, Tape, Tensor, Var};

/// `a + b`.
///
/// # Errors
/// Where the shapes differ.
pub fn add<T: Element>(tape: &Tape<T>, a: &Var<T>, b: &Var<T>) -> Result<Var<T>> {
    same_shape("add", a, b)?;
    let y = Tensor::build(a.shape(), |out| {
        for_parts_of(tape.threads(), out, |first, out| {
            for ((y, &a), &b) in
                out.iter_mut().zip(&a.value().values()[first..]).zip(&b.value().values()[first..])
            {
                *y = a + b;
            }
        });
    });
    if !tape.needs_gradient(&[a, b]) {
        return Ok(Var::constant(y));
    }
    let (a, b) = (a.clone(), b.clone());
    let [y] = tape.record([y], move |_, outputs, gradients| {
        if let [Some(dy)] = outputs {
            gradients.add(&a, dy)?;
            gradients.add(&b, dy)?;
        }
        Ok(())
    });
    Ok(y)
}
