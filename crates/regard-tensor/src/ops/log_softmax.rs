//! Log-probabilities of a row of logits.

use crate::element::Element;
use crate::{List, Result, Tape, Tensor, Var};

/// `x - log Σ exp(x)` over the last dimension, natural logarithm.
///
/// # Errors
/// None at present; the type is that of every operation.
pub fn log_softmax<T: Element>(tape: &Tape<T>, logits: &Var<T>) -> Result<Var<T>> {
    let width = logits.shape().last().max(1);
    let y = Tensor::build(logits.shape(), |out| {
        out.copy_from_slice(logits.value().values());
        super::for_rows_of(tape.threads(), logits.shape().len(), out, width, |_, row| {
            T::log_softmax_row(row);
        });
    });
    if !tape.needs_gradient(&[logits]) {
        return Ok(Var::constant(y));
    }
    let (logits, kept) = (logits.clone(), y.clone());
    let [y] = tape.record([y], move |_, outputs, gradients| {
        let [Some(dy)] = outputs else { return Ok(()) };
        gradients.accumulate(&logits, |dx| {
            for (row, dx) in dx.chunks_exact_mut(width).enumerate() {
                let mut p = List::from(kept.row(row));
                T::exp_slice(&mut p);
                let total = T::sum_slice(dy.row(row));
                T::add_assign(dx, dy.row(row));
                T::axpy(T::ZERO - total, &p, dx);
            }
        });
        Ok(())
    });
    Ok(y)
}
