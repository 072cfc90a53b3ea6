//! Words as vectors: the embedding and the place.

use regard_tensor::ops;
use regard_tensor::{List, Var};

use super::PositionVectors;
use crate::attention::Place;
use crate::config::TransformerConfig;
use crate::error::Result;
use crate::parameters::{Builder, ParameterId};
use crate::pass::Pass;
use crate::seq2seq::Row;

/// What turns the ids of one side into vectors.
pub(crate) struct Words {
    place: Place,
    table: ParameterId,
    factor: Option<f32>,
    positions: PositionVectors,
    dropout: f64,
}

impl Words {
    pub(crate) fn new(
        builder: &mut Builder,
        place: Place,
        config: &TransformerConfig,
        table: ParameterId,
    ) -> Self {
        let name = match place {
            Place::SourceWords => "source_positions",
            _ => "target_positions",
        };
        Self {
            place,
            table,
            factor: config.scale_embeddings.then(|| (config.d_model as f32).sqrt()),
            positions: PositionVectors::new(builder, name, config),
            dropout: config.dropout,
        }
    }

    /// The vectors `[ids, width]` of ids that have the `positions` in turn, and that rows read.
    pub(crate) fn read(&self, pass: &Pass, ids: &[u32], positions: &[usize], rows: &[Row]) -> Result<Var> {
        let mut x = ops::embedding(pass.tape, pass.weight(self.table), ids)?;
        x = pass.hooked(self.place, x, || List::from(rows))?;
        if let Some(factor) = self.factor {
            x = ops::scale(pass.tape, &x, factor)?;
        }
        pass.dropout(&self.positions.add(pass, &x, positions)?, self.dropout)
    }
}
