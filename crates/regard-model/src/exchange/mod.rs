//! Models of other programs.

pub mod hf_marian;
pub mod marian;
pub mod npz;

use std::path::Path;

use crate::checkpoint::{self, ModelInfo};
use crate::error::Result;
use crate::seq2seq::Seq2Seq;

/// Reads a model directory, whoever wrote it: one of ours, or a `MarianMTModel` of Hugging Face.
///
/// # Errors
/// Those of [`checkpoint::load`] and [`hf_marian::read`].
pub fn read(dir: &Path) -> Result<(ModelInfo, Box<dyn Seq2Seq>)> {
    if hf_marian::is_one(dir) { hf_marian::read(dir) } else { checkpoint::load(dir) }
}
