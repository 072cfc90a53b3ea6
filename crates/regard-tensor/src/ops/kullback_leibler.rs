//! The Kullback-Leibler divergence of attention weights.

use super::{expect_rows, expect_shape};
use crate::element::Element;
use crate::{List, Result, Tape, Tensor, Var};

/// What is added to a weight inside a logarithm (Jain & Wallace's code has the same).
const EPSILON: f64 = 1e-10;

/// `factor · Σ KL(x ‖ y)` over the rows that count, `KL(x ‖ y) = Σ_j x_j (ln(x_j + 10⁻¹⁰) - ln(y_j + 10⁻¹⁰))`: `x` and `y`
/// are weights `[…, rows, positions]`. No gradient flows to `y`.
///
/// # Errors
/// Where the shapes differ, or there is not one entry of `counts` a row.
pub fn kullback_leibler<T: Element>(
    tape: &Tape<T>,
    x: &Var<T>,
    y: &Tensor<T>,
    counts: &[bool],
    factor: f64,
) -> Result<Var<T>> {
    expect_shape("kullback_leibler", x.shape(), y.shape())?;
    let (rows, width) = (x.shape().rows(), x.shape().last());
    expect_rows("kullback_leibler", counts.len(), rows)?;
    let ratio = |x: f64, y: f64| (x + EPSILON).ln() - (y + EPSILON).ln();
    let divergence = |row: usize| {
        let pairs = x.value().row(row).iter().zip(y.row(row));
        pairs.map(|(x, y)| (x.to_f64(), y.to_f64())).map(|(x, y)| x * ratio(x, y)).sum::<f64>()
    };
    let sum: f64 = (0..rows).filter(|&row| counts[row]).map(divergence).sum();
    let loss = Tensor::scalar(T::from_f64(factor * sum));
    if !tape.needs_gradient(&[x]) {
        return Ok(Var::constant(loss));
    }
    let (x, y, counts) = (x.clone(), y.clone(), List::from(counts));
    let [loss] = tape.record([loss], move |_, outputs, gradients| {
        let [Some(upstream)] = outputs else { return Ok(()) };
        let factor = factor * upstream.item().to_f64();
        gradients.accumulate(&x, |dx| {
            let rows = dx.chunks_exact_mut(width.max(1)).enumerate().filter(|(row, _)| counts[*row]);
            for (row, dx) in rows {
                let pairs = x.value().row(row).iter().zip(y.row(row));
                for (dx, (x, y)) in dx.iter_mut().zip(pairs) {
                    let (x, y) = (x.to_f64(), y.to_f64());
                    *dx = *dx + T::from_f64(factor * (ratio(x, y) + x / (x + EPSILON)));
                }
            }
        });
        Ok(())
    });
    Ok(loss)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Threads;

    #[test]
    fn by_hand() {
        let tape = Tape::<f64>::new(&Threads::single());
        let x = tape.leaf(Tensor::new([2, 3], vec![0.5, 0.5, 0.0, 1.0, 0.0, 0.0]).unwrap());
        let y = Tensor::new([2, 3], vec![0.25, 0.75, 0.0, 0.1, 0.9, 0.0]).unwrap();
        let loss = kullback_leibler(&tape, &x, &y, &[true, false], 2.0).unwrap();
        let expected = 2.0_f64.ln() + (2.0_f64 / 3.0).ln();
        assert!((loss.value().item() - expected).abs() < 1e-8, "2 · (½ ln 2 + ½ ln ⅔)");
        let gradients = tape.backward(&loss).unwrap();
        let gradient = gradients.get(&x).unwrap();
        let found = gradient.values();
        let expected = [2.0 * (2.0_f64.ln() + 1.0), 2.0 * ((2.0_f64 / 3.0).ln() + 1.0), 0.0, 0.0, 0.0, 0.0];
        assert!(found.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-8), "{found:?}");
        let tape = Tape::inference(&Threads::single());
        assert!(kullback_leibler(&tape, &x, &y, &[true], 1.0).is_err());
        assert!(kullback_leibler(&tape, &x, &Tensor::zeros([3, 2]), &[true, true], 1.0).is_err());
    }
}
