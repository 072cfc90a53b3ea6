//! A model that is served.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use regard_decode::{DecodeError, Translator};
use regard_model::{AttentionSite, ModelConfig, ModelError, ModelInfo, SiteKind, checkpoint};
use regard_tensor::{Precision, Threads};
use safetensors::tensor::Metadata;
use serde::Serialize;

/// What kind of network it is, by how its writer comes to know the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelKind {
    /// One vector for the whole sentence.
    FixedVector,
    /// A recurrent writer that looks at the source at every word.
    Attention,
    /// A Transformer.
    Transformer,
}

/// A trained model with what the server says about it.
#[derive(Clone)]
pub struct Model {
    /// What requests call it.
    pub name: String,
    /// The kind of network.
    pub kind: ModelKind,
    /// The code of the source language, or an empty string.
    pub source_language: String,
    /// The code of the target language, or an empty string.
    pub target_language: String,
    /// The number of weights.
    pub parameters: usize,
    /// All its attentions.
    pub sites: Vec<AttentionSite>,
    /// Where it lies: a length curve and an audit may lie there too.
    pub directory: PathBuf,
    /// Translates.
    pub translator: Arc<Translator>,
}

/// A model could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Its files cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Its parts do not belong together.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A file cannot be read.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
}

impl Model {
    /// Reads a model's directory.
    ///
    /// # Errors
    /// Where it cannot be used, with the file that is wrong.
    pub fn load(directory: &Path, name: String, threads: &Threads) -> Result<Self, LoadError> {
        let (info, network) = checkpoint::load_to_run(directory, threads, Precision::F32)?;
        let has_attention = network.has_attention();
        let sites = [network.cross_sites(), self_sites(&info.config)].concat();
        let kind = match (&info.config, has_attention) {
            (ModelConfig::Transformer(_), _) => ModelKind::Transformer,
            (ModelConfig::Recurrent(_), true) => ModelKind::Attention,
            (ModelConfig::Recurrent(_), false) => ModelKind::FixedVector,
        };
        let ModelInfo { source_language, target_language, source, target, .. } = info;
        Ok(Self {
            name,
            kind,
            source_language,
            target_language,
            parameters: count_weights(&directory.join("model.safetensors"))?,
            sites,
            directory: directory.to_owned(),
            translator: Arc::new(Translator::new(Arc::from(network), source, target, threads.clone())?),
        })
    }

    /// Whether its decoder looks at the source.
    #[must_use]
    pub fn has_attention(&self) -> bool {
        self.translator.model().has_attention()
    }
}

/// The looks of each side at itself.
fn self_sites(config: &ModelConfig) -> Vec<AttentionSite> {
    let sites = |kind: SiteKind, layers: usize, heads: usize| {
        let site = move |index: usize| AttentionSite { kind, layer: index / heads, head: index % heads };
        (0..layers * heads).map(site).collect::<Vec<_>>()
    };
    match config {
        ModelConfig::Transformer(config) => [
            sites(SiteKind::EncoderSelf, config.encoder.layers, config.encoder.heads),
            sites(SiteKind::DecoderSelf, config.decoder.layers, config.decoder.heads),
        ]
        .concat(),
        ModelConfig::Recurrent(config) => config
            .reader
            .map_or_else(Vec::new, |reader| sites(SiteKind::EncoderSelf, reader.layers, reader.heads)),
    }
}

/// The numbers that a safetensors file holds, by its header.
fn count_weights(path: &Path) -> Result<usize, LoadError> {
    let wrong = |reason: String| LoadError::File { path: path.to_owned(), reason };
    let mut file = File::open(path).map_err(|error| wrong(error.to_string()))?;
    let (mut length, mut header) = ([0; 8], Vec::new());
    file.read_exact(&mut length).map_err(|error| wrong(error.to_string()))?;
    file.take(u64::from_le_bytes(length))
        .read_to_end(&mut header)
        .map_err(|error| wrong(error.to_string()))?;
    let metadata: Metadata = serde_json::from_slice(&header).map_err(|error| wrong(error.to_string()))?;
    Ok(metadata.tensors().values().map(|tensor| tensor.shape.iter().product::<usize>()).sum())
}

/// A name for each directory: its last part, with a number where another one has it already.
///
/// ```
/// use std::path::PathBuf;
/// let names = regard_serve::unique_names(&["a/attention", "b/attention", "c"].map(PathBuf::from));
/// assert_eq!(names, ["attention", "attention-2", "c"]);
/// ```
#[must_use]
pub fn unique_names(directories: &[PathBuf]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let name = |directory: &PathBuf| {
        // `.` and `..` have a name too.
        let whole = directory.canonicalize().unwrap_or_else(|_| directory.clone());
        let last =
            whole.file_name().map_or_else(|| "model".to_owned(), |name| name.to_string_lossy().into_owned());
        let mut candidates =
            std::iter::once(last.clone()).chain((2..).map(|number: u64| format!("{last}-{number}")));
        let free = candidates.find(|name| !taken.contains(name)).unwrap_or(last);
        taken.insert(free.clone());
        free
    };
    directories.iter().map(name).collect()
}
