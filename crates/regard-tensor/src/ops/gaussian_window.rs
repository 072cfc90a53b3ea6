//! The window of local attention (Luong et al. 2015, section 3.2).

use super::expect_shape;
use super::masked_softmax::Span;
use crate::element::Element;
use crate::error::TensorError;
use crate::{Result, Tape, Tensor, Var};

/// `g_ij = exp(-(j - p_i)² / (2σ²))` inside each row's span, 0 outside: `centres` is `[rows, 1]`, the result
/// `[rows, positions]`.
///
/// # Errors
/// Where `centres` is not one value a span, or a span ends outside.
pub fn gaussian_window<T: Element>(
    tape: &Tape<T>,
    centres: &Var<T>,
    spans: &[Span],
    positions: usize,
    sigma: f64,
) -> Result<Var<T>> {
    expect_shape("gaussian_window", centres.shape(), [spans.len(), 1].into())?;
    if let Some(span) = spans.iter().find(|span| span.end > positions) {
        return Err(TensorError::Index { op: "gaussian_window", index: span.end, limit: positions });
    }
    let variance = sigma * sigma;
    let distance = |row: usize, position: usize, centres: &[T]| position as f64 - centres[row].to_f64();
    let window = Tensor::build([spans.len(), positions], |out| {
        out.fill(T::ZERO);
        for (row, (out, span)) in out.chunks_exact_mut(positions.max(1)).zip(spans).enumerate() {
            for (position, value) in out.iter_mut().enumerate().take(span.end).skip(span.start) {
                let d = distance(row, position, centres.value().values());
                *value = T::from_f64((-d * d / (2.0 * variance)).exp());
            }
        }
    });
    if !tape.needs_gradient(&[centres]) {
        return Ok(Var::constant(window));
    }
    let (centres, kept) = (centres.clone(), window.clone());
    let [window] = tape.record([window], move |_, outputs, gradients| {
        let [Some(dg)] = outputs else { return Ok(()) };
        gradients.accumulate(&centres, |dp| {
            for (row, dp) in dp.iter_mut().enumerate() {
                let values = kept.row(row).iter().zip(dg.row(row)).enumerate();
                let slope: f64 = values
                    .map(|(position, (g, dg))| {
                        g.to_f64() * dg.to_f64() * distance(row, position, centres.value().values())
                            / variance
                    })
                    .sum();
                *dp = *dp + T::from_f64(slope);
            }
        });
        Ok(())
    });
    Ok(window)
}
