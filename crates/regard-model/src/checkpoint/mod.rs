//! A model on disk: a directory of `config.json`, `model.safetensors`, tokenizer and vocabulary files.
//!
//! `config.json` holds the size and the digest of every other file, so that a file which was cut, changed or belongs to
//! another model is refused by name before anything of it is used.

mod durable;
mod manifest;
mod tensors;

pub use durable::{tidy, write_directory, write_file};
use tensors::read_tensor_file;
pub(crate) use tensors::write_tensors_with;
pub use tensors::{read_tensors, write_tensors};

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use regard_tensor::{Precision, Tensor, Threads};
use regard_text::Pipeline;

use crate::config::ModelConfig;
use crate::error::{ModelError, Result};
use crate::parameters::Parameters;
use crate::seq2seq::{Predictor, Seq2Seq};
use manifest::{Manifest, NAME};

/// The file of the weights.
pub(crate) const WEIGHTS: &str = "model.safetensors";

/// What a model is, besides its weights: everything that is fixed at training.
#[derive(Clone, Debug)]
pub struct ModelInfo {
    /// The network.
    pub config: ModelConfig,
    /// The code of the source language, or an empty string.
    pub source_language: String,
    /// The code of the target language, or an empty string.
    pub target_language: String,
    /// How source lines become ids.
    pub source: Pipeline,
    /// How ids become target lines.
    pub target: Pipeline,
}

impl ModelInfo {
    /// A network of this kind with fresh weights.
    ///
    /// # Errors
    /// Where the configuration is impossible.
    pub fn build(&self, seed: u64) -> Result<Box<dyn Seq2Seq>> {
        let (source, target) = (self.source.vocabulary.len(), self.target.vocabulary.len());
        self.config.build(source, target, seed)
    }

    /// A network of this kind with these weights.
    ///
    /// # Errors
    /// Where the configuration is impossible or the weights are not those of such a network.
    pub fn restore(&self, weights: Vec<(String, Tensor)>) -> Result<Box<dyn Seq2Seq>> {
        let (source, target) = (self.source.vocabulary.len(), self.target.vocabulary.len());
        self.config.restore(source, target, weights)
    }
}

/// Writes a model into a directory that exists and holds none; see [`write_directory`] for doing so at once.
///
/// # Errors
/// Where a file cannot be written.
pub fn save(dir: &Path, info: &ModelInfo, parameters: &Parameters) -> Result<()> {
    let mut files = info.source.save(dir, "source")?;
    files.extend(info.target.save(dir, "target")?);
    write_tensors(&dir.join(WEIGHTS), &named(parameters))?;
    files.push(WEIGHTS.to_owned());
    Manifest::new(info, dir, &files)?.write(dir)
}

/// Puts new weights in the place of a model's old ones, or writes the model where there was none. At every moment the
/// directory holds a whole model: while the file is exchanged, `config.json` admits the old and the new one.
///
/// # Errors
/// Where a file cannot be written; the old model is then still there.
pub fn replace(dir: &Path, info: &ModelInfo, parameters: &Parameters) -> Result<()> {
    fs::create_dir_all(dir).map_err(|source| ModelError::Io { path: dir.to_owned(), source })?;
    tidy(dir, &[NAME, WEIGHTS])?;
    let Ok(old) = Manifest::read(dir) else {
        return save(dir, info, parameters);
    };
    let new_file = durable::temporary(&dir.join(WEIGHTS));
    write_tensors(&new_file, &named(parameters))?;
    let (during, after) = old.exchange(info, dir, WEIGHTS, &new_file)?;
    during.write(dir)?;
    durable::rename(&new_file, &dir.join(WEIGHTS))?;
    after.write(dir)
}

/// Reads a model: what it is, and the network with its weights.
///
/// # Errors
/// Where a file is missing, is not what `config.json` says, or is of a newer format; the message names the file.
pub fn load(dir: &Path) -> Result<(ModelInfo, Box<dyn Seq2Seq>)> {
    read(dir, None)
}

/// Reads a model that will be run in a precision and not trained. Of the weights that are only multiplied with, and in f32
/// of a table of words that is the output layer too, what products read is kept and nothing else, one after the other: it
/// takes little more memory than that.
///
/// # Errors
/// As [`load`].
pub fn load_to_run(
    dir: &Path,
    threads: &Threads,
    precision: Precision,
) -> Result<(ModelInfo, Box<dyn Predictor>)> {
    let (info, network) = read(dir, Some((threads, precision)))?;
    Ok((info, network))
}

/// Reads a model; to be run in a precision only, where one is given.
fn read(dir: &Path, run: Option<(&Threads, Precision)>) -> Result<(ModelInfo, Box<dyn Seq2Seq>)> {
    let manifest = Manifest::read(dir)?;
    let file = manifest.open(dir, WEIGHTS)?;
    let info = manifest.info(dir)?;
    let path = dir.join(WEIGHTS);
    let vocabularies = (info.source.vocabulary.len(), info.target.vocabulary.len());
    let maps = run.map(|(_, precision)| info.config.maps(vocabularies.0, vocabularies.1, precision));
    let maps: BTreeSet<String> = maps.into_iter().flatten().collect();
    let weights = read_tensor_file(&path, file, |name, tensor| match run {
        Some((threads, precision)) if maps.contains(name) => tensor.into_packed(threads, precision),
        _ => tensor,
    })?;
    let network = info.restore(weights).map_err(|error| {
        let reason = format!("does not fit config.json ({error}): it belongs to another model");
        ModelError::Damaged { path, reason }
    })?;
    Ok((info, network))
}

/// Says whether two models read and write the same tokens, so that they can translate together.
///
/// # Errors
/// [`ModelError::Config`] with the first file of tokenizers and vocabularies in which they differ.
pub fn check_same_text(one: &Path, other: &Path) -> Result<()> {
    let (ours, theirs) = (Manifest::read(one)?, Manifest::read(other)?);
    let same = "models that translate together need the same tokenizers and vocabularies";
    match ours.first_difference(&theirs, WEIGHTS) {
        Some(name) => Err(ModelError::Config(format!(
            "{} and {} differ in {name}: {same}",
            one.display(),
            other.display()
        ))),
        None => Ok(()),
    }
}

/// The weights with their names, as [`write_tensors`] takes them.
#[must_use]
pub fn named(parameters: &Parameters) -> Vec<(String, Tensor)> {
    parameters.names().iter().cloned().zip(parameters.values().iter().cloned()).collect()
}
