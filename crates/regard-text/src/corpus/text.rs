//! A small corpus as text, whole: validation sets, and what is generated.

use std::convert::Infallible;

use super::filters::{CorpusFilters, CorpusReport, TextFilters};
use super::source::CorpusSource;
use crate::batch::Pair;
use crate::error::TextError;
use crate::pipeline::Pipeline;

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

impl ParallelText {
    /// Reads a whole corpus. A pair with a blank side is skipped and counted; it never shifts the others.
    ///
    /// # Errors
    /// Those of [`PairLines`](crate::PairLines); [`TextError::NoPairs`] where nothing is left.
    pub fn read(source: &CorpusSource) -> Result<Self, TextError> {
        let text = Self::collect(source.open()?)?;
        text.report.check(&source.name())?;
        Ok(text)
    }

    /// The same from pairs in memory (a generated corpus).
    pub fn from_pairs(pairs: impl IntoIterator<Item = (String, String)>) -> Self {
        let pairs = pairs.into_iter().map(Ok::<_, Infallible>);
        Self::collect(pairs).unwrap_or_else(|error| match error {})
    }

    fn collect<E>(pairs: impl Iterator<Item = Result<(String, String), E>>) -> Result<Self, E> {
        let mut text = Self::default();
        let mut blanks = TextFilters::new(CorpusFilters::default());
        for pair in pairs {
            let (source, target) = pair?;
            if blanks.admit(&source, &target, &mut text.report) {
                text.report.kept += 1;
                text.pairs.push(TextPair { source, target, line: text.report.lines });
            }
        }
        Ok(text)
    }

    /// The source lines.
    pub fn sources(&self) -> impl Iterator<Item = &str> {
        self.pairs.iter().map(|pair| pair.source.as_str())
    }

    /// The target lines.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        self.pairs.iter().map(|pair| pair.target.as_str())
    }

    /// Text → ids, every pair, the tags before each source. A training set goes through a
    /// [`CorpusEncoder`](crate::CorpusEncoder).
    ///
    /// # Errors
    /// Where the source pipeline does not know a tag.
    pub fn encode(
        &self,
        source: &Pipeline,
        target: &Pipeline,
        tags: &[String],
    ) -> Result<Vec<Pair>, TextError> {
        let pair = |pair: &TextPair| {
            let source = source.encode_tagged(tags, &pair.source)?;
            Ok(Pair { source, target: target.encode(&pair.target) })
        };
        self.pairs.iter().map(pair).collect()
    }
}
