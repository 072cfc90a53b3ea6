//! Their weights by our names, the rows of the tables in our order.

use regard_tensor::Tensor;
use regard_text::special_tokens::{BOS, PAD};

use super::config::Settings;
use super::tensors::Tensors;
use super::vocabulary::Pieces;
use crate::config::TransformerConfig;
use crate::error::Result;
use crate::transformer::{Waves, waves};

/// The output's bias for what is never written: e to it is 0, and sums with it stay finite.
const NEVER: f32 = -1e4;
/// How far stored positions may be from the sines and cosines: they may have been rounded to 8 bits of mantissa.
const POSITION_TOLERANCE: f32 = 0.01;
/// The attentions of a layer: ours, theirs.
const ATTENTIONS: [(&str, &str); 2] = [("self_attention", "self_attn"), ("cross_attention", "encoder_attn")];
/// The maps of an attention: ours, theirs.
const MAPS: [(&str, &str); 4] =
    [("query", "q_proj"), ("key", "k_proj"), ("value", "v_proj"), ("output", "out_proj")];

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
    let config = &settings.config;
    for (stack, layers) in [("encoder", config.encoder.layers), ("decoder", config.decoder.layers)] {
        conversion.check_positions(stack, config)?;
        for layer in 0..layers {
            conversion.layer(stack, layer, config)?;
        }
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
    fn tables(&mut self, settings: &Settings, source: &Pieces, target: &Pieces) -> Result<()> {
        let width = settings.config.d_model;
        let [shared, encoder, decoder, output] = [
            "model.shared.weight",
            "model.encoder.embed_tokens.weight",
            "model.decoder.embed_tokens.weight",
            "lm_head.weight",
        ];
        let shape = [target.size, width];
        let mut names = if settings.shares_tables { vec![shared, encoder, decoder] } else { vec![decoder] };
        if settings.ties_output {
            names.push(output);
        }
        let target_table = self.tensors.take_shared(&names, shape)?;
        let source_table = if settings.shares_tables {
            target_table.clone()
        } else {
            self.tensors.take_shared(&[encoder, shared], [source.size, width])?
        };
        if settings.shares_tables && settings.ties_output {
            self.put("embedding.weight", target_table.select_rows(&target.rows)?);
            return Ok(());
        }
        self.put("source_embedding.weight", source_table.select_rows(&source.rows)?);
        self.put("target_embedding.weight", target_table.select_rows(&target.rows)?);
        if !settings.ties_output {
            let output = self.tensors.take(output, shape)?;
            self.put("output.weight", output.select_rows(&target.rows)?);
        }
        Ok(())
    }

    fn output_bias(&mut self, target: &Pieces) -> Result<()> {
        let bias = self.tensors.take("final_logits_bias", [1, target.size])?;
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
        for position in 0..config.max_positions {
            let waves = waves(position, config.d_model, Waves::Halves);
            let near = |(a, b): (&f32, &f32)| (a - b).abs() <= POSITION_TOLERANCE;
            if !stored.row(position).iter().zip(&waves).all(near) {
                let problem = "are not sines and cosines; other positions are not supported";
                return Err(self.tensors.problem(format!("the positions in \"{name}\" {problem}")));
            }
        }
        Ok(())
    }

    fn layer(&mut self, stack: &str, layer: usize, config: &TransformerConfig) -> Result<()> {
        let (ours, theirs) = (format!("{stack}.{layer}"), format!("model.{stack}.layers.{layer}"));
        let (width, inner) = (config.d_model, config.d_ff);
        let attentions = if stack == "encoder" { &ATTENTIONS[..1] } else { &ATTENTIONS[..] };
        for (our_part, their_part) in attentions {
            for (our_map, their_map) in MAPS {
                let name = format!("{ours}.{our_part}.{our_map}");
                self.affine(&name, &format!("{theirs}.{their_part}.{their_map}"), [width, width])?;
            }
            self.norm(&format!("{ours}.{our_part}"), &format!("{theirs}.{their_part}_layer_norm"), width)?;
        }
        self.affine(&format!("{ours}.feed_forward.input"), &format!("{theirs}.fc1"), [inner, width])?;
        self.affine(&format!("{ours}.feed_forward.output"), &format!("{theirs}.fc2"), [width, inner])?;
        self.norm(&format!("{ours}.feed_forward"), &format!("{theirs}.final_layer_norm"), width)
    }

    fn affine(&mut self, ours: &str, theirs: &str, shape: [usize; 2]) -> Result<()> {
        let weight = self.tensors.take(&format!("{theirs}.weight"), shape)?;
        self.put(&format!("{ours}.weight"), weight);
        let bias = self.tensors.take(&format!("{theirs}.bias"), [shape[0]])?;
        self.put(&format!("{ours}.bias"), bias);
        Ok(())
    }

    fn norm(&mut self, ours: &str, theirs: &str, width: usize) -> Result<()> {
        let gain = self.tensors.take(&format!("{theirs}.weight"), [width])?;
        self.put(&format!("{ours}.norm.gain"), gain);
        let bias = self.tensors.take(&format!("{theirs}.bias"), [width])?;
        self.put(&format!("{ours}.norm.bias"), bias);
        Ok(())
    }
}
