//! Arrays of one shape, one after the other.

use super::expect_shape;
use crate::element::Element;
use crate::error::TensorError;
use crate::{List, Result, Tape, Tensor, Var};

/// The parts along a new first dimension: time steps `[rows, width]` give `[time, rows, width]`.
///
/// # Errors
/// Where the shapes differ, or there is no part.
pub fn stack<T: Element>(tape: &Tape<T>, parts: &[Var<T>]) -> Result<Var<T>> {
    let shape = parts.first().ok_or(TensorError::Index { op: "stack", index: 0, limit: 0 })?.shape();
    for part in parts {
        expect_shape("stack", shape, part.shape())?;
    }
    let len = shape.len();
    let y = Tensor::build(shape.with_outer(parts.len()), |out| {
        for (out, part) in out.chunks_exact_mut(len.max(1)).zip(parts) {
            out.copy_from_slice(part.value().values());
        }
    });
    if !tape.needs_gradient_of(parts) {
        return Ok(Var::constant(y));
    }
    let parts = List::from(parts);
    let [y] = tape.record([y], move |_, outputs, gradients| {
        let [Some(dy)] = outputs else { return Ok(()) };
        for (index, part) in parts.iter().enumerate() {
            gradients.add(part, &dy.slice(index)?)?;
        }
        Ok(())
    });
    Ok(y)
}
