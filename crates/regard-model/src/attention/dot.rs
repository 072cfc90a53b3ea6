//! q · h, scaled or not, and q · W h with a learned W (`general`).

use regard_tensor::Var;
use regard_tensor::ops;

use super::Source;
use crate::error::Result;
use crate::parameters::{Builder, ParameterId};
use crate::pass::Pass;

pub(super) struct Dot {
    key: Option<ParameterId>,
    factor: f32,
}

impl Dot {
    /// factor · q · h.
    pub(super) fn plain(factor: f32) -> Self {
        Self { key: None, factor }
    }

    /// q · W h.
    pub(super) fn general(builder: &mut Builder, query: usize, memory: usize) -> Self {
        Self { key: Some(builder.matrix("attention.key.weight", query, memory, 1)), factor: 1.0 }
    }

    pub(super) fn keys(&self, pass: &Pass, states: &Var) -> Result<Var> {
        Ok(match self.key {
            Some(key) => ops::linear(pass.tape, states, pass.weight(key), None)?,
            None => states.clone(),
        })
    }

    pub(super) fn scores(
        &self,
        pass: &Pass,
        query: &Var,
        source: Source,
        sentences: &[usize],
    ) -> Result<Var> {
        Ok(ops::dot_scores(pass.tape, query, source.keys, self.factor, sentences, source.lengths)?)
    }
}
