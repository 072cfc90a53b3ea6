//! One step of a gated recurrent unit (Cho et al. 2014), the reset gate after the product as in `PyTorch`.

use super::expect_shape;
use crate::element::Element;
use crate::{Result, Tape, Tensor, Var};

/// `r = σ(x_r + u_r)`, `z = σ(x_z + u_z)`, `n = tanh(x_n + r∘u_n)`, `h' = (1 - z)∘n + z∘h`.
///
/// `x_gates` and `h_gates` are `[rows, 3·width]` in the order r, z, n: the products of input and of state, biases
/// included; `h` is `[rows, width]`.
///
/// # Errors
/// Where the sizes do not fit.
pub fn gru_cell<T: Element>(
    tape: &Tape<T>,
    x_gates: &Var<T>,
    h_gates: &Var<T>,
    h: &Var<T>,
) -> Result<Var<T>> {
    let width = h.shape().last();
    expect_shape("gru_cell", x_gates.shape(), h.shape().with_last(3 * width))?;
    expect_shape("gru_cell", h_gates.shape(), x_gates.shape())?;
    // Per row: r, z, n.
    let mut saved = Tensor::build(x_gates.shape(), |_| ());
    let h_new = Tensor::build(h.shape(), |out| {
        let rows =
            out.chunks_exact_mut(width.max(1)).zip(saved.values_mut().chunks_exact_mut((3 * width).max(1)));
        super::for_items(tape.threads(), rows.enumerate(), 8 * width, |(row, (out, saved))| {
            T::gru_cell_row(
                x_gates.value().row(row),
                h_gates.value().row(row),
                h.value().row(row),
                out,
                saved,
            );
        });
    });
    if !tape.needs_gradient(&[x_gates, h_gates, h]) {
        return Ok(Var::constant(h_new));
    }
    let (x_gates, h_gates, h) = (x_gates.clone(), h_gates.clone(), h.clone());
    let [h_new] = tape.record([h_new], move |threads, outputs, gradients| {
        let [Some(dh_new)] = outputs else { return Ok(()) };
        let mut dx = Tensor::build(x_gates.shape(), |_| ());
        let mut du = Tensor::build(h_gates.shape(), |_| ());
        let mut dh = Tensor::build(h.shape(), |_| ());
        let rows = dx.values_mut().chunks_exact_mut((3 * width).max(1));
        let rows = rows.zip(du.values_mut().chunks_exact_mut((3 * width).max(1)));
        let rows = rows.zip(dh.values_mut().chunks_exact_mut(width.max(1))).enumerate();
        super::for_items(threads, rows, 8 * width, |(row, ((dx, du), dh))| {
            let (h_gates, h) = (h_gates.value().row(row), h.value().row(row));
            T::gru_cell_backward_row(saved.row(row), h_gates, h, dh_new.row(row), [dx, du, dh]);
        });
        gradients.add(&x_gates, &dx)?;
        gradients.add(&h_gates, &du)?;
        gradients.add(&h, &dh)
    });
    Ok(h_new)
}
