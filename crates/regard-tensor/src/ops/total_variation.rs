//! The total variation distance of two distributions.

use super::{expect_rows, expect_shape};
use crate::element::Element;
use crate::{List, Result, Tape, Tensor, Var};

/// `factor · Σ ½ Σ_v |exp(x_v) - exp(y_v)|` over the rows that count: `x` and `y` are natural-log probabilities
/// `[…, rows, V]`. Each distance is from 0 to 1. No gradient flows to `y`; where both are equal the slope is 0.
///
/// # Errors
/// Where the shapes differ, or there is not one entry of `counts` a row.
pub fn total_variation<T: Element>(
    tape: &Tape<T>,
    x: &Var<T>,
    y: &Tensor<T>,
    counts: &[bool],
    factor: f64,
) -> Result<Var<T>> {
    expect_shape("total_variation", x.shape(), y.shape())?;
    let (rows, width) = (x.shape().rows(), x.shape().last());
    expect_rows("total_variation", counts.len(), rows)?;
    let mut distances: List<f64> = (0..rows).map(|_| 0.0).collect();
    super::for_items(tape.threads(), distances.iter_mut().enumerate(), width, |(row, distance)| {
        if !counts[row] {
            return;
        }
        let (p, q) = (exponentials(x.value().row(row)), exponentials(y.row(row)));
        *distance = p.iter().zip(q.iter()).map(|(&p, &q)| (p - q).abs().to_f64()).sum::<f64>() / 2.0;
    });
    let loss = Tensor::scalar(T::from_f64(factor * distances.iter().sum::<f64>()));
    if !tape.needs_gradient(&[x]) {
        return Ok(Var::constant(loss));
    }
    let (x, y, counts) = (x.clone(), y.clone(), List::from(counts));
    let [loss] = tape.record([loss], move |threads, outputs, gradients| {
        let [Some(upstream)] = outputs else { return Ok(()) };
        let half = T::from_f64(upstream.item().to_f64() * factor / 2.0);
        gradients.accumulate(&x, |dx| {
            super::for_items(threads, dx.chunks_exact_mut(width.max(1)).enumerate(), width, |(row, dx)| {
                if !counts[row] {
                    return;
                }
                let (p, q) = (exponentials(x.value().row(row)), exponentials(y.row(row)));
                for ((dx, &p), &q) in dx.iter_mut().zip(p.iter()).zip(q.iter()) {
                    if p > q {
                        *dx = *dx + half * p;
                    } else if p < q {
                        *dx = *dx - half * p;
                    }
                }
            });
        });
        Ok(())
    });
    Ok(loss)
}

fn exponentials<T: Element>(row: &[T]) -> List<T> {
    let mut row = List::from(row);
    T::exp_slice(&mut row);
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Threads;

    #[test]
    fn by_hand() {
        let logs = |values: &[f64]| Tensor::new([2, 2], values.iter().map(|p| p.ln()).collect()).unwrap();
        let tape = Tape::new(&Threads::single());
        let x = tape.leaf(logs(&[0.75, 0.25, 0.5, 0.5]));
        let y = logs(&[0.25, 0.75, 0.1, 0.9]);
        let loss = total_variation(&tape, &x, &y, &[true, false], 3.0).unwrap();
        assert!((loss.value().item() - 1.5).abs() < 1e-12, "3 · ½ (0.5 + 0.5); padding costs nothing");
        let gradients = tape.backward(&loss).unwrap();
        let expected = [1.5 * 0.75, -1.5 * 0.25, 0.0, 0.0];
        let gradient = gradients.get(&x).unwrap();
        let found = gradient.values();
        assert!(found.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-12), "{found:?}");
        let tape = Tape::inference(&Threads::single());
        assert!(total_variation(&tape, &x, &y, &[true], 1.0).is_err());
        assert!(total_variation(&tape, &x, &Tensor::zeros([2, 3]), &[true, true], 1.0).is_err());
    }
}
