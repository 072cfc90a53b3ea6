//! Rows by their place.

use crate::element::Element;
use crate::{List, Result, Tape, Var};

/// The rows of `x` (seen as `[rows, width]`) at `places`; a row may be taken more than once.
///
/// # Errors
/// Where a place is outside.
pub fn select_rows<T: Element>(tape: &Tape<T>, x: &Var<T>, places: &[usize]) -> Result<Var<T>> {
    let y = x.value().select_rows(places)?;
    if !tape.needs_gradient(&[x]) {
        return Ok(Var::constant(y));
    }
    let (x, places, width) = (x.clone(), List::from(places), x.shape().last());
    let [y] = tape.record([y], move |_, outputs, gradients| {
        if let [Some(dy)] = outputs {
            gradients.accumulate(&x, |dx| {
                for (&place, dy) in places.iter().zip(dy.values().chunks_exact(width.max(1))) {
                    T::add_assign(&mut dx[place * width..(place + 1) * width], dy);
                }
            });
        }
        Ok(())
    });
    Ok(y)
}
