//! Parallel text: two files, or two columns of one.

use std::path::{Path, PathBuf};

use super::reader::Lines;
use crate::error::TextError;

/// Where parallel text lies. Each file may be plain, gzip or zstandard.
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

    /// Opens the text for reading line by line, blank lines included.
    ///
    /// # Errors
    /// [`TextError::Read`].
    pub fn open(&self) -> Result<PairLines, TextError> {
        Ok(PairLines(match self {
            Self::Files { source_path, target_path } => {
                Reader::Files(Lines::open(source_path)?, Lines::open(target_path)?)
            }
            Self::Tsv { path, source_column, target_column } => {
                Reader::Tsv(Lines::open(path)?, *source_column, *target_column)
            }
        }))
    }
}

/// An iterator over (source, target) lines. Two files of different length give [`TextError::UnequalLines`] with both
/// counts where the shorter one ends. Ends after an error.
pub struct PairLines(Reader);

enum Reader {
    Files(Lines, Lines),
    Tsv(Lines, usize, usize),
    Done,
}

impl PairLines {
    fn read(&mut self) -> Result<Option<(String, String)>, TextError> {
        match &mut self.0 {
            Reader::Files(source, target) => match (source.next().transpose()?, target.next().transpose()?) {
                (Some(source), Some(target)) => Ok(Some((source, target))),
                (None, None) => Ok(None),
                _ => Err(unequal(source, target)?),
            },
            Reader::Tsv(lines, source_column, target_column) => {
                let Some(line) = lines.next().transpose()? else { return Ok(None) };
                let source = column(&line, *source_column, lines)?;
                let target = column(&line, *target_column, lines)?;
                Ok(Some((source, target)))
            }
            Reader::Done => Ok(None),
        }
    }
}

impl Iterator for PairLines {
    type Item = Result<(String, String), TextError>;

    fn next(&mut self) -> Option<Self::Item> {
        let pair = self.read().transpose();
        if !matches!(pair, Some(Ok(_))) {
            self.0 = Reader::Done;
        }
        pair
    }
}

fn column(line: &str, column: usize, lines: &Lines) -> Result<String, TextError> {
    line.split('\t').nth(column).map(str::to_owned).ok_or_else(|| TextError::MissingColumn {
        file: lines.name().to_owned(),
        line: lines.line(),
        column,
        found: line.split('\t').count(),
    })
}

/// Counts what is left of the longer side, for the message.
fn unequal(source: &mut Lines, target: &mut Lines) -> Result<TextError, TextError> {
    for line in source.chain(&mut *target) {
        line?;
    }
    Ok(TextError::UnequalLines {
        source_file: source.name().to_owned(),
        source_lines: source.line(),
        target_file: target.name().to_owned(),
        target_lines: target.line(),
    })
}
