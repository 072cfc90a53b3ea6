//! What a model's configuration says, and what it may not say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::damaged;
use super::yaml::{self, Value};
use crate::config::TiedEmbeddings;
use crate::error::{ModelError, Result};
use crate::exchange::npz::Npz;

/// The array with the configuration.
pub(super) const MODEL_YML: &str = "special:model.yml";

/// Options that change the network and may have these values only; what is not said is as the first one.
pub(super) type Fixed = (&'static str, &'static [&'static str]);

/// Of every type of model.
const FIXED: [Fixed; 6] = [
    ("input-types", &["", "sequence, sequence"]),
    ("right-left", &["false"]),
    ("factors-dim-emb", &["0"]),
    ("lemma-dim-emb", &["0"]),
    ("lemma-dependency", &[""]),
    ("ulr", &["false"]),
];

/// A configuration. What older versions of Marian did not have is not said in their models.
pub(super) struct Options {
    path: PathBuf,
    values: BTreeMap<String, Value>,
}

impl Options {
    /// The configuration inside a model: text, up to a NUL.
    pub(super) fn of_model(model: &Path, npz: &Npz) -> Result<Self> {
        let bytes = npz.text(MODEL_YML)?;
        let bytes = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
        let text = str::from_utf8(bytes).map_err(|_| damaged(model, format!("{MODEL_YML} is not UTF-8")))?;
        let options =
            Self::parse(model, text).map_err(|problem| damaged(model, format!("{MODEL_YML}: {problem}")))?;
        options.allow(&FIXED)?;
        Ok(options)
    }

    /// The configuration in `text`, which errors call `path`.
    pub(super) fn parse(path: &Path, text: &str) -> std::result::Result<Self, String> {
        Ok(Self { path: path.to_owned(), values: yaml::mapping(text)? })
    }

    /// A value in words; the items of a list with commas between.
    pub(super) fn word(&self, key: &str) -> Option<String> {
        self.values.get(key).map(|value| match value {
            Value::Scalar(scalar) => scalar.clone(),
            Value::List(items) => items.join(", "),
        })
    }

    /// The items of a list; none where it is not there.
    pub(super) fn list(&self, key: &str) -> &[String] {
        match self.values.get(key) {
            Some(Value::List(items)) => items,
            _ => &[],
        }
    }

    /// Whether something is switched on.
    pub(super) fn flag(&self, key: &str) -> Result<bool> {
        match self.word(key).as_deref() {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(self.refusal(key, "true and false are")),
        }
    }

    /// A size.
    pub(super) fn size(&self, key: &str) -> Result<usize> {
        let number = self.word(key).and_then(|word| word.parse().ok());
        number.ok_or_else(|| self.refusal(key, "a number is"))
    }

    /// Refuses other values than those that are allowed.
    pub(super) fn allow(&self, fixed: &[Fixed]) -> Result<()> {
        for (key, allowed) in fixed {
            if self.word(key).is_some_and(|word| !allowed.contains(&word.as_str())) {
                let allowed: Vec<String> = allowed.iter().map(|value| format!("\"{value}\"")).collect();
                return Err(self.refusal(key, &format!("only {} is", allowed.join(" or "))));
            }
        }
        Ok(())
    }

    /// That a key has a value which is not supported, and what is.
    pub(super) fn refusal(&self, key: &str, supported: &str) -> ModelError {
        let value = self.word(key).map_or("nothing".to_owned(), |word| format!("\"{word}\""));
        self.problem(format!("{key} = {value} is not supported, {supported}"))
    }

    pub(super) fn problem(&self, problem: String) -> ModelError {
        damaged(&self.path, problem)
    }

    /// Whether one table serves both sides, and which tables share their weights with the output layer.
    pub(super) fn tied(&self) -> Result<(bool, TiedEmbeddings)> {
        let all = self.flag("tied-embeddings-all")?;
        let shared = all || self.flag("tied-embeddings-src")?;
        let output = all || self.flag("tied-embeddings")?;
        Ok(match (shared, output) {
            (true, true) => (true, TiedEmbeddings::All),
            (false, true) => (false, TiedEmbeddings::TargetOutput),
            (shared, false) => (shared, TiedEmbeddings::None),
        })
    }
}
