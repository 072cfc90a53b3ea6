//! The recipe of a training run: the TOML file of `regard train`.

mod check;
mod check_data;
mod data;
mod init;
mod parse;

use std::path::{Path, PathBuf};

use regard_model::{ModelConfig, Preset};
use regard_text::{Normalizer, SampleOptions, SentencePieceAlgorithm};
use serde::{Deserialize, Serialize};

use crate::config::TrainingConfig;
use crate::error::{Result, TrainError};
pub use data::{CorpusRecipe, DataRecipe, FiltersRecipe, TrainingCorpus};

/// The name of the recipe in the directory of a run: with all changes of the call, and paths as they were used.
pub const RECIPE_FILE: &str = "recipe.toml";

/// Pairs that are learned from where the text is not held in memory.
const CACHED_SAMPLE_LINES: usize = 1_000_000;

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
/// let regard_model::ModelConfig::Recurrent(model) = recipe.model_config()? else { panic!("luong is recurrent") };
/// assert_eq!(model.encoder.hidden, 128);
/// # Ok::<(), regard_train::TrainError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// Decides the first weights, the order of the data and all noise.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// The model that the training goes on from, with its tokenizers, vocabularies and network; a new one where it is not
    /// given. `[tokenizer]` is then left out, and `[model]` has rates of dropout alone.
    pub init_from: Option<PathBuf>,
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
    /// The most pairs that tokenizers and vocabularies are learned from, spread evenly over the text; where it is not
    /// given, a million with `data.cache`, all without.
    pub sample_lines: Option<usize>,
    /// Unicode normalisation before anything else.
    pub normalizer: Normalizer,
    /// Moses' tokenizer before, and its detokenizer after, by the languages of the data.
    pub moses: MosesUse,
    /// Lower case; the model then writes lower case too.
    pub lowercase: bool,
    /// BPE: merges are undone on a side until every piece is seen so often in the training text of that side; 0 for never.
    pub vocabulary_threshold: u64,
    /// BPE, also SentencePiece's: the text of training is cut anew in each epoch, every merge left out with this
    /// probability (BPE-dropout).
    pub dropout: f64,
    /// SentencePiece's unigram models: the text of training is cut anew in each epoch, with probabilities in proportion to
    /// p^alpha (subword regularisation); 0 for never.
    pub sampling_alpha: f32,
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
            sample_lines: None,
            normalizer: Normalizer::None,
            moses: MosesUse::Off,
            lowercase: false,
            vocabulary_threshold: 0,
            dropout: 0.0,
            sampling_alpha: 0.0,
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

impl TokenizerRecipe {
    /// How the text of training is cut anew, if it is.
    #[must_use]
    pub fn resampling(&self) -> Option<SampleOptions> {
        if self.dropout > 0.0 {
            return Some(SampleOptions::Dropout(self.dropout));
        }
        (self.sampling_alpha > 0.0).then_some(SampleOptions::All { alpha: self.sampling_alpha })
    }
}

impl Recipe {
    /// The configuration of a new model.
    ///
    /// # Errors
    /// Where `[model]` has an unknown key or an impossible value.
    pub fn model_config(&self) -> Result<ModelConfig> {
        self.changed(&self.model.preset.config())
    }

    /// The configuration of the model that `init_from` names, with the rates of dropout that `[model]` has.
    ///
    /// # Errors
    /// Where it has a rate that such a model does not know, or an impossible value.
    pub fn changed(&self, config: &ModelConfig) -> Result<ModelConfig> {
        let mut changes = self.model.changes.clone();
        if let Some(attention) = self.training.attention {
            changes.insert("cross_attention".to_owned(), serde_json::json!(attention));
        }
        Ok(config.with_changes(&serde_json::Value::Object(changes))?)
    }

    /// The recipe as TOML, with the value of every key that such a recipe may have.
    ///
    /// # Errors
    /// Where a number is larger than TOML's.
    pub fn to_toml(&self) -> Result<String> {
        let failed = |error: toml::ser::Error| TrainError::Recipe(error.to_string());
        if self.init_from.is_none() {
            return toml::to_string(self).map_err(failed);
        }
        let mut table = toml::Table::try_from(self).map_err(failed)?;
        init::leave_out(&mut table);
        toml::to_string(&table).map_err(failed)
    }

    /// The most pairs that tokenizers and vocabularies are learned from; all where there is no limit.
    #[must_use]
    pub fn sample_lines(&self) -> Option<usize> {
        self.tokenizer.sample_lines.or(self.data.cache.as_ref().map(|_| CACHED_SAMPLE_LINES))
    }

    /// Reads relative paths of data, links, tokenizers and other models from `directory`, where the recipe lies. `-` is the standard input.
    pub fn resolve_paths(&mut self, directory: &Path) {
        let tokenizers = [&mut self.tokenizer.source_model, &mut self.tokenizer.target_model];
        let training = &mut self.training;
        let links = training.guided_alignment.as_mut().map(|guide| &mut guide.file);
        let models = self.init_from.iter_mut().chain(&mut training.adversary_of);
        let paths = self.data.paths_mut().chain(tokenizers.into_iter().flatten()).chain(models).chain(links);
        for path in paths.filter(|path| path.as_os_str() != "-") {
            // An absolute path replaces the directory.
            *path = directory.join(&*path);
        }
    }
}
