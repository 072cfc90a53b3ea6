//! Files → lines → pairs of ids.

mod pairs;
mod reader;

pub use pairs::{CorpusSource, PairLines};
pub(crate) use reader::read_utf8;
pub use reader::{Lines, is_blank};

use serde::Serialize;

use crate::batch::Pair;
use crate::error::TextError;
use crate::pipeline::Pipeline;

/// What became of the lines of a corpus. `lines` = `kept` + `blank` + `too_long`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CorpusReport {
    /// Lines read.
    pub lines: usize,
    /// Pairs that are left.
    pub kept: usize,
    /// Skipped: a side is blank.
    pub blank: usize,
    /// Skipped: a side has more tokens than allowed.
    pub too_long: usize,
}

/// A sentence and its translation, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPair {
    /// The source line.
    pub source: String,
    /// The target line.
    pub target: String,
    /// Where it stood in its file, from 1.
    pub line: usize,
}

/// The pairs of a corpus that have text on both sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParallelText {
    /// The pairs in file order.
    pub pairs: Vec<TextPair>,
    /// What was read and skipped.
    pub report: CorpusReport,
}

/// A corpus as ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Corpus {
    /// The pairs in file order.
    pub pairs: Vec<Pair>,
    /// What was read and skipped.
    pub report: CorpusReport,
}

impl ParallelText {
    /// Reads a whole corpus. A pair with a blank side is skipped and counted; it never shifts the others.
    ///
    /// # Errors
    /// Those of [`PairLines`]; [`TextError::NoPairs`] where nothing is left.
    pub fn read(source: &CorpusSource) -> Result<Self, TextError> {
        let mut text = Self::default();
        for pair in source.open()? {
            let (source, target) = pair?;
            text.push(source, target);
        }
        if text.pairs.is_empty() {
            let (CorpusSource::Files { source_path: path, .. } | CorpusSource::Tsv { path, .. }) = source;
            let CorpusReport { lines, blank, .. } = text.report;
            return Err(TextError::NoPairs { file: path.display().to_string(), lines, blank });
        }
        Ok(text)
    }

    /// The same from pairs in memory (a generated corpus).
    pub fn from_pairs(pairs: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut text = Self::default();
        for (source, target) in pairs {
            text.push(source, target);
        }
        text
    }

    fn push(&mut self, source: String, target: String) {
        self.report.lines += 1;
        if is_blank(&source) || is_blank(&target) {
            self.report.blank += 1;
        } else {
            self.report.kept += 1;
            self.pairs.push(TextPair { source, target, line: self.report.lines });
        }
    }

    /// The source lines.
    pub fn sources(&self) -> impl Iterator<Item = &str> {
        self.pairs.iter().map(|pair| pair.source.as_str())
    }

    /// The target lines.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        self.pairs.iter().map(|pair| pair.target.as_str())
    }

    /// Text → ids. A pair with a side of more than `max_length` tokens (EOS not counted) is skipped and counted.
    #[must_use]
    pub fn encode(&self, source: &Pipeline, target: &Pipeline, max_length: Option<usize>) -> Corpus {
        let mut corpus = Corpus { pairs: Vec::with_capacity(self.pairs.len()), report: self.report };
        let max_length = max_length.unwrap_or(usize::MAX);
        for pair in &self.pairs {
            let pair = Pair { source: source.encode(&pair.source), target: target.encode(&pair.target) };
            if pair.source.len().max(pair.target.len()) > max_length {
                corpus.report.too_long += 1;
                corpus.report.kept -= 1;
            } else {
                corpus.pairs.push(pair);
            }
        }
        corpus
    }
}
