//! Their weights by our names, the rows of the tables in our order.

use regard_tensor::Tensor;
use regard_text::special_tokens::{BOS, PAD};

use super::config::Settings;
use super::names::{self, DECODER_TABLE, ENCODER_TABLE, NEVER, OUTPUT, OUTPUT_BIAS, SHARED};
use super::tensors::Tensors;
use super::vocabulary::Pieces;
use crate::config::TransformerConfig;
use crate::error::Result;
use crate::transformer::{Waves, waves};

/// How far stored positions may be from the sines and cosines: they may have been rounded to 8 bits of mantissa.
const POSITION_TOLERANCE: f32 = 0.01;

/// All weights of the network.
pub(super) fn convert(
    tensors: Tensors,
    settings: &Settings,
    source: &Pieces,
    target: &Pieces,
) -> Result<Vec<(String, Tensor)>> {
    let mut conversion = Conversion { tensors, weights: Vec::new() };
    conversion.tables(settings, source, target)?;
    conversion.output_bias(target)?;
    for stack in ["encoder", "decoder"] {
        conversion.check_positions(stack, &settings.config)?;
    }
    for weight in names::layers(&settings.config) {
        let value = conversion.tensors.take(&weight.theirs, weight.shape)?;
        conversion.put(&weight.ours, value);
    }
    conversion.tensors.finish()?;
    Ok(conversion.weights)
}

/// What is there still, and what has been taken over.
struct Conversion {
    tensors: Tensors,
    weights: Vec<(String, Tensor)>,
}

impl Conversion {
    fn put(&mut self, name: &str, value: Tensor) {
        self.weights.push((name.to_owned(), value));
    }

    /// The tables of words and the output layer. A table that several parts share is stored by one or more of its names.
    /// Where the output layer is not tied, transformers ties nothing else either, whatever is said of the tables: `shared`
    /// only stands in for one that is not there.
    fn tables(&mut self, settings: &Settings, source: &Pieces, target: &Pieces) -> Result<()> {
        let width = settings.config.d_model;
        let (source_shape, target_shape) = ([source.size, width], [target.size, width]);
        if settings.shares_tables && settings.ties_output {
            let names = [SHARED, ENCODER_TABLE, DECODER_TABLE, OUTPUT];
            let table = self.tensors.take_shared(&names, target_shape)?;
            self.put("embedding.weight", table.select_rows(&target.rows)?);
            return Ok(());
        }
        let shared = self.tensors.take_optional(SHARED, source_shape)?;
        let source_table = self.own_or(shared.as_ref(), ENCODER_TABLE, source_shape)?;
        let target_table = if settings.ties_output {
            self.tensors.take_shared(&[DECODER_TABLE, OUTPUT], target_shape)?
        } else {
            let output = self.tensors.take(OUTPUT, target_shape)?;
            self.put("output.weight", output.select_rows(&target.rows)?);
            self.own_or(shared.as_ref().filter(|_| settings.shares_tables), DECODER_TABLE, target_shape)?
        };
        self.put("source_embedding.weight", source_table.select_rows(&source.rows)?);
        self.put("target_embedding.weight", target_table.select_rows(&target.rows)?);
        Ok(())
    }

    /// The table of a side, or the shared one.
    fn own_or(&mut self, shared: Option<&Tensor>, name: &str, shape: [usize; 2]) -> Result<Tensor> {
        match (self.tensors.take_optional(name, shape)?, shared) {
            (Some(own), _) => Ok(own),
            (None, Some(shared)) => Ok(shared.clone()),
            (None, None) => Err(self.tensors.problem(format!("\"{name}\" is missing"))),
        }
    }

    fn output_bias(&mut self, target: &Pieces) -> Result<()> {
        let bias = self.tensors.take(OUTPUT_BIAS, [1, target.size])?;
        let bias = bias.reshape([target.size, 1])?.select_rows(&target.rows)?;
        let mut values = bias.values().to_vec();
        for id in [PAD, BOS] {
            values[id as usize] = NEVER;
        }
        self.put("output.bias", Tensor::new([values.len()], values)?);
        Ok(())
    }

    /// Positions are computed here; where they are stored they must be the same.
    fn check_positions(&mut self, stack: &str, config: &TransformerConfig) -> Result<()> {
        let name = format!("model.{stack}.embed_positions.weight");
        let shape = [config.max_positions, config.d_model];
        let Some(stored) = self.tensors.take_optional(&name, shape)? else { return Ok(()) };
        let mut vector = vec![0.0; config.d_model];
        for position in 0..config.max_positions {
            waves(position, Waves::Halves, &mut vector);
            let near = |(a, b): (&f32, &f32)| (a - b).abs() <= POSITION_TOLERANCE;
            if !stored.row(position).iter().zip(&vector).all(near) {
                let problem = "are not sines and cosines; other positions are not supported";
                return Err(self.tensors.problem(format!("the positions in \"{name}\" {problem}")));
            }
        }
        Ok(())
    }
}
