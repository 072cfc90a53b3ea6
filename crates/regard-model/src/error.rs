//! What can go wrong with a model or its files.

use std::path::PathBuf;

use regard_tensor::TensorError;

/// A model could not be made, read, written or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The configuration asks for something impossible.
    #[error("model configuration: {0}")]
    Config(String),
    /// An operation got shapes that do not fit.
    #[error(transparent)]
    Tensor(#[from] TensorError),
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file of a model is not what it should be.
    #[error("{path}: {reason}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A model cannot be written as one of another program.
    #[error("this model cannot become a MarianMTModel: {0}")]
    Export(String),
    /// A tokenizer or vocabulary could not be read or written.
    #[error(transparent)]
    Text(#[from] regard_text::TextError),
}

/// The result of working with a model.
pub type Result<V> = std::result::Result<V, ModelError>;
