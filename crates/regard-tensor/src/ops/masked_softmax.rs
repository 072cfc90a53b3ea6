//! Softmax over the positions that a row may attend to.

use crate::element::Element;
use crate::error::TensorError;
use crate::{Result, Tape, Tensor, Var};

/// The positions `start..end` that a row may attend to; all others have weight 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first position that may be attended to.
    pub start: usize,
    /// The first position after.
    pub end: usize,
}

/// `w_j = exp(s_j) / Σ_k exp(s_k)` over each row's span: `scores` and the result are `[rows, positions]`.
///
/// A row whose span is empty, or holds nothing but -∞, gets zeros, not NaN. The result does not depend on how far the
/// rows are padded.
///
/// # Errors
/// Where there is not one span a row, or one ends outside.
pub fn masked_softmax<T: Element>(tape: &Tape<T>, scores: &Var<T>, spans: &[Span]) -> Result<Var<T>> {
    let (rows, width) = (scores.shape().rows(), scores.shape().last());
    super::expect_rows("masked_softmax", spans.len(), rows)?;
    if let Some(span) = spans.iter().find(|span| span.end > width) {
        return Err(TensorError::Index { op: "masked_softmax", index: span.end, limit: width });
    }
    let weights = Tensor::build(scores.shape(), |out| {
        super::for_rows_of(tape.threads(), scores.shape().len(), out, width, |row, out| {
            let span = spans[row];
            out.fill(T::ZERO);
            if span.start < span.end {
                let out = &mut out[span.start..span.end];
                out.copy_from_slice(&scores.value().row(row)[span.start..span.end]);
                T::softmax_row(out);
            }
        });
    });
    if !tape.needs_gradient(&[scores]) {
        return Ok(Var::constant(weights));
    }
    let (scores, kept) = (scores.clone(), weights.clone());
    let [weights] = tape.record([weights], move |threads, outputs, gradients| {
        let [Some(dw)] = outputs else { return Ok(()) };
        gradients.accumulate(&scores, |ds| {
            super::for_rows_of(threads, dw.shape().len(), ds, width, |row, ds| {
                let (w, dw) = (kept.row(row), dw.row(row));
                let mean = T::dot(w, dw);
                for ((ds, &w), &dw) in ds.iter_mut().zip(w).zip(dw) {
                    *ds = *ds + w * (dw - mean);
                }
            });
        });
        Ok(())
    });
    Ok(weights)
}
