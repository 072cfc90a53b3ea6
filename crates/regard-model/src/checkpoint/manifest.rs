//! `config.json`: what the model is, and the size and digest of every file, itself included.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek};
use std::path::Path;

use regard_text::Pipeline;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{ModelInfo, durable};
use crate::config::ModelConfig;
use crate::error::{ModelError, Result};

/// The format that this version writes, and the newest that it reads.
const FORMAT_VERSION: u32 = 1;
/// The file of the manifest.
pub(super) const NAME: &str = "config.json";

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    format_version: u32,
    /// SHA-256 of this file as it is without these digits; see [`seal`].
    config_sha256: String,
    /// The version of Regard that wrote it.
    regard_version: String,
    source_language: String,
    target_language: String,
    source_vocabulary: usize,
    target_vocabulary: usize,
    model: ModelConfig,
    files: BTreeMap<String, FileRecord>,
    /// Files that may still be there in place of those of the same name in `files`: a write was under way.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    replacing: BTreeMap<String, FileRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileRecord {
    bytes: u64,
    sha256: String,
}

impl FileRecord {
    fn of(path: &Path) -> Result<Self> {
        let io = |source| ModelError::Io { path: path.to_owned(), source };
        Self::read(&mut File::open(path).map_err(io)?).map_err(io)
    }

    fn read(file: &mut File) -> std::io::Result<Self> {
        let (mut bytes, mut block, mut digest) = (0, vec![0; 1 << 20], Sha256::new());
        loop {
            let read = file.read(&mut block)?;
            if read == 0 {
                return Ok(Self { bytes, sha256: hexadecimal(&digest.finalize()) });
            }
            digest.update(&block[..read]);
            bytes += read as u64;
        }
    }
}

impl Manifest {
    /// The manifest of a model whose files are in `dir`.
    pub(super) fn new(info: &ModelInfo, dir: &Path, files: &[String]) -> Result<Self> {
        let record = |name: &String| Ok((name.clone(), FileRecord::of(&dir.join(name))?));
        Ok(Self {
            format_version: FORMAT_VERSION,
            config_sha256: String::new(),
            regard_version: env!("CARGO_PKG_VERSION").to_owned(),
            source_language: info.source_language.clone(),
            target_language: info.target_language.clone(),
            source_vocabulary: info.source.vocabulary.len(),
            target_vocabulary: info.target.vocabulary.len(),
            model: info.config.clone(),
            files: files.iter().map(record).collect::<Result<_>>()?,
            replacing: BTreeMap::new(),
        })
    }

    pub(super) fn write(&self, dir: &Path) -> Result<()> {
        let path = dir.join(NAME);
        let unsealed = Self { config_sha256: String::new(), ..self.clone() };
        let json = serde_json::to_string_pretty(&unsealed)
            .map_err(|error| ModelError::Damaged { path: path.clone(), reason: error.to_string() })?;
        durable::write_file(&path, seal(&(json + "\n")).as_bytes())
    }

    pub(super) fn read(dir: &Path) -> Result<Self> {
        #[derive(Deserialize)]
        struct Head {
            format_version: u32,
            #[serde(default)]
            config_sha256: String,
        }
        let path = dir.join(NAME);
        let damaged = |reason: String| ModelError::Damaged { path: path.clone(), reason };
        let bad_json = |error: serde_json::Error| damaged(format!("is not a model's configuration: {error}"));
        let text =
            String::from_utf8(read(&path)?).map_err(|error| damaged(format!("is not text: {error}")))?;
        let head: Head = serde_json::from_str(&text).map_err(bad_json)?;
        if head.format_version > FORMAT_VERSION {
            return Err(damaged(format!(
                "has format version {}, this program reads up to {FORMAT_VERSION}; use a newer regard",
                head.format_version
            )));
        }
        if sha256(text.replace(&head.config_sha256, "").as_bytes()) != head.config_sha256 {
            return Err(damaged(
                "was changed: its digest is not its config_sha256; restore it, or use a directory under checkpoints/"
                    .to_owned(),
            ));
        }
        serde_json::from_str(&text).map_err(bad_json)
    }

    /// The first file that two models do not share, or of which one has none; `but` is left out.
    pub(super) fn first_difference<'a>(&'a self, other: &'a Self, but: &str) -> Option<&'a str> {
        let names = self.files.keys().chain(other.files.keys()).filter(|name| *name != but);
        names.map(String::as_str).find(|&name| self.files.get(name) != other.files.get(name))
    }

    /// Opens a file, where it is the one that this manifest means.
    pub(super) fn open(&self, dir: &Path, name: &str) -> Result<File> {
        let path = dir.join(name);
        let damaged = |reason: String| ModelError::Damaged { path: path.clone(), reason };
        let wanted: Vec<_> =
            [&self.files, &self.replacing].iter().filter_map(|files| files.get(name)).collect();
        let Some(first) = wanted.first() else {
            return Err(damaged(format!("is not listed in {NAME}")));
        };
        let io = |source| ModelError::Io { path: path.clone(), source };
        let mut file = File::open(&path).map_err(io)?;
        let size = file.metadata().map_err(io)?.len();
        if wanted.iter().all(|record| record.bytes != size) {
            return Err(damaged(format!(
                "has {size} bytes where {NAME} says {}: it was cut, changed or belongs to another model; restore it, or \
                 use a directory under checkpoints/",
                first.bytes
            )));
        }
        let found = FileRecord::read(&mut file).map_err(io)?;
        if !wanted.contains(&&found) {
            return Err(damaged(format!(
                "has the digest {} where {NAME} says {}: it was changed or belongs to another model; restore it, or use \
                 a directory under checkpoints/",
                found.sha256, first.sha256
            )));
        }
        file.rewind().map_err(io)?;
        Ok(file)
    }

    /// What the model is; its text files are checked.
    pub(super) fn info(self, dir: &Path) -> Result<ModelInfo> {
        // Every file that is read must be listed, whatever is listed besides.
        let read = |stem: &str| ["tokenizer.json", "vocab.txt"].map(|part| format!("{stem}.{part}"));
        let learned = ["bpe", "pieces.txt", "spm", "huggingface.json"];
        let learned = ["source", "target"].map(|stem| learned.map(|part| format!("{stem}.{part}")));
        let learned = learned.into_iter().flatten();
        let learned = learned.filter(|name| self.files.contains_key(name) || dir.join(name).exists());
        for name in read("source").into_iter().chain(read("target")).chain(learned) {
            self.open(dir, &name)?;
        }
        let (source, target) = (Pipeline::load(dir, "source")?, Pipeline::load(dir, "target")?);
        let sizes = (source.vocabulary.len(), target.vocabulary.len());
        if sizes != (self.source_vocabulary, self.target_vocabulary) {
            let reason = format!(
                "says {} source and {} target entries, the vocabularies have {} and {}",
                self.source_vocabulary, self.target_vocabulary, sizes.0, sizes.1
            );
            return Err(ModelError::Damaged { path: dir.join(NAME), reason });
        }
        self.model.check()?;
        Ok(ModelInfo {
            config: self.model,
            source_language: self.source_language,
            target_language: self.target_language,
            source,
            target,
        })
    }

    /// The manifests while the file `name` is exchanged for `new_file`, and after. The first admits the file that is
    /// there now, which an interrupted exchange may have left older than `files` says.
    pub(super) fn exchange(
        &self,
        info: &ModelInfo,
        dir: &Path,
        name: &str,
        new_file: &Path,
    ) -> Result<(Self, Self)> {
        let mut after = Self { model: info.config.clone(), replacing: BTreeMap::new(), ..self.clone() };
        after.files.insert(name.to_owned(), FileRecord::of(new_file)?);
        let mut during = after.clone();
        during.replacing.insert(name.to_owned(), FileRecord::of(&dir.join(name))?);
        Ok((during, after))
    }
}

/// Puts the digest of a text into its empty `config_sha256`.
fn seal(text: &str) -> String {
    let sealed = format!("\"config_sha256\": \"{}\"", sha256(text.as_bytes()));
    text.replacen("\"config_sha256\": \"\"", &sealed, 1)
}

fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |digits, byte| digits + &format!("{byte:02x}"))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|source| ModelError::Io { path: path.to_owned(), source })
}
