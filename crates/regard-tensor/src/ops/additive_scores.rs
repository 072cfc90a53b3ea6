//! The additive score of Bahdanau et al. 2015: a small network on query and key.

use super::attention_shape::AttentionShape;
use super::{expect_shape, for_rows_of};
use crate::element::Element;
use crate::{List, Result, Tape, Tensor, Var};

/// `e_ij = v · tanh(q_i + k_sj)` for each row `i`, which reads sentence `s = sentences[i]`.
///
/// `queries` is `[rows, width]`, `keys` is `[sentences, positions, width]`, `v` is `[width]`; the result is
/// `[rows, positions]`, zero past the end of the sentence (the first `lengths[s]` positions count).
///
/// # Errors
/// Where the sizes do not fit or a row names no sentence.
pub fn additive_scores<T: Element>(
    tape: &Tape<T>,
    queries: &Var<T>,
    keys: &Var<T>,
    v: &Var<T>,
    sentences: &[usize],
    lengths: &[usize],
) -> Result<Var<T>> {
    let shape = AttentionShape::new("additive_scores", queries.shape(), keys.shape(), sentences, lengths)?;
    expect_shape("additive_scores", v.shape(), [shape.width].into())?;
    expect_shape("additive_scores", queries.shape().with_last(shape.width), queries.shape())?;
    let scores = Tensor::build([shape.rows, shape.positions], |out| {
        for_rows_of(
            tape.threads(),
            shape.rows * shape.positions * shape.width,
            out,
            shape.positions,
            |row, out| {
                let keys = &keys.value().values()[shape.range(sentences[row], lengths)];
                let (real, padding) = out.split_at_mut(lengths[sentences[row]]);
                T::additive_scores_row(queries.value().row(row), keys, v.value().values(), real);
                padding.fill(T::ZERO);
            },
        );
    });
    if !tape.needs_gradient(&[queries, keys, v]) {
        return Ok(Var::constant(scores));
    }
    let (queries, keys, v) = (queries.clone(), keys.clone(), v.clone());
    let (sentences, lengths) = (List::from(sentences), List::from(lengths));
    let [scores] = tape.record([scores], move |threads, outputs, gradients| {
        let [Some(ds)] = outputs else { return Ok(()) };
        let (mut dq, mut dv) = (Tensor::zeros(queries.shape()), Tensor::zeros(queries.shape()));
        gradients.accumulate_always(&keys, |dk| {
            shape.for_each_row(
                threads,
                &sentences,
                [dk, dq.values_mut(), dv.values_mut()],
                |row, dk, dq, dv| {
                    let range = shape.range(sentences[row], &lengths);
                    let (ds, dk) = (&ds.row(row)[..lengths[sentences[row]]], &mut dk[..range.len()]);
                    let (q, keys) = (queries.value().row(row), &keys.value().values()[range]);
                    T::additive_scores_backward_row(q, keys, v.value().values(), ds, [dq, dk, dv]);
                },
            );
        });
        gradients.add(&queries, &dq)?;
        gradients.accumulate(&v, |sum| T::add_column_sums(dv.values(), sum));
        Ok(())
    });
    Ok(scores)
}
