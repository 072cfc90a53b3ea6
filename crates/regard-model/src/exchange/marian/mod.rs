//! Marian's own models: `model.npz` and its vocabularies.
//!
//! The configuration is inside the archive. Every weight of it must be one of the network that the configuration describes,
//! so that an option which is not known here cannot be overlooked. Marian begins a translation with a word of zeros and has
//! no padding among its words: the rows of `<s>` and `<pad>` are zeros, and both are never written.

mod options;
mod s2s;
mod transformer;
mod vocabulary;
mod weights;
mod yaml;

pub use vocabulary::OtherSize;

use std::path::{Path, PathBuf};

use crate::checkpoint::ModelInfo;
use crate::config::ModelConfig;
use crate::error::{ModelError, Result};
use crate::exchange::npz::Npz;
use crate::seq2seq::Seq2Seq;
use options::Options;
use vocabulary::Words;
use weights::Weights;

/// What Marian's normalisations add to the variance.
const EPSILON: f64 = 1e-9;

/// A model that was taken over.
pub struct Imported {
    /// What it is.
    pub info: ModelInfo,
    /// The network.
    pub network: Box<dyn Seq2Seq>,
    /// The vocabularies that may be another model's: to be told to the user.
    pub other_sizes: Vec<OtherSize>,
}

/// Reads a model of the type `s2s` or `transformer` with the vocabularies of source and target: `.spm`, `.yml`, `.yaml` and `.json`
/// by their names, else one token a line. Where they are not given they are those that `MODEL.decoder.yml` or `MODEL.yml`
/// names, there or beside the model.
///
/// # Errors
/// Where a file is missing or damaged, the configuration asks for what is not supported (by key and value), or a weight is
/// missing, unknown or has another shape (by its name there).
pub fn read(model: &Path, vocabularies: Option<&[PathBuf; 2]>) -> Result<Imported> {
    let npz = Npz::read(model)?;
    let options = Options::of_model(model, &npz)?;
    let config = match options.word("type").as_deref() {
        Some("transformer") => ModelConfig::Transformer(transformer::network(&options)?),
        Some("s2s") => ModelConfig::Recurrent(s2s::network(&options)?),
        _ => return Err(options.refusal("type", "s2s and transformer are")),
    };
    config.check().map_err(|error| damaged(model, error.to_string()))?;
    let found = match vocabularies {
        Some(vocabularies) => vocabularies.clone(),
        None => vocabulary::beside(model)?,
    };
    let [source, target] = words(&npz, &options, &found)?;
    let mut other_sizes: Vec<OtherSize> =
        [&source, &target].into_iter().filter_map(|words| words.other_size.clone()).collect();
    other_sizes.dedup();
    let mut weights = Weights::new(&npz);
    match &config {
        ModelConfig::Transformer(config) => {
            transformer::convert(&mut weights, &options, config, (&source, &target))?;
        }
        ModelConfig::Recurrent(config) => {
            s2s::convert(&mut weights, &options, config, (&source, &target))?;
        }
    }
    let weights = weights.finish()?;
    let info = ModelInfo {
        config,
        source_language: String::new(),
        target_language: String::new(),
        source: source.into_pipeline()?,
        target: target.into_pipeline()?,
    };
    let network = info.restore(weights)?;
    Ok(Imported { info, network, other_sizes })
}

/// The words of both sides, as many as the tables have rows.
fn words(npz: &Npz, options: &Options, paths: &[PathBuf; 2]) -> Result<[Words; 2]> {
    let (shared, _) = options.tied()?;
    let [source, target] = weights::table_names(shared);
    let width = options.size("dim-emb")?;
    let read = |name: &str, path: &Path| match npz.shape(name) {
        Some(&[rows, columns]) if columns == width => Words::read(path, rows),
        Some(shape) => Err(npz.problem(format!("\"{name}\" has the shape {shape:?}, not [ids, {width}]"))),
        None => Err(npz.problem(format!("there is no array \"{name}\""))),
    };
    Ok([read(source, &paths[0])?, read(target, &paths[1])?])
}

fn damaged(path: &Path, reason: String) -> ModelError {
    ModelError::Damaged { path: path.to_owned(), reason }
}
