//! v · tanh(W q + U h): Bahdanau's additive score. Luong's `concat`, v · tanh(W [q; h]), is the same function with the
//! two maps written as one.

use regard_tensor::Var;
use regard_tensor::ops;

use super::Source;
use crate::affine::Affine;
use crate::config::RecurrentConfig;
use crate::error::Result;
use crate::parameters::{Builder, ParameterId};
use crate::pass::Pass;

pub(super) struct Additive {
    query: Affine,
    key: Affine,
    v: ParameterId,
}

impl Additive {
    pub(super) fn new(builder: &mut Builder, config: &RecurrentConfig) -> Self {
        let width = config.attention.width;
        let map = |builder: &mut Builder, name: &str, input: usize, bias: bool| match config.map_norm() {
            Some(epsilon) => Affine::normed(builder, name, width, input, epsilon),
            None if bias => Affine::new(builder, name, width, input),
            None => Affine::without_bias(builder, name, width, input),
        };
        Self {
            query: map(builder, "attention.query", config.decoder.hidden, config.attention.bias),
            key: map(builder, "attention.key", config.memory_width(), false),
            v: builder.row("attention.score.weight", width),
        }
    }

    pub(super) fn keys(&self, pass: &Pass, states: &Var) -> Result<Var> {
        self.key.apply(pass, states)
    }

    pub(super) fn scores(
        &self,
        pass: &Pass,
        query: &Var,
        source: Source,
        sentences: &[usize],
    ) -> Result<Var> {
        let query = self.query.apply(pass, query)?;
        let v = pass.weight(self.v);
        Ok(ops::additive_scores(pass.tape, &query, source.keys, v, sentences, source.lengths)?)
    }
}
