//! Training: from lines of text to a model that the package reads too.
//!
//! The choices that the package leaves to its options are its defaults: words are cut at white space and at a change of
//! script, pieces have at most 16 characters, lines of more than 4192 bytes are left out.

mod bpe;
mod corpus;
mod file;
mod rules;
mod seed;
mod unigram;
mod validity;

use serde::{Deserialize, Serialize};

use super::SentencePiece;
use crate::error::TextError;
use corpus::Corpus;

/// How text is cut into pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SentencePieceAlgorithm {
    /// The most probable segmentation under a unigram language model (Kudo 2018).
    #[default]
    Unigram,
    /// Frequent pairs of neighbours are merged (Sennrich et al. 2016).
    Bpe,
}

/// What is done to the characters of a text first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SentencePieceNormalization {
    /// NFKC; control characters go, and what separates words invisibly becomes a space. The package's default.
    #[default]
    NmtNfkc,
    /// NFKC (UAX #15).
    Nfkc,
    /// Nothing.
    Identity,
}

/// How a model is trained.
#[derive(Clone, Debug, PartialEq)]
pub struct SentencePieceConfig {
    /// How it cuts text.
    pub algorithm: SentencePieceAlgorithm,
    /// Number of pieces; those for unknown, begin and end, user-defined and byte pieces count.
    pub vocabulary_size: usize,
    /// The share of all characters of the text that get a piece, the frequent ones first: above 0, up to 1.
    pub character_coverage: f64,
    /// What has no piece becomes UTF-8 bytes, so that nothing is unknown.
    pub byte_fallback: bool,
    /// Each is always one piece, wherever it stands.
    pub user_defined_symbols: Vec<String>,
    /// What is done to the characters first.
    pub normalization: SentencePieceNormalization,
}

impl Default for SentencePieceConfig {
    fn default() -> Self {
        Self {
            algorithm: SentencePieceAlgorithm::default(),
            vocabulary_size: 8000,
            character_coverage: 0.9995,
            byte_fallback: false,
            user_defined_symbols: Vec::new(),
            normalization: SentencePieceNormalization::default(),
        }
    }
}

/// Where a training stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentencePieceProgress {
    /// Pieces that there are now: many at first that become fewer (unigram), or few that become more (BPE).
    pub pieces: usize,
    /// Pieces that there shall be.
    pub goal: usize,
}

/// A piece of a trained model with its score.
type Scored = (String, f32);

impl SentencePiece {
    /// Trains a model. The result depends on the multiset of lines and the configuration, not on the number of threads;
    /// `progress` is called as the work goes on.
    ///
    /// # Errors
    /// [`TextError::BadTraining`] for a configuration that cannot be met, such as a vocabulary that is too small for the
    /// characters or too large for the text.
    pub fn train(
        lines: impl IntoIterator<Item = impl AsRef<str> + Sync>,
        config: &SentencePieceConfig,
        threads: usize,
        progress: &mut dyn FnMut(SentencePieceProgress),
    ) -> Result<Self, TextError> {
        let bad = |problem: String| TextError::BadTraining { problem };
        let meta = file::meta_pieces(config).map_err(bad)?;
        let charsmap = rules::charsmap(config.normalization);
        let model_of = |learned: Vec<Scored>| file::assemble(config, &meta, learned, charsmap.as_deref());
        // The model without any learned piece normalises as the trained one will.
        let normalizer = Self::from_bytes(model_of(Vec::new()), "the model under training")?;
        let corpus =
            Corpus::count(lines, config.character_coverage, &meta, &normalizer.inner.normalization, threads);
        let goal = config.vocabulary_size.saturating_sub(meta.len());
        if corpus.characters.len() >= goal {
            return Err(bad(format!(
                "a vocabulary of {} is too small: the text has {} characters to cover, and {} pieces have their place already; \
                 choose at least {}, or cover fewer characters",
                config.vocabulary_size,
                corpus.characters.len(),
                meta.len(),
                corpus.characters.len() + meta.len() + 1
            )));
        }
        let learned = match config.algorithm {
            SentencePieceAlgorithm::Unigram => unigram::learn(&corpus, goal, threads, progress),
            SentencePieceAlgorithm::Bpe => bpe::learn(&corpus, goal, progress),
        };
        if learned.len() < goal {
            return Err(bad(format!(
                "a vocabulary of {} is too large for this text: choose at most {}",
                config.vocabulary_size,
                learned.len() + meta.len()
            )));
        }
        Self::from_bytes(model_of(learned), "the trained model")
    }
}
