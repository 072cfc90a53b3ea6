//! What can go wrong between a recipe and a trained model.

use std::path::{Path, PathBuf};

use regard_model::ModelError;
use regard_tensor::TensorError;
use regard_text::TextError;

/// A training run could not be set up, continued or finished.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// A recipe is not valid TOML, or has an unknown key or a value of the wrong type.
    #[error("{0}")]
    Recipe(String),
    /// A change of a recipe is not `key=value`, or no such key can be set.
    #[error("{change}: {reason}")]
    Change {
        /// The change.
        change: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A key of a recipe has an impossible value.
    #[error("{}{key}: {reason}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
    Impossible {
        /// Where the key stands in the recipe, if it stands there.
        line: Option<usize>,
        /// The dotted path of the key.
        key: String,
        /// What it is and what is allowed.
        reason: String,
    },
    /// The model failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// An operation failed.
    #[error(transparent)]
    Tensor(#[from] TensorError),
    /// A text or a tokenizer file failed.
    #[error(transparent)]
    Text(#[from] TextError),
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The loss or the norm of the gradients is not a finite number.
    #[error(
        "{what} is {value} at step {step}, epoch {epoch}, batch {batch} (pairs {}): what was saved before is still good; \
         continue from it or begin anew with a lower learning rate or a smaller clip_norm, or look at these pairs",
        list(pairs)
    )]
    NotFinite {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// The update, from 1.
        step: u64,
        /// The pass over the data, from 1.
        epoch: u64,
        /// The batch of the epoch, from 1.
        batch: usize,
        /// The pairs of the batch, as they are numbered in the training data, from 1, skipped lines not counted.
        pairs: Vec<usize>,
    },
    /// There is nothing to train on.
    #[error("no pairs to train on: the training data is empty, or every pair was skipped")]
    NoPairs,
    /// The links of guided alignment are not those of the training pairs.
    #[error("{pairs} pairs to train on, and links of {links}: each pair has its own")]
    Unguided {
        /// Pairs to train on.
        pairs: usize,
        /// Pairs that links are there for.
        links: usize,
    },
    /// There is nothing to validate on.
    #[error("no pairs to validate on: the validation data is empty, or every pair was skipped")]
    NoValidationPairs,
    /// A validator failed.
    #[error("validation at step {step}: {source}")]
    Validation {
        /// After which update.
        step: u64,
        /// What the validator said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A file of a checkpoint is not what it should be.
    #[error("{path}: {reason}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A new run would overwrite an older one.
    #[error("{path}: already holds a run; continue it with --resume, or choose another directory")]
    RunExists {
        /// The directory.
        path: PathBuf,
    },
    /// There is nothing to continue from.
    #[error("{path}: holds a model and no checkpoint to go on from; name another directory to begin a run")]
    NoCheckpoint {
        /// The directory of the run.
        path: PathBuf,
    },
    /// No checkpoint can be read.
    #[error("{path}: no undamaged checkpoint to resume from; the newest: {newest}")]
    AllDamaged {
        /// The directory of the checkpoints.
        path: PathBuf,
        /// What is wrong with the newest one.
        newest: String,
    },
    /// A run cannot be continued because something that decides its course has changed.
    #[error(
        "the checkpoint was trained with {what} = {stored}, this run has {given}: resume with what it began with"
    )]
    OtherRun {
        /// What has changed.
        what: &'static str,
        /// The value of the checkpoint.
        stored: String,
        /// The value now.
        given: String,
    },
    /// Models that should be averaged are not of the same kind.
    #[error("cannot average: {0}")]
    Average(String),
}

/// The result of a part of training.
pub type Result<V> = std::result::Result<V, TrainError>;

/// Turns a system error on `path` into ours.
pub(crate) fn io_error(path: &Path) -> impl FnOnce(std::io::Error) -> TrainError {
    let path = path.to_owned();
    |source| TrainError::Io { path, source }
}

/// The first numbers of a list, and how many more there are.
fn list(numbers: &[usize]) -> String {
    const SHOWN: usize = 16;
    let shown: Vec<String> = numbers.iter().take(SHOWN).map(ToString::to_string).collect();
    let more = numbers.len().saturating_sub(SHOWN);
    if more == 0 { shown.join(", ") } else { format!("{}, and {more} more", shown.join(", ")) }
}
