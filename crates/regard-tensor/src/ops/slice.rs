//! One entry of the first dimension.

use crate::element::Element;
use crate::{Result, Tape, Var};

/// Entry `index` of the first dimension of `x`, without a copy: a time step of `[time, rows, width]`.
///
/// # Errors
/// Where there is no such entry.
pub fn slice<T: Element>(tape: &Tape<T>, x: &Var<T>, index: usize) -> Result<Var<T>> {
    let y = x.value().slice(index)?;
    if !tape.needs_gradient(&[x]) {
        return Ok(Var::constant(y));
    }
    let (x, len) = (x.clone(), y.shape().len());
    let [y] = tape.record([y], move |_, outputs, gradients| {
        if let [Some(dy)] = outputs {
            gradients
                .accumulate(&x, |dx| T::add_assign(&mut dx[index * len..(index + 1) * len], dy.values()));
        }
        Ok(())
    });
    Ok(y)
}
