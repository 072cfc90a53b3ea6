//! The dot product of query and key: Luong et al. 2015 (`dot`, and `general` with projected keys), Vaswani et al. 2017
//! (scaled).

use super::attention_shape::AttentionShape;
use super::{expect_shape, for_rows_of};
use crate::element::Element;
use crate::{List, Result, Tape, Tensor, Var};

/// `e_ij = factor · q_i · k_sj` for each row `i`, which reads sentence `s = sentences[i]`.
///
/// `queries` is `[rows, width]`, `keys` is `[sentences, positions, width]`; the result is `[rows, positions]`, zero past
/// the end of the sentence (the first `lengths[s]` positions count).
///
/// # Errors
/// Where the sizes do not fit or a row names no sentence.
pub fn dot_scores<T: Element>(
    tape: &Tape<T>,
    queries: &Var<T>,
    keys: &Var<T>,
    factor: T,
    sentences: &[usize],
    lengths: &[usize],
) -> Result<Var<T>> {
    let shape = AttentionShape::new("dot_scores", queries.shape(), keys.shape(), sentences, lengths)?;
    expect_shape("dot_scores", queries.shape().with_last(shape.width), queries.shape())?;
    let scores = Tensor::build([shape.rows, shape.positions], |out| {
        for_rows_of(
            tape.threads(),
            shape.rows * shape.positions * shape.width,
            out,
            shape.positions,
            |row, out| {
                let keys = &keys.value().values()[shape.range(sentences[row], lengths)];
                out.fill(T::ZERO);
                for (score, key) in out.iter_mut().zip(keys.chunks_exact(shape.width.max(1))) {
                    *score = factor * T::dot(queries.value().row(row), key);
                }
            },
        );
    });
    if !tape.needs_gradient(&[queries, keys]) {
        return Ok(Var::constant(scores));
    }
    let (queries, keys) = (queries.clone(), keys.clone());
    let (sentences, lengths) = (List::from(sentences), List::from(lengths));
    let [scores] = tape.record([scores], move |threads, outputs, gradients| {
        let [Some(ds)] = outputs else { return Ok(()) };
        let (mut dq, mut unused) = (Tensor::zeros(queries.shape()), Tensor::zeros([shape.rows]));
        gradients.accumulate_always(&keys, |dk| {
            shape.for_each_row(
                threads,
                &sentences,
                [dk, dq.values_mut(), unused.values_mut()],
                |row, dk, dq, _| {
                    let keys = &keys.value().values()[shape.range(sentences[row], &lengths)];
                    let memory =
                        keys.chunks_exact(shape.width.max(1)).zip(dk.chunks_exact_mut(shape.width.max(1)));
                    for ((key, dk), &ds) in memory.zip(ds.row(row)) {
                        T::axpy(factor * ds, key, dq);
                        T::axpy(factor * ds, queries.value().row(row), dk);
                    }
                },
            );
        });
        gradients.add(&queries, &dq)
    });
    Ok(scores)
}
