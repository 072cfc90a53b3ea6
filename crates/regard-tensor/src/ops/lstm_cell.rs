//! One step of a long short-term memory (Hochreiter & Schmidhuber 1997, with the forget gate of Gers et al. 2000).

use super::{expect_shape, for_items};
use crate::element::Element;
use crate::{Result, Tape, Tensor, Var};

/// `c' = σ(f)∘c + σ(i)∘tanh(g)`, `h' = σ(o)∘tanh(c')`: `gates` is `[rows, 4·width]` in the order i, f, g, o before their
/// functions, `c` is `[rows, width]`. Returns `(h', c')`.
///
/// # Errors
/// Where the sizes do not fit.
pub fn lstm_cell<T: Element>(tape: &Tape<T>, gates: &Var<T>, c: &Var<T>) -> Result<(Var<T>, Var<T>)> {
    let width = c.shape().last();
    expect_shape("lstm_cell", gates.shape(), c.shape().with_last(4 * width))?;
    let (mut h_new, mut c_new) = (Tensor::build(c.shape(), |_| ()), Tensor::build(c.shape(), |_| ()));
    // Per row: σ(i), σ(f), tanh(g), σ(o), tanh(c').
    let mut saved = Tensor::build(c.shape().with_last(5 * width), |_| ());
    let rows = h_new
        .values_mut()
        .chunks_exact_mut(width.max(1))
        .zip(c_new.values_mut().chunks_exact_mut(width.max(1)));
    let rows = rows.zip(saved.values_mut().chunks_exact_mut((5 * width).max(1))).enumerate();
    for_items(tape.threads(), rows, 10 * width, |(row, ((h_new, c_new), saved))| {
        T::lstm_cell_row(gates.value().row(row), c.value().row(row), h_new, c_new, saved);
    });
    if !tape.needs_gradient(&[gates, c]) {
        return Ok((Var::constant(h_new), Var::constant(c_new)));
    }
    let (gates, c) = (gates.clone(), c.clone());
    let [h_new, c_new] = tape.record([h_new, c_new], move |threads, outputs, gradients| {
        let zero = Tensor::zeros([width]);
        let row_of =
            |output: usize, row: usize| outputs[output].as_ref().map_or(zero.values(), |dy| dy.row(row));
        let mut dgates = Tensor::build(gates.shape(), |_| ());
        let mut dc = Tensor::build(c.shape(), |_| ());
        let rows = dgates.values_mut().chunks_exact_mut((4 * width).max(1));
        let rows = rows.zip(dc.values_mut().chunks_exact_mut(width.max(1))).enumerate();
        for_items(threads, rows, 10 * width, |(row, (dgates, dc))| {
            let (c, dh_new, dc_new) = (c.value().row(row), row_of(0, row), row_of(1, row));
            T::lstm_cell_backward_row(saved.row(row), c, dh_new, dc_new, dgates, dc);
        });
        gradients.add(&gates, &dgates)?;
        gradients.add(&c, &dc)
    });
    Ok((h_new, c_new))
}
