//! The context: an average of states by attention weights.

use super::attention_shape::AttentionShape;
use super::{expect_shape, for_rows_of};
use crate::element::Element;
use crate::{List, Result, Tape, Tensor, Var};

/// `c_i = Σ_j w_ij · h_sj` for each row `i`, which reads sentence `s = sentences[i]`.
///
/// `weights` is `[rows, positions]`, `states` is `[sentences, positions, width]`; the result is `[rows, width]`. Only
/// the first `lengths[s]` positions are read.
///
/// # Errors
/// Where the sizes do not fit or a row names no sentence.
pub fn weighted_sum<T: Element>(
    tape: &Tape<T>,
    weights: &Var<T>,
    states: &Var<T>,
    sentences: &[usize],
    lengths: &[usize],
) -> Result<Var<T>> {
    let shape = AttentionShape::new("weighted_sum", weights.shape(), states.shape(), sentences, lengths)?;
    expect_shape("weighted_sum", weights.shape(), [shape.rows, shape.positions].into())?;
    let context = Tensor::build([shape.rows, shape.width], |out| {
        for_rows_of(
            tape.threads(),
            shape.rows * shape.positions * shape.width,
            out,
            shape.width,
            |row, out| {
                let states = &states.value().values()[shape.range(sentences[row], lengths)];
                out.fill(T::ZERO);
                for (&weight, state) in
                    weights.value().row(row).iter().zip(states.chunks_exact(shape.width.max(1)))
                {
                    T::axpy(weight, state, out);
                }
            },
        );
    });
    if !tape.needs_gradient(&[weights, states]) {
        return Ok(Var::constant(context));
    }
    let (weights, states) = (weights.clone(), states.clone());
    let (sentences, lengths) = (List::from(sentences), List::from(lengths));
    let [context] = tape.record([context], move |threads, outputs, gradients| {
        let [Some(dc)] = outputs else { return Ok(()) };
        let (mut dw, mut unused) = (Tensor::zeros(weights.shape()), Tensor::zeros([shape.rows]));
        gradients.accumulate_always(&states, |dh| {
            shape.for_each_row(
                threads,
                &sentences,
                [dh, dw.values_mut(), unused.values_mut()],
                |row, dh, dw, _| {
                    let states = &states.value().values()[shape.range(sentences[row], &lengths)];
                    let memory =
                        states.chunks_exact(shape.width.max(1)).zip(dh.chunks_exact_mut(shape.width.max(1)));
                    for ((state, dh), (dw, &w)) in memory.zip(dw.iter_mut().zip(weights.value().row(row))) {
                        *dw = T::dot(state, dc.row(row));
                        T::axpy(w, dc.row(row), dh);
                    }
                },
            );
        });
        gradients.add(&weights, &dw)
    });
    Ok(context)
}
