//! Which source positions a row may look at, and how the scores become weights there.

use regard_tensor::ops::{self, Function, Span};
use regard_tensor::{List, Tensor, Var};

use crate::error::Result;
use crate::parameters::{Builder, ParameterId};
use crate::pass::Pass;
use crate::seq2seq::Row;

/// The positions that are looked at: all, or those within `radius` of a centre (Luong et al. 2015, section 3.2).
pub(super) enum Window {
    Global,
    Monotonic { radius: usize },
    Predictive { position: ParameterId, score: ParameterId, radius: usize },
}

impl Window {
    pub(super) fn predictive(builder: &mut Builder, query: usize, width: usize, radius: usize) -> Self {
        Self::Predictive {
            position: builder.matrix("attention.position.weight", width, query, 1),
            score: builder.matrix("attention.position.score.weight", 1, width, 1),
            radius,
        }
    }

    /// The weights of `scores` `[rows, positions]`.
    pub(super) fn weights(
        &self,
        pass: &Pass,
        query: &Var,
        scores: &Var,
        rows: &[Row],
        lengths: &[usize],
    ) -> Result<Var> {
        let length = |row: &Row| lengths.get(row.sentence).copied().unwrap_or(0);
        match *self {
            Self::Global => {
                let spans: List<Span> = rows.iter().map(|row| Span { start: 0, end: length(row) }).collect();
                Ok(ops::masked_softmax(pass.tape, scores, &spans)?)
            }
            Self::Monotonic { radius } => {
                let span = |row: &Row| {
                    let centre = row.position.min(length(row).saturating_sub(1));
                    Span { start: centre.saturating_sub(radius), end: length(row).min(centre + radius + 1) }
                };
                Ok(ops::masked_softmax(pass.tape, scores, &rows.iter().map(span).collect::<List<_>>())?)
            }
            Self::Predictive { position, score, radius } => {
                let map = |x: &Var, weight, function| {
                    ops::linear_then(pass.tape, x, pass.weight(weight), None, function)
                };
                let hidden = map(query, position, Function::Tanh)?;
                let share = map(&hidden, score, Function::Sigmoid)?;
                let lengths = Tensor::build([rows.len(), 1], |lengths| {
                    lengths.iter_mut().zip(rows).for_each(|(to, row)| *to = length(row) as f32);
                });
                let lengths = Var::constant(lengths);
                let centres = ops::mul(pass.tape, &share, &lengths)?;
                let spans: List<Span> = centres
                    .value()
                    .values()
                    .iter()
                    .zip(rows)
                    .map(|(&centre, row)| around(centre, radius, length(row)))
                    .collect();
                let weights = ops::masked_softmax(pass.tape, scores, &spans)?;
                let sigma = radius as f64 / 2.0;
                let window = ops::gaussian_window(pass.tape, &centres, &spans, scores.shape().last(), sigma)?;
                Ok(ops::mul(pass.tape, &weights, &window)?)
            }
        }
    }
}

/// The positions of a sentence no further than `radius` from `centre`.
fn around(centre: f32, radius: usize, length: usize) -> Span {
    let start = ((centre - radius as f32).ceil().max(0.0) as usize).min(length);
    let end = (((centre + radius as f32).floor().max(0.0)) as usize + 1).min(length);
    Span { start, end: end.max(start) }
}
