//! Marian's translation models as Hugging Face has them: OPUS-MT, class `MarianMTModel`.
//!
//! The network is a Transformer of this crate; what differs is the order of the vocabulary, in which `</s>` comes first
//! and `<pad>` last, and what the decoder reads first: `<pad>` there, `<s>` here. So the rows of the tables change their
//! places, and the row of `<s>` holds the vector of `<pad>`.

mod config;
mod names;
mod tensors;
mod vocabulary;
mod weights;
mod write;

pub use write::write;

use std::fs;
use std::path::Path;

use regard_text::{Normalizer, Pipeline, SentencePiece, Tokenizer};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::checkpoint::ModelInfo;
use crate::config::ModelConfig;
use crate::error::{ModelError, Result};
use crate::seq2seq::Seq2Seq;
use config::Settings;
use tensors::Tensors;
use vocabulary::Pieces;

/// What `tokenizer_config.json` says of the languages.
#[derive(Default, Deserialize)]
struct Languages {
    #[serde(default)]
    source_lang: Option<String>,
    #[serde(default)]
    target_lang: Option<String>,
}

/// Whether a directory says that it holds a model of Hugging Face; [`read`] says which ones it takes.
#[must_use]
pub fn is_one(dir: &Path) -> bool {
    let config: Result<serde_json::Value> = read_json(&dir.join("config.json"));
    config.is_ok_and(|config| config.get("model_type").is_some())
}

/// Reads a directory as it comes from the hub: `config.json`, `model.safetensors`, `source.spm`, `target.spm`,
/// `vocab.json`; and where they are there `target_vocab.json`, `generation_config.json` and `tokenizer_config.json`.
///
/// A language token such as `>>fra<<` becomes the tag `<fra>`. `<pad>` is never written, so probabilities are those
/// among all other tokens, as Marian itself has them; weights of 16 bits become f32.
///
/// # Errors
/// Where a file is missing or damaged, the configuration asks for what is not supported (by key and value), or a weight
/// is missing, unknown or has another shape (by its name there).
pub fn read(dir: &Path) -> Result<(ModelInfo, Box<dyn Seq2Seq>)> {
    let settings = Settings::read(dir)?;
    let target_file = if settings.shares_tables || !dir.join("target_vocab.json").exists() {
        "vocab.json"
    } else {
        "target_vocab.json"
    };
    // The reader starts with nothing; only a table that both sides share needs the row there too.
    let start = settings.start.filter(|_| settings.shares_tables);
    let source = Pieces::read(&dir.join("vocab.json"), &settings, start)?;
    let target = Pieces::read(&dir.join(target_file), &settings, settings.start)?;
    let tensors = Tensors::read(dir)?;
    let weights = weights::convert(tensors, &settings, &source, &target)?;
    let languages: Languages = read_optional(&dir.join("tokenizer_config.json"))?.unwrap_or_default();
    let info = ModelInfo {
        config: ModelConfig::Transformer(settings.config),
        source_language: languages.source_lang.unwrap_or_default(),
        target_language: languages.target_lang.unwrap_or_default(),
        source: pipeline(&dir.join("source.spm"), source)?,
        target: pipeline(&dir.join("target.spm"), target)?,
    };
    let network = info.restore(weights)?;
    Ok((info, network))
}

fn pipeline(model: &Path, pieces: Pieces) -> Result<Pipeline> {
    let tokenizer = Tokenizer::SentencePiece(SentencePiece::read(model)?);
    let pipeline = Pipeline::new(Normalizer::None, tokenizer);
    Ok(pipeline.with_text_tokens(pieces.text)?.with_tags(pieces.tags)?)
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let bytes = fs::read(path).map_err(|source| ModelError::Io { path: path.to_owned(), source })?;
    serde_json::from_slice(&bytes).map_err(|error| damaged(path, error.to_string()))
}

fn read_optional<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    if path.exists() { read_json(path).map(Some) } else { Ok(None) }
}

fn damaged(path: &Path, reason: String) -> ModelError {
    ModelError::Damaged { path: path.to_owned(), reason }
}
