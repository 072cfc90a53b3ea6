//! Which pairs of a corpus are left out of a training, and how many for which reason.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::reader::is_blank;
use crate::error::TextError;

/// Which pairs are left out, besides those with a blank side.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CorpusFilters {
    /// Pairs with more tokens on a side; tags and EOS do not count.
    pub max_length: Option<usize>,
    /// Pairs whose longer side has more than so many times the tokens of the shorter one.
    pub max_ratio: Option<f64>,
    /// Pairs whose text, both sides, came before, in any corpus of the run.
    pub duplicates: bool,
    /// Pairs whose sides are the same text.
    pub identical: bool,
}

/// What became of the lines of a corpus: `lines` is the sum of all others. A pair that several filters would leave out
/// counts for the first of them in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CorpusReport {
    /// Lines read.
    pub lines: usize,
    /// Pairs that are left.
    pub kept: usize,
    /// Left out: a side is blank.
    pub blank: usize,
    /// Left out: the sides are the same text.
    pub identical: usize,
    /// Left out: the pair came before.
    pub duplicates: usize,
    /// Left out: a side has more tokens than allowed.
    pub too_long: usize,
    /// Left out: one side is too much longer than the other.
    pub unbalanced: usize,
}

impl CorpusFilters {
    /// Whether a pair of so many tokens stays; counts it.
    pub(super) fn admit_lengths(self, source: usize, target: usize, report: &mut CorpusReport) -> bool {
        let (longer, shorter) = (source.max(target), source.min(target));
        let is_balanced = |ratio: f64| longer as f64 <= ratio * shorter as f64;
        let count = if self.max_length.is_some_and(|limit| longer > limit) {
            &mut report.too_long
        } else if !self.max_ratio.is_none_or(is_balanced) {
            &mut report.unbalanced
        } else {
            report.kept += 1;
            return true;
        };
        *count += 1;
        false
    }
}

impl CorpusReport {
    /// Refuses a corpus without any pair that has text on both sides.
    ///
    /// # Errors
    /// [`TextError::NoPairs`], with the name.
    pub fn check(&self, file: &str) -> Result<(), TextError> {
        if self.lines > self.blank {
            return Ok(());
        }
        Err(TextError::NoPairs { file: file.to_owned(), lines: self.lines, blank: self.blank })
    }
}

/// The filters that look at text, with what they have seen.
#[derive(Default)]
pub(super) struct TextFilters {
    filters: CorpusFilters,
    /// The first half of the SHA-256 of each pair: 16 bytes a pair, and never the same for two different ones.
    seen: HashSet<[u8; 16]>,
}

impl TextFilters {
    pub(super) fn new(filters: CorpusFilters) -> Self {
        Self { filters, seen: HashSet::new() }
    }

    /// Whether a pair stays; counts it as a line, and for its filter where it does not.
    pub(super) fn admit(&mut self, source: &str, target: &str, report: &mut CorpusReport) -> bool {
        report.lines += 1;
        let count = if is_blank(source) || is_blank(target) {
            &mut report.blank
        } else if self.filters.identical && source == target {
            &mut report.identical
        } else if self.filters.duplicates && !self.seen.insert(digest(source, target)) {
            &mut report.duplicates
        } else {
            return true;
        };
        *count += 1;
        false
    }
}

fn digest(source: &str, target: &str) -> [u8; 16] {
    // A side is one line, so a line feed between the two is unmistakable.
    let digest = Sha256::new().chain_update(source).chain_update("\n").chain_update(target).finalize();
    std::array::from_fn(|place| digest[place])
}
