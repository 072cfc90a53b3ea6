//! The sum of all values.

use crate::element::Element;
use crate::{Result, Tape, Tensor, Var};

/// `Σ x`, in the order of the values.
///
/// # Errors
/// None at present; the type is that of every operation.
pub fn sum<T: Element>(tape: &Tape<T>, x: &Var<T>) -> Result<Var<T>> {
    let total: f64 = x.value().values().iter().map(|value| value.to_f64()).sum();
    let y = Tensor::scalar(T::from_f64(total));
    if !tape.needs_gradient(&[x]) {
        return Ok(Var::constant(y));
    }
    let x = x.clone();
    let [y] = tape.record([y], move |_, outputs, gradients| {
        if let [Some(dy)] = outputs {
            let dy = dy.item();
            gradients.accumulate(&x, |dx| {
                for dx in dx.iter_mut() {
                    *dx = *dx + dy;
                }
            });
        }
        Ok(())
    });
    Ok(y)
}
