//! Where parallel text lies, and in which form.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::pairs::PairLines;
use crate::error::TextError;

/// Where parallel text lies. Each file may be plain, gzip or zstandard, but for Parquet; the path `-` is standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CorpusSource {
    /// Line n of one file translates line n of the other.
    Files {
        /// The source side.
        source_path: PathBuf,
        /// The target side.
        target_path: PathBuf,
    },
    /// Tab-separated columns, counted from 0. Quotes have no meaning; further columns are ignored.
    Tsv {
        /// The file.
        path: PathBuf,
        /// The column of the source side.
        source_column: usize,
        /// The column of the target side.
        target_column: usize,
    },
    /// A JSON object a line. Further fields are ignored; `a.b` is the field `b` of the object in the field `a`.
    JsonLines {
        /// The file.
        path: PathBuf,
        /// The field of the source side.
        source_field: String,
        /// The field of the target side.
        target_field: String,
    },
    /// A Parquet file; reading it needs the cargo feature `parquet`. Columns are named like fields of JSON Lines.
    Parquet {
        /// The file.
        path: PathBuf,
        /// The column of the source side.
        source_field: String,
        /// The column of the target side.
        target_field: String,
    },
}

/// The form of a file that holds both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CorpusFormat {
    /// Columns, separated by tabs.
    #[serde(rename = "tsv")]
    Tsv,
    /// A JSON object a line.
    #[serde(rename = "jsonl")]
    JsonLines,
    /// Apache Parquet.
    #[serde(rename = "parquet")]
    Parquet,
}

impl CorpusFormat {
    /// The form that a file's name promises: `.jsonl`, `.ndjson` and `.json` are JSON Lines, `.parquet` is Parquet, and
    /// everything else is TSV. An ending `.gz` or `.zst` is left out of account.
    ///
    /// ```
    /// use regard_text::CorpusFormat;
    /// assert_eq!(CorpusFormat::of_path("train.jsonl.gz"), CorpusFormat::JsonLines);
    /// assert_eq!(CorpusFormat::of_path("-"), CorpusFormat::Tsv);
    /// ```
    pub fn of_path(path: impl AsRef<Path>) -> Self {
        let mut path = path.as_ref();
        let stem;
        if has_extension(path, &["gz", "zst"]) {
            stem = path.with_extension("");
            path = &stem;
        }
        if has_extension(path, &["jsonl", "ndjson", "json"]) {
            Self::JsonLines
        } else if has_extension(path, &["parquet"]) {
            Self::Parquet
        } else {
            Self::Tsv
        }
    }
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let found = path.extension().map(std::ffi::OsStr::to_ascii_lowercase);
    found.is_some_and(|found| extensions.iter().any(|&extension| found == extension))
}

impl CorpusSource {
    /// Two files.
    pub fn files(source: impl AsRef<Path>, target: impl AsRef<Path>) -> Self {
        Self::Files { source_path: source.as_ref().into(), target_path: target.as_ref().into() }
    }

    /// One TSV file, source in column 0 and target in column 1.
    pub fn tsv(path: impl AsRef<Path>) -> Self {
        Self::Tsv { path: path.as_ref().into(), source_column: 0, target_column: 1 }
    }

    /// The files.
    #[must_use]
    pub fn paths(&self) -> Vec<&Path> {
        match self {
            Self::Files { source_path, target_path } => vec![source_path, target_path],
            Self::Tsv { path, .. } | Self::JsonLines { path, .. } | Self::Parquet { path, .. } => vec![path],
        }
    }

    /// What messages call the corpus: its file, or that of the source side.
    #[must_use]
    pub fn name(&self) -> String {
        self.paths().first().map(|path| path.display().to_string()).unwrap_or_default()
    }

    /// Opens the text for reading pair by pair, blank lines included.
    ///
    /// # Errors
    /// [`TextError::Read`]; [`TextError::BadRecord`] where a Parquet file lacks a column;
    /// [`TextError::ParquetLeftOut`] where the program cannot read Parquet.
    pub fn open(&self) -> Result<PairLines, TextError> {
        PairLines::open(self)
    }
}
