//! The links that guide a training, read beside its text.

use std::path::Path;

use anyhow::{Result, bail};
use regard_text::{LinkLines, Pair, Pipeline, TextError, token_links};

use super::corpora::Encoded;

/// A file of links between words: line n belongs to line n of the training text, all corpora one after the other.
pub(super) struct Guide<'a> {
    lines: LinkLines,
    /// Lines read.
    read: usize,
    path: &'a Path,
    source: &'a Pipeline,
    target: &'a Pipeline,
}

impl<'a> Guide<'a> {
    pub(super) fn open(path: &'a Path, source: &'a Pipeline, target: &'a Pipeline) -> Result<Self> {
        Ok(Self { lines: LinkLines::open(path)?, read: 0, path, source, target })
    }

    /// The links between the tokens of a pair. Pairs come in the order of the text, and those that are left out are passed
    /// over.
    pub(super) fn links(&mut self, encoded: &Encoded<'_>) -> Result<Pair> {
        let mut links = Vec::new();
        while self.read < encoded.line_of_all {
            match self.lines.next().transpose()? {
                Some(next) => links = next,
                None => bail!("{} ends after line {}: {EACH_LINE}", self.path.display(), self.read),
            }
            self.read += 1;
        }
        let words = |pipeline: &Pipeline, line: &str| -> Vec<Option<usize>> {
            pipeline.tokenize_with_ranges(line).iter().map(|token| token.word).collect()
        };
        let mut source = vec![None; encoded.tags];
        source.extend(words(self.source, encoded.source));
        let linked = token_links(&links, &source, &words(self.target, encoded.target));
        Ok(linked.map_err(|problem| self.lines.bad(problem))?)
    }

    /// Sees to it that the file has as many lines as the text.
    pub(super) fn finish(self, lines: usize) -> Result<()> {
        let rest = self.lines.map(|line| line.map(|_| 1)).sum::<Result<usize, TextError>>()?;
        let found = self.read + rest;
        if found != lines {
            bail!("{} has {found} lines, and the training text {lines}: {EACH_LINE}", self.path.display());
        }
        Ok(())
    }
}

const EACH_LINE: &str =
    "line n has the links of line n of the training text, all corpora one after the other";
