//! What a `MarianMTModel` cannot be.

use regard_text::{Pipeline, Preparation, Tokenizer};
use serde::Serialize;

use crate::checkpoint::ModelInfo;
use crate::config::{CrossAttention, ModelConfig, Norm, NormPosition, Positions, TransformerConfig};
use crate::error::{ModelError, Result};

/// The configuration of a model that can be written.
pub(super) fn check(info: &ModelInfo) -> Result<&TransformerConfig> {
    let ModelConfig::Transformer(config) = &info.config else {
        return Err(refused("model.family", &"recurrent", "it is a Transformer"));
    };
    let TransformerConfig { positions, norm, norm_position, gated, .. } = config;
    let waves = matches!(positions, Positions::Sinusoidal | Positions::SinusoidalHalves);
    require(waves, "model.positions", positions, "its positions are \"sinusoidal\"")?;
    require(*norm == Norm::Layer, "model.norm", norm, "its norm is \"layer\"")?;
    require(
        config.norm_epsilon.is_none(),
        "model.norm_epsilon",
        &config.norm_epsilon,
        "its norm adds 1e-5 to the variance",
    )?;
    require(
        *norm_position == NormPosition::Post,
        "model.norm_position",
        norm_position,
        "its norm_position is \"post\"",
    )?;
    let learned = config.cross_attention;
    require(
        learned == CrossAttention::Learned,
        "model.cross_attention",
        &learned,
        "its attention is learned",
    )?;
    require(!gated, "model.gated", gated, "its feed-forward layers have no gate")?;
    for (side, pipeline) in [("source", &info.source), ("target", &info.target)] {
        check_text(pipeline).map_err(|(key, value, reason)| {
            refused(&format!("tokenizer.{key}"), &value, &format!("{reason} (the {side} side)"))
        })?;
    }
    Ok(config)
}

type Problem = (&'static str, serde_json::Value, &'static str);

/// Text must reach SentencePiece as it is.
fn check_text(pipeline: &Pipeline) -> std::result::Result<(), Problem> {
    let Tokenizer::SentencePiece(_) = pipeline.tokenizer else {
        return Err(("kind", pipeline.tokenizer.kind().into(), "its tokenizer is \"sentencepiece\""));
    };
    let Preparation { normalizer, moses, lowercase } = pipeline.preparation;
    let normalizer = serde_json::to_value(normalizer).unwrap_or_default();
    if normalizer != "none" {
        return Err(("normalizer", normalizer, "its tokenizer normalises in its own model alone"));
    }
    if moses.is_some() {
        return Err(("moses", true.into(), "its tokenizer takes raw text and gives it"));
    }
    if lowercase {
        return Err(("lowercase", true.into(), "its tokenizer keeps case"));
    }
    Ok(())
}

fn require(holds: bool, key: &str, value: &impl Serialize, reason: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(refused(key, value, reason)) }
}

fn refused(key: &str, value: &impl Serialize, reason: &str) -> ModelError {
    let value = serde_json::to_value(value).unwrap_or_default();
    ModelError::Export(format!("{key} = {value}, and {reason}"))
}
