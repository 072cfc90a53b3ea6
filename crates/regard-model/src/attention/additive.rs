//! v · tanh(W q + U h): Bahdanau's additive score. Luong's `concat`, v · tanh(W [q; h]), is the same function with the
//! two maps written as one.

use regard_tensor::Var;
use regard_tensor::ops;

use super::Source;
use crate::config::AttentionConfig;
use crate::error::Result;
use crate::parameters::{Builder, ParameterId};
use crate::pass::Pass;

pub(super) struct Additive {
    query: ParameterId,
    bias: Option<ParameterId>,
    key: ParameterId,
    v: ParameterId,
}

impl Additive {
    pub(super) fn new(builder: &mut Builder, query: usize, memory: usize, config: &AttentionConfig) -> Self {
        let width = config.width;
        Self {
            query: builder.matrix("attention.query.weight", width, query, 1),
            bias: config.bias.then(|| builder.vector("attention.query.bias", width, 0..0)),
            key: builder.matrix("attention.key.weight", width, memory, 1),
            v: builder.row("attention.score.weight", width),
        }
    }

    pub(super) fn keys(&self, pass: &Pass, states: &Var) -> Result<Var> {
        Ok(ops::linear(pass.tape, states, pass.weight(self.key), None)?)
    }

    pub(super) fn scores(
        &self,
        pass: &Pass,
        query: &Var,
        source: Source,
        sentences: &[usize],
    ) -> Result<Var> {
        let query =
            ops::linear(pass.tape, query, pass.weight(self.query), self.bias.map(|bias| pass.weight(bias)))?;
        let v = pass.weight(self.v);
        Ok(ops::additive_scores(pass.tape, &query, source.keys, v, sentences, source.lengths)?)
    }
}
