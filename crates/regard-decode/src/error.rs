//! What can go wrong between ids and text.

use regard_model::ModelError;

/// A search, a forced decoding or a translation could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The options ask for something impossible.
    #[error("search options: {0}")]
    Options(String),
    /// Something needs attention weights and the model has none.
    #[error(
        "{wanted} needs attention weights, and this model hands the source over as one fixed vector: leave it out or take a model with attention"
    )]
    NoAttention {
        /// What was asked for.
        wanted: &'static str,
    },
    /// The model's probabilities are not numbers.
    #[error(
        "sentence {sentence}, target position {position} (both from 0): the model's probabilities are not numbers; \
         its weights are damaged or its training diverged"
    )]
    NotANumber {
        /// The sentence, counted from 0 in what the call was given.
        sentence: usize,
        /// The target position, from 0.
        position: usize,
    },
    /// Forced decoding got another number of targets than of sources.
    #[error("{sources} sources but {targets} targets: each source needs its target")]
    Unpaired {
        /// Sources.
        sources: usize,
        /// Targets.
        targets: usize,
    },
    /// A target id is not in the model's vocabulary.
    #[error("sentence {sentence} (from 0): target id {id} is outside the model's vocabulary of {vocabulary}")]
    UnknownId {
        /// The sentence, counted from 0 in what the call was given.
        sentence: usize,
        /// The id.
        id: u32,
        /// The number of target ids.
        vocabulary: usize,
    },
    /// Model and vocabulary do not belong together.
    #[error(
        "the model writes {model} different tokens but its target vocabulary has {vocabulary}: the files do not belong together"
    )]
    Vocabulary {
        /// Target ids of the model.
        model: usize,
        /// Entries of the vocabulary.
        vocabulary: usize,
    },
    /// A tag that the source side does not have.
    #[error(transparent)]
    Text(#[from] regard_text::TextError),
    /// The caller's flag was raised.
    #[error("cancelled")]
    Cancelled,
    /// The model could not run.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl DecodeError {
    /// The same error, its sentence named by its place in a whole of which `places` were the batch.
    pub(crate) fn in_whole(mut self, places: &[usize]) -> Self {
        if let Self::NotANumber { sentence, .. } | Self::UnknownId { sentence, .. } = &mut self
            && let Some(&place) = places.get(*sentence)
        {
            *sentence = place;
        }
        self
    }
}

/// The result of decoding.
pub type Result<V> = std::result::Result<V, DecodeError>;
