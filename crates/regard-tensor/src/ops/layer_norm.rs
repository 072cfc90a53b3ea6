//! Layer normalisation (Ba et al. 2016).

use super::expect_shape;
use crate::element::Element;
use crate::{List, Result, Tape, Tensor, Var};

/// `(x - mean) / sqrt(variance + ε) ∘ gain + bias` over each row; the variance is the mean of squares. `PyTorch`'s usual
/// ε is 1e-5.
///
/// # Errors
/// Where `gain` or `bias` does not have one value a column.
pub fn layer_norm<T: Element>(
    tape: &Tape<T>,
    x: &Var<T>,
    gain: &Var<T>,
    bias: &Var<T>,
    epsilon: f64,
) -> Result<Var<T>> {
    let width = x.shape().last();
    expect_shape("layer_norm", gain.shape(), [width].into())?;
    expect_shape("layer_norm", bias.shape(), [width].into())?;
    let (epsilon, cost) = (T::from_f64(epsilon), x.shape().len());
    let weigh = |row: &mut [T]| T::scale_and_shift(row, gain.value().values(), bias.value().values());
    if !tape.needs_gradient(&[x, gain, bias]) {
        return Ok(Var::constant(Tensor::build(x.shape(), |out| {
            super::for_rows_of(tape.threads(), cost, out, width, |row, out| {
                T::normalise_row(x.value().row(row), epsilon, out);
                weigh(out);
            });
        })));
    }
    // Normalised rows, and 1 / standard deviation of each.
    let mut normal = Tensor::build(x.shape(), |_| ());
    let mut scales = Tensor::build([x.shape().rows()], |_| ());
    let rows = normal.values_mut().chunks_exact_mut(width.max(1)).zip(scales.values_mut());
    super::for_items(tape.threads(), rows.enumerate(), width, |(row, (out, scale))| {
        *scale = T::normalise_row(x.value().row(row), epsilon, out);
    });
    let y = Tensor::build(x.shape(), |out| {
        super::for_rows_of(tape.threads(), cost, out, width, |row, out| {
            out.copy_from_slice(normal.row(row));
            weigh(out);
        });
    });
    let (x, gain, bias) = (x.clone(), gain.clone(), bias.clone());
    let [y] = tape.record([y], move |threads, outputs, gradients| {
        let [Some(dy)] = outputs else { return Ok(()) };
        gradients.accumulate(&x, |dx| {
            super::for_rows_of(threads, dy.shape().len(), dx, width, |row, dx| {
                backward_row(dy.row(row), normal.row(row), gain.value().values(), scales.values()[row], dx);
            });
        });
        gradients.accumulate(&gain, |sum| {
            super::for_columns_of(threads, dy.values(), sum, |columns, sum| {
                for row in 0..dy.shape().rows() {
                    let values = dy.row(row)[columns.clone()].iter().zip(&normal.row(row)[columns.clone()]);
                    for (sum, (&dy, &n)) in sum.iter_mut().zip(values) {
                        *sum = *sum + dy * n;
                    }
                }
            });
        });
        gradients.accumulate(&bias, |sum| super::add_column_sums(threads, dy.values(), sum));
        Ok(())
    });
    Ok(y)
}

fn backward_row<T: Element>(dy: &[T], normal: &[T], gain: &[T], scale: T, dx: &mut [T]) {
    let count = T::from_f64(dy.len() as f64);
    let weighted: List<T> = dy.iter().zip(gain).map(|(&dy, &gain)| dy * gain).collect();
    let mean = T::sum_slice(&weighted) / count;
    let slope = T::dot(&weighted, normal) / count;
    for ((dx, &d), &n) in dx.iter_mut().zip(&weighted).zip(normal) {
        *dx = *dx + scale * (d - mean - n * slope);
    }
}
