//! What can go wrong when a model is looked into.

use regard_decode::DecodeError;
use regard_model::ModelError;
use regard_tensor::TensorError;
use thiserror::Error;

/// A result of this crate.
pub type Result<T, E = LookError> = std::result::Result<T, E>;

/// Why a model without attention cannot be looked into.
pub(crate) const BLIND: &str = "this model has one vector and nothing to look at";

/// What can go wrong when a model is looked into.
#[derive(Debug, Error)]
pub enum LookError {
    /// The sentence has no tokens.
    #[error("the sentence is blank: there is nothing to look at")]
    Nothing,
    /// The model or the sentence does not have what an intervention names.
    #[error("{spec}: {problem}")]
    Impossible {
        /// The intervention, or the part of it.
        spec: String,
        /// What is not there.
        problem: String,
    },
    /// A method is not made for such a model.
    #[error("{method}: {reason}")]
    Unfit {
        /// The method.
        method: &'static str,
        /// Why not.
        reason: &'static str,
    },
    /// The model did not show a part that a method reads.
    #[error("the model does not show the part that is to be read")]
    Hidden,
    /// No pair is left to audit.
    #[error("no line is left to audit: all are blank or have over {most} tokens")]
    NoPairs {
        /// Longer pairs are left out.
        most: usize,
    },
    /// It is not wanted any more.
    #[error("stopped")]
    Stopped,
    /// An archive would be larger than its format allows.
    #[error("{0}: more than 4 GiB do not fit into an .npz file; choose a shorter sentence")]
    Archive(String),
    /// A metric says so.
    #[error("{0}")]
    Metric(String),
    /// Decoding says so.
    #[error("{0}")]
    Decode(#[from] DecodeError),
    /// The model says so.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// An operation says so.
    #[error(transparent)]
    Tensor(#[from] TensorError),
}
