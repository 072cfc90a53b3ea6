//! Words as vectors: the embedding and the place.

use regard_tensor::Var;
use regard_tensor::ops;

use super::PositionVectors;
use crate::config::TransformerConfig;
use crate::error::Result;
use crate::parameters::{Builder, ParameterId};
use crate::pass::Pass;

/// What turns the ids of one side into vectors.
pub(crate) struct Words {
    table: ParameterId,
    factor: Option<f32>,
    positions: PositionVectors,
    dropout: f64,
}

impl Words {
    pub(crate) fn new(
        builder: &mut Builder,
        name: &str,
        config: &TransformerConfig,
        table: ParameterId,
    ) -> Self {
        Self {
            table,
            factor: config.scale_embeddings.then(|| (config.d_model as f32).sqrt()),
            positions: PositionVectors::new(builder, name, config),
            dropout: config.dropout,
        }
    }

    /// The vectors `[ids, width]` of ids that have the `positions` in turn.
    pub(crate) fn read(&self, pass: &Pass, ids: &[u32], positions: &[usize]) -> Result<Var> {
        let mut x = ops::embedding(pass.tape, pass.weight(self.table), ids)?;
        if let Some(factor) = self.factor {
            x = ops::scale(pass.tape, &x, factor)?;
        }
        pass.dropout(&self.positions.add(pass, &x, positions)?, self.dropout)
    }
}
