//! The same values under another shape.

use crate::element::Element;
use crate::{Result, Shape, Tape, Var};

/// `x` under `shape`, without a copy.
///
/// # Errors
/// Where the lengths differ.
pub fn reshape<T: Element>(tape: &Tape<T>, x: &Var<T>, shape: impl Into<Shape>) -> Result<Var<T>> {
    let y = x.value().reshape(shape)?;
    if !tape.needs_gradient(&[x]) {
        return Ok(Var::constant(y));
    }
    let x = x.clone();
    let [y] = tape.record([y], move |_, outputs, gradients| match outputs {
        [Some(dy)] => gradients.add(&x, dy),
        _ => Ok(()),
    });
    Ok(y)
}
