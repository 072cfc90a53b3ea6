//! Rows that have ended keep what they had.

use super::same_shape;
use crate::element::Element;
use crate::{List, Result, Tape, Tensor, Var};

/// Row by row: `new` where `active` is true, else `old`. Both are `[rows, width]`.
///
/// # Errors
/// Where the shapes differ.
pub fn carry<T: Element>(tape: &Tape<T>, new: &Var<T>, old: &Var<T>, active: &[bool]) -> Result<Var<T>> {
    same_shape("carry", new, old)?;
    if active.iter().all(|&active| active) {
        return Ok(new.clone());
    }
    let width = new.shape().last().max(1);
    let y = Tensor::build(new.shape(), |out| {
        for (index, row) in out.chunks_exact_mut(width).enumerate() {
            let from = if active.get(index) == Some(&true) { new } else { old };
            row.copy_from_slice(from.value().row(index));
        }
    });
    if !tape.needs_gradient(&[new, old]) {
        return Ok(Var::constant(y));
    }
    let (new, old, active) = (new.clone(), old.clone(), List::from(active));
    let [y] = tape.record([y], move |_, outputs, gradients| {
        let [Some(dy)] = outputs else { return Ok(()) };
        for (var, wanted) in [(&new, true), (&old, false)] {
            gradients.accumulate(var, |dx| {
                for (index, (dx, dy)) in
                    dx.chunks_exact_mut(width).zip(dy.values().chunks_exact(width)).enumerate()
                {
                    if (active.get(index) == Some(&true)) == wanted {
                        T::add_assign(dx, dy);
                    }
                }
            });
        }
        Ok(())
    });
    Ok(y)
}
