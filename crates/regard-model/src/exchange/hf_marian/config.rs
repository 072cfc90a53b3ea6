//! `config.json` of a `MarianMTModel`.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{damaged, read_json, read_optional};
use crate::config::{
    Activation, CrossAttention, Norm, NormPosition, Positions, StackConfig, TiedEmbeddings, TransformerConfig,
};
use crate::error::Result;

/// Keys that may be there with this value only. Some are of old files; `MarianMTModel` has no other behaviour either.
const FIXED: [(&str, bool); 6] = [
    ("is_encoder_decoder", true),
    ("static_position_embeddings", true),
    ("normalize_before", false),
    ("normalize_embedding", false),
    ("add_final_layer_norm", false),
    ("add_bias_logits", false),
];

/// What the file says, as far as it matters here. The defaults are those of `MarianConfig`.
#[derive(Deserialize)]
struct File {
    model_type: String,
    d_model: usize,
    encoder_layers: usize,
    decoder_layers: usize,
    encoder_attention_heads: usize,
    decoder_attention_heads: usize,
    encoder_ffn_dim: usize,
    decoder_ffn_dim: usize,
    max_position_embeddings: usize,
    activation_function: String,
    #[serde(default)]
    scale_embedding: bool,
    #[serde(default = "yes")]
    share_encoder_decoder_embeddings: bool,
    #[serde(default = "yes")]
    tie_word_embeddings: bool,
    #[serde(default)]
    eos_token_id: u32,
    decoder_start_token_id: Option<u32>,
    #[serde(default = "tenth")]
    dropout: f64,
    #[serde(default)]
    attention_dropout: f64,
    #[serde(default)]
    activation_dropout: f64,
}

/// What `generation_config.json` says.
#[derive(Default, Deserialize)]
struct Generation {
    decoder_start_token_id: Option<u32>,
}

fn yes() -> bool {
    true
}

fn tenth() -> f64 {
    0.1
}

/// A model of theirs: the network, and the ids that mean something.
pub(super) struct Settings {
    pub(super) path: PathBuf,
    pub(super) config: TransformerConfig,
    /// One table for the words of both sides.
    pub(super) shares_tables: bool,
    /// The output layer is the table of the target side.
    pub(super) ties_output: bool,
    /// `</s>`.
    pub(super) end: u32,
    /// What the decoder reads first, where it is named.
    pub(super) start: Option<u32>,
}

impl Settings {
    pub(super) fn read(dir: &Path) -> Result<Self> {
        let path = dir.join("config.json");
        let fields: Map<String, Value> = read_json(&path)?;
        for (key, wanted) in FIXED {
            if let Some(value) = fields.get(key).filter(|&value| *value != Value::Bool(wanted)) {
                return Err(damaged(&path, format!("{key} = {value} is not supported, only {wanted} is")));
            }
        }
        let file: File = serde_json::from_value(Value::Object(fields))
            .map_err(|error| damaged(&path, error.to_string()))?;
        let generation: Generation = read_optional(&dir.join("generation_config.json"))?.unwrap_or_default();
        let config = network(&file).map_err(|problem| damaged(&path, problem))?;
        config.check().map_err(|error| damaged(&path, error.to_string()))?;
        Ok(Self {
            path,
            config,
            shares_tables: file.share_encoder_decoder_embeddings,
            ties_output: file.tie_word_embeddings,
            end: file.eos_token_id,
            start: file.decoder_start_token_id.or(generation.decoder_start_token_id),
        })
    }
}

fn network(file: &File) -> std::result::Result<TransformerConfig, String> {
    if file.model_type != "marian" {
        return Err(format!("model_type = \"{}\" is not supported, only \"marian\" is", file.model_type));
    }
    if file.encoder_ffn_dim != file.decoder_ffn_dim {
        let (encoder, decoder) = (file.encoder_ffn_dim, file.decoder_ffn_dim);
        return Err(format!(
            "encoder_ffn_dim = {encoder} and decoder_ffn_dim = {decoder} are not supported, only equal ones are"
        ));
    }
    let activation = match file.activation_function.as_str() {
        "relu" => Activation::Relu,
        "gelu" => Activation::Gelu,
        "swish" | "silu" => Activation::Swish,
        other => {
            return Err(format!(
                "activation_function = \"{other}\" is not supported; \"relu\", \"gelu\", \"swish\" and \"silu\" are"
            ));
        }
    };
    Ok(TransformerConfig {
        d_model: file.d_model,
        d_ff: file.encoder_ffn_dim,
        tied_embeddings: match (file.share_encoder_decoder_embeddings, file.tie_word_embeddings) {
            (true, true) => TiedEmbeddings::All,
            (false, true) => TiedEmbeddings::TargetOutput,
            (_, false) => TiedEmbeddings::None,
        },
        scale_embeddings: file.scale_embedding,
        positions: Positions::SinusoidalHalves,
        max_positions: file.max_position_embeddings,
        norm: Norm::Layer,
        norm_epsilon: None,
        norm_position: NormPosition::Post,
        activation,
        gated: false,
        output_bias: true,
        encoder: StackConfig { layers: file.encoder_layers, heads: file.encoder_attention_heads },
        decoder: StackConfig { layers: file.decoder_layers, heads: file.decoder_attention_heads },
        dropout: file.dropout,
        attention_dropout: file.attention_dropout,
        feed_forward_dropout: file.activation_dropout,
        cross_attention: CrossAttention::Learned,
    })
}
