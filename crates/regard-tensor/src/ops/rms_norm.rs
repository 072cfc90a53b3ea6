//! Normalisation by the root mean square (Zhang & Sennrich 2019).

use super::expect_shape;
use crate::element::Element;
use crate::{List, Result, Tape, Tensor, Var};

/// `x / sqrt(mean(x²) + ε) ∘ gain` over each row. T5's ε is 1e-6.
///
/// # Errors
/// Where `gain` does not have one value a column.
pub fn rms_norm<T: Element>(tape: &Tape<T>, x: &Var<T>, gain: &Var<T>, epsilon: f64) -> Result<Var<T>> {
    let (width, epsilon) = (x.shape().last(), T::from_f64(epsilon));
    expect_shape("rms_norm", gain.shape(), [width].into())?;
    let y = Tensor::build(x.shape(), |out| {
        super::for_rows_of(tape.threads(), x.shape().len(), out, width, |row, out| {
            let x = x.value().row(row);
            let scale = inverse_size(x, epsilon);
            for ((y, &x), &gain) in out.iter_mut().zip(x).zip(gain.value().values()) {
                *y = x * scale * gain;
            }
        });
    });
    if !tape.needs_gradient(&[x, gain]) {
        return Ok(Var::constant(y));
    }
    let (x, gain) = (x.clone(), gain.clone());
    let [y] = tape.record([y], move |threads, outputs, gradients| {
        let [Some(dy)] = outputs else { return Ok(()) };
        gradients.accumulate(&x, |dx| {
            super::for_rows_of(threads, dy.shape().len(), dx, width, |row, dx| {
                let (x, dy) = (x.value().row(row), dy.row(row));
                let scale = inverse_size(x, epsilon);
                let weighted: List<T> = dy.iter().zip(gain.value().values()).map(|(&d, &g)| d * g).collect();
                let slope = T::dot(&weighted, x) / T::from_f64(width as f64) * scale * scale;
                for ((dx, &d), &x) in dx.iter_mut().zip(&weighted).zip(x) {
                    *dx = *dx + scale * (d - x * slope);
                }
            });
        });
        gradients.accumulate(&gain, |sum| {
            for (row, dy) in dy.values().chunks_exact(width.max(1)).enumerate() {
                let x = x.value().row(row);
                let scale = inverse_size(x, epsilon);
                for ((sum, &dy), &x) in sum.iter_mut().zip(dy).zip(x) {
                    *sum = *sum + dy * x * scale;
                }
            }
        });
        Ok(())
    });
    Ok(y)
}

/// `1 / sqrt(mean(x²) + ε)`.
fn inverse_size<T: Element>(x: &[T], epsilon: T) -> T {
    T::ONE / (T::dot(x, x) / T::from_f64(x.len() as f64) + epsilon).sqrt()
}
