//! A model of ours as a `MarianMTModel`.
//!
//! Two things are made theirs by exact changes of the weights: the order of the sines and cosines, and the vector that the
//! decoder starts with, which is zero there (see `weights`).

mod config;
mod requirements;
mod vocabulary;
mod weights;

use std::path::Path;

use regard_text::Tokenizer;
use serde::Serialize;

use super::damaged;
use crate::checkpoint::{ModelInfo, WEIGHTS, write_file, write_tensors_with};
use crate::error::Result;
use crate::parameters::Parameters;
use vocabulary::Vocabularies;

/// Writes a model into a directory that exists, as `transformers` and the converters of other programs read it:
/// `config.json`, `generation_config.json`, `model.safetensors`, `source.spm`, `target.spm`, `tokenizer_config.json`,
/// `vocab.json`, and `target_vocab.json` where the sides have a table each (`separate_vocabs`).
///
/// `<pad>` and `<s>` cannot be written there, so probabilities are those among all other tokens. A tag such as `<fra>`
/// becomes the language token `>>fra<<`. In real arithmetic nothing else changes.
///
/// # Errors
/// [`ModelError::Export`](crate::ModelError::Export) where a `MarianMTModel` cannot be what this model is, with the key of
/// the configuration; where a file cannot be written.
pub fn write(dir: &Path, info: &ModelInfo, parameters: &Parameters) -> Result<()> {
    let config = requirements::check(info)?;
    let vocabularies = Vocabularies::new(info)?;
    let tensors = weights::convert(config, parameters, &vocabularies)?;
    for (side, pipeline) in [("source", &info.source), ("target", &info.target)] {
        if let Tokenizer::SentencePiece(model) = &pipeline.tokenizer {
            model.write(dir.join(format!("{side}.spm")))?;
        }
    }
    write_json(&dir.join("vocab.json"), &vocabularies.source)?;
    if vocabularies.separate {
        write_json(&dir.join("target_vocab.json"), &vocabularies.target)?;
    }
    write_json(&dir.join("tokenizer_config.json"), &config::tokenizer(info, config, &vocabularies))?;
    write_json(&dir.join("generation_config.json"), &config::generation(config, &vocabularies))?;
    // Older versions of transformers refuse a file that does not say whose tensors it has.
    write_tensors_with(&dir.join(WEIGHTS), &tensors, Some(("format", "pt")))?;
    write_json(&dir.join("config.json"), &config::network(config, &vocabularies))
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let json = serde_json::to_string_pretty(value).map_err(|error| damaged(path, error.to_string()))?;
    write_file(path, (json + "\n").as_bytes())
}
