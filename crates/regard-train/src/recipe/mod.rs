//! The recipe of a training run: the TOML file of `regard train`.

mod check;
mod parse;

use std::path::{Path, PathBuf};

use regard_model::{ModelConfig, Preset};
use regard_text::{CorpusSource, Normalizer, SentencePieceAlgorithm};
use serde::{Deserialize, Serialize};

use crate::config::TrainingConfig;
use crate::error::Result;

/// Everything that decides a training run. An unknown key is an error.
///
/// ```
/// use regard_train::Recipe;
/// let text = r#"
///     [data]
///     source = "train.en"
///     target = "train.fr"
///     [model]
///     preset = "luong"
///     encoder.hidden = 128
///     decoder.hidden = 128
///     [training]
///     updates = 1000
/// "#;
/// let recipe = Recipe::parse(text, &["training.clip_norm=5".to_owned()])?;
/// assert_eq!(recipe.training.clip_norm, 5.0);
/// assert_eq!(recipe.model_config()?.encoder.hidden, 128);
/// # Ok::<(), regard_train::TrainError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// Decides the first weights, the order of the data and all noise.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// The text.
    pub data: DataRecipe,
    /// How text becomes tokens.
    #[serde(default)]
    pub tokenizer: TokenizerRecipe,
    /// The network.
    #[serde(default)]
    pub model: ModelRecipe,
    /// How it is trained.
    pub training: TrainingConfig,
    /// How it is judged on the way.
    #[serde(default)]
    pub validation: ValidationRecipe,
}

fn default_seed() -> u64 {
    1
}

/// The text of a training run: two files a set, or one TSV.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataRecipe {
    /// The source side, one sentence a line.
    pub source: Option<PathBuf>,
    /// The target side.
    pub target: Option<PathBuf>,
    /// Both sides in one file: source, tab, target.
    pub pairs: Option<PathBuf>,
    /// The source side for validation.
    pub valid_source: Option<PathBuf>,
    /// The target side for validation.
    pub valid_target: Option<PathBuf>,
    /// Both sides for validation.
    pub valid_pairs: Option<PathBuf>,
    /// The code of the source language, such as `en`.
    pub source_language: Option<String>,
    /// The code of the target language.
    pub target_language: Option<String>,
    /// Pairs with more tokens on a side are left out of the training, and counted.
    #[serde(default = "default_max_length")]
    pub max_length: usize,
}

fn default_max_length() -> usize {
    100
}

/// How text becomes tokens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TokenizerRecipe {
    /// What a token is.
    pub kind: TokenizerKind,
    /// Merges that byte-pair encoding learns.
    pub merges: usize,
    /// One tokenizer, learned on both sides; the vocabularies stay apart unless the model ties all embeddings.
    pub joint: bool,
    /// The most tokens of a vocabulary, special ones included; all where it is not given. SentencePiece: the pieces of a
    /// model that is trained, 8000 where it is not given.
    pub vocabulary_size: Option<usize>,
    /// Rarer tokens are unknown.
    pub min_count: u64,
    /// Unicode normalisation before anything else.
    pub normalizer: Normalizer,
    /// Moses' tokenizer before, and its detokenizer after, by the languages of the data.
    pub moses: MosesUse,
    /// Lower case; the model then writes lower case too.
    pub lowercase: bool,
    /// BPE: merges are undone on a side until every piece is seen so often in the training text of that side; 0 for never.
    pub vocabulary_threshold: u64,
    /// BPE: regular expressions of what is never cut.
    pub glossaries: Vec<String>,
    /// SentencePiece: how a model that is trained cuts words.
    pub algorithm: SentencePieceAlgorithm,
    /// SentencePiece: the share of all characters that get a piece in a model that is trained.
    pub character_coverage: f64,
    /// SentencePiece: what has no piece in a model that is trained becomes bytes.
    pub byte_fallback: bool,
    /// SentencePiece and Hugging Face: a model for the source that is there already; nothing is trained then.
    pub source_model: Option<PathBuf>,
    /// Likewise for the target.
    pub target_model: Option<PathBuf>,
}

impl Default for TokenizerRecipe {
    fn default() -> Self {
        Self {
            kind: TokenizerKind::Bpe,
            merges: 8000,
            joint: true,
            vocabulary_size: None,
            min_count: 1,
            normalizer: Normalizer::None,
            moses: MosesUse::Off,
            lowercase: false,
            vocabulary_threshold: 0,
            glossaries: Vec::new(),
            algorithm: SentencePieceAlgorithm::Unigram,
            character_coverage: 0.9995,
            byte_fallback: false,
            source_model: None,
            target_model: None,
        }
    }
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenizerKind {
    /// A piece of a word, learned by byte-pair encoding.
    Bpe,
    /// What stands between spaces.
    Word,
    /// A character.
    Character,
    /// A piece of raw text, as SentencePiece makes them.
    #[serde(rename = "sentencepiece")]
    SentencePiece,
    /// What a `tokenizer.json` of Hugging Face makes; both models must be given.
    #[serde(rename = "huggingface")]
    HuggingFace,
}

/// Whether a model has Moses' tokenizer around it: it then takes and gives raw text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MosesUse {
    /// It has not.
    Off,
    /// It has, and the training and validation text is raw.
    Raw,
    /// It has, and the training and validation text has been through it already.
    Tokenized,
}

/// A preset and what is different from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelRecipe {
    /// Where the configuration starts.
    #[serde(default = "default_preset")]
    pub preset: Preset,
    /// Fields of [`ModelConfig`], nested as it is, that replace the preset's.
    #[serde(flatten)]
    pub changes: serde_json::Map<String, serde_json::Value>,
}

fn default_preset() -> Preset {
    Preset::Bahdanau
}

impl Default for ModelRecipe {
    fn default() -> Self {
        Self { preset: default_preset(), changes: serde_json::Map::new() }
    }
}

/// How a model is judged on the way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ValidationRecipe {
    /// Which number decides what the best model is.
    pub metric: Metric,
    /// Beams of the translations that BLEU is computed from.
    pub beam_size: usize,
    /// Training ends after so many validations in a row without a better one; 0 for never.
    pub patience: u64,
    /// Only the first lines of the validation set are used; all where it is not given.
    pub max_lines: Option<usize>,
}

impl Default for ValidationRecipe {
    fn default() -> Self {
        Self { metric: Metric::Loss, beam_size: 5, patience: 0, max_lines: None }
    }
}

/// Which number decides what the best model is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// -log p per token, the lower the better.
    Loss,
    /// BLEU of beam output, the higher the better.
    Bleu,
    /// As `loss`, and token accuracy under teacher forcing minus that in free running is reported beside it.
    ExposureGap,
}

impl Recipe {
    /// The configuration of the model.
    ///
    /// # Errors
    /// Where `[model]` has an unknown key or an impossible value.
    pub fn model_config(&self) -> Result<ModelConfig> {
        let changes = serde_json::Value::Object(self.model.changes.clone());
        Ok(self.model.preset.config().with_changes(&changes)?)
    }

    /// Reads relative paths of data and tokenizers from `directory`, where the recipe lies.
    pub fn resolve_paths(&mut self, directory: &Path) {
        let data = &mut self.data;
        let training = [&mut data.source, &mut data.target, &mut data.pairs];
        let validation = [&mut data.valid_source, &mut data.valid_target, &mut data.valid_pairs];
        let tokenizers = [&mut self.tokenizer.source_model, &mut self.tokenizer.target_model];
        for path in training.into_iter().chain(validation).chain(tokenizers).flatten() {
            // An absolute path replaces the directory.
            *path = directory.join(&*path);
        }
    }
}

impl DataRecipe {
    /// The training text.
    ///
    /// # Errors
    /// Where not exactly one of a pair of files and a TSV is given; a parsed recipe has been checked for it.
    pub fn training_text(&self) -> Result<CorpusSource> {
        self.check().map_err(|problem| parse::impossible(None, "data", problem))?;
        let text = corpus(self.source.as_ref(), self.target.as_ref(), self.pairs.as_ref());
        // The check has seen that it is there.
        text.ok_or(crate::TrainError::NoPairs)
    }

    /// The validation text, if there is one.
    #[must_use]
    pub fn validation_text(&self) -> Option<CorpusSource> {
        corpus(self.valid_source.as_ref(), self.valid_target.as_ref(), self.valid_pairs.as_ref())
    }
}

fn corpus(
    source: Option<&PathBuf>,
    target: Option<&PathBuf>,
    pairs: Option<&PathBuf>,
) -> Option<CorpusSource> {
    match (source, target, pairs) {
        (Some(source), Some(target), _) => Some(CorpusSource::files(source, target)),
        (_, _, Some(pairs)) => Some(CorpusSource::tsv(pairs)),
        _ => None,
    }
}
