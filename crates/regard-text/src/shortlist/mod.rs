//! The target words that may translate the words of a sentence.
//!
//! ```text
//! pairs of ids ─ model_one ─→ probable translations ─→ Shortlist ─ file
//! ```

mod file;
mod model_one;

use std::cmp::Reverse;

use crate::batch::Pair;
use crate::special_tokens::is_special;
use crate::vocabulary::Vocabulary;

/// For each source id the target ids that it most often becomes, and the target ids that every sentence may use.
///
/// ```
/// use regard_text::{Pair, Shortlist, Vocabulary};
/// let vocabulary = |tokens: &[&str]| Vocabulary::from_counts(tokens.iter().map(|&token| (token, 1)), None, 1);
/// let (source, target) = (vocabulary(&["a", "b"]), vocabulary(&["x", "y", "z"]));
/// // `a x`, `a b x y`: a is x, and so b is y.
/// let pairs = [(vec![4], vec![4]), (vec![4, 5], vec![4, 5])];
/// let pairs = pairs.map(|(source, target)| Pair { source, target });
/// let shortlist = Shortlist::learn(&pairs, &source, &target, 1, 0);
/// assert_eq!((shortlist.words(&[4]), shortlist.words(&[5, 4])), (vec![4], vec![4, 5]));
/// # Ok::<(), regard_text::TextError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortlist {
    source: Fingerprint,
    target: Fingerprint,
    /// What every sentence may use.
    always: Vec<u32>,
    /// Of each source id, the most probable first.
    best: Vec<Vec<u32>>,
}

/// What a vocabulary is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fingerprint {
    entries: usize,
    /// CRC-32C of the tokens, a line feed after each.
    checksum: u32,
}

impl Fingerprint {
    fn of(vocabulary: &Vocabulary) -> Self {
        let checksum = vocabulary
            .tokens()
            .fold(0, |sum, token| crc32c::crc32c_append(crc32c::crc32c_append(sum, token.as_bytes()), b"\n"));
        Self { entries: vocabulary.len(), checksum }
    }
}

impl Shortlist {
    /// Learns from pairs of ids of these vocabularies: the `best` target ids of each source id by the lexical
    /// probabilities of IBM model 1, and the `frequent` target ids that the pairs have most often, control symbols left
    /// out. Of equal ones the smaller id comes first.
    #[must_use]
    pub fn learn(
        pairs: &[Pair],
        source: &Vocabulary,
        target: &Vocabulary,
        best: usize,
        frequent: usize,
    ) -> Self {
        let mut counts = vec![0_u64; target.len()];
        for id in pairs.iter().flat_map(|pair| &pair.target) {
            counts[*id as usize] += 1;
        }
        let seen = |&id: &u32| counts[id as usize] > 0 && !is_special(id);
        let mut always: Vec<u32> = (0..target.len() as u32).filter(seen).collect();
        always.sort_by_key(|&id| Reverse(counts[id as usize]));
        always.truncate(frequent);
        let rows = model_one::learn(pairs, source.len(), target.len());
        let strongest = |mut row: Vec<(u32, f64)>| {
            row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            row.into_iter().map(|(id, _)| id).filter(|&id| !is_special(id)).take(best).collect()
        };
        Self {
            source: Fingerprint::of(source),
            target: Fingerprint::of(target),
            always,
            best: rows.into_iter().map(strongest).collect(),
        }
    }

    /// The target ids that a source sentence may use, ascending. Ids that the list does not know add nothing.
    #[must_use]
    pub fn words(&self, source: &[u32]) -> Vec<u32> {
        let rows = source.iter().filter_map(|&id| self.best.get(id as usize));
        let mut ids: Vec<u32> = rows.flatten().chain(&self.always).copied().collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}
