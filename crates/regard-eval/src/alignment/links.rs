//! The links of a sentence pair.

use std::collections::BTreeSet;

/// The links of a sentence pair as `(source, target)`, positions of words from 0.
pub type Links = BTreeSet<(usize, usize)>;

/// The same links with source and target exchanged.
#[must_use]
pub fn transpose(links: &Links) -> Links {
    links.iter().map(|&(source, target)| (target, source)).collect()
}

/// Links of a sentence pair as people mark them: S, which a right alignment has, and P ⊇ S, which it may have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GoldLinks {
    sure: Links,
    possible: Links,
}

impl GoldLinks {
    /// Makes every sure link a possible one too.
    #[must_use]
    pub fn new(sure: Links, mut possible: Links) -> Self {
        possible.extend(&sure);
        Self { sure, possible }
    }

    /// S, the sure links.
    #[must_use]
    pub fn sure(&self) -> &Links {
        &self.sure
    }

    /// P, the sure links and the merely possible ones.
    #[must_use]
    pub fn possible(&self) -> &Links {
        &self.possible
    }

    pub(super) fn insert(&mut self, link: (usize, usize), sure: bool) {
        self.possible.insert(link);
        if sure {
            self.sure.insert(link);
        }
    }
}
