//! Which pairs form which batch, in which order.

use crate::random::SplitMix64;

/// Pairs that are sorted by length together: enough to pad little, few enough that batches differ from epoch to epoch.
const WINDOW: usize = 8192;

/// When a batch is full. Every batch has at least one pair, also where that one alone is over the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchSize {
    /// At most so many positions: rows × the longest row of either side, padding included.
    Tokens(usize),
    /// At most so many pairs.
    Sentences(usize),
}

/// Orders a corpus into batches, epoch after epoch.
///
/// An epoch is a function of (lengths, size, seed, epoch) alone, so a run that stopped before batch `i` of an epoch
/// continues at `epoch(n)[i]`.
///
/// ```
/// use regard_text::{BatchSize, Sampler};
/// let sampler = Sampler::new(vec![(2, 3), (9, 8), (3, 2), (8, 9)], BatchSize::Tokens(18), 7);
/// let mut batches = sampler.epoch(0);
/// assert_eq!(batches, sampler.epoch(0));
/// batches.iter_mut().for_each(|batch| batch.sort_unstable());
/// batches.sort();
/// assert_eq!(batches, [vec![0, 2], vec![1, 3]]); // short with short, long with long
/// ```
#[derive(Clone, Debug)]
pub struct Sampler {
    lengths: Vec<(usize, usize)>,
    size: BatchSize,
    seed: u64,
}

impl Sampler {
    /// A sampler for pairs of these (source, target) row lengths, see [`Pair::lengths`](crate::Pair::lengths).
    #[must_use]
    pub fn new(lengths: Vec<(usize, usize)>, size: BatchSize, seed: u64) -> Self {
        Self { lengths, size, seed }
    }

    /// The batches of an epoch, as pair indices; each pair comes once.
    ///
    /// All pairs are shuffled, each window of 8,192 sorted by length (equal lengths stay shuffled), cut into
    /// batches, and the batches shuffled.
    #[must_use]
    pub fn epoch(&self, epoch: u64) -> Vec<Vec<usize>> {
        let mut random = SplitMix64::new(self.seed, epoch);
        let mut order: Vec<usize> = (0..self.lengths.len()).collect();
        random.shuffle(&mut order);
        let mut batches = Vec::new();
        for window in order.chunks_mut(WINDOW) {
            window.sort_by_key(|&index| {
                let (source, target) = self.lengths[index];
                (source.max(target), source, target)
            });
            batches.extend(self.cut(window));
        }
        random.shuffle(&mut batches);
        batches
    }

    /// Batches of the same size in the order of the corpus, for validation.
    #[must_use]
    pub fn in_order(&self) -> Vec<Vec<usize>> {
        self.cut(&(0..self.lengths.len()).collect::<Vec<_>>())
    }

    fn cut(&self, order: &[usize]) -> Vec<Vec<usize>> {
        let mut batches: Vec<Vec<usize>> = Vec::new();
        let mut longest = 0;
        for &index in order {
            let (source, target) = self.lengths[index];
            let width = longest.max(source).max(target);
            match batches.last_mut() {
                Some(batch) if self.fits(batch.len() + 1, width) => {
                    batch.push(index);
                    longest = width;
                }
                _ => {
                    batches.push(vec![index]);
                    longest = source.max(target);
                }
            }
        }
        batches
    }

    fn fits(&self, rows: usize, width: usize) -> bool {
        match self.size {
            BatchSize::Tokens(limit) => rows.saturating_mul(width) <= limit,
            BatchSize::Sentences(limit) => rows <= limit,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sorted(batches: &[Vec<usize>]) -> Vec<usize> {
        let mut all = batches.concat();
        all.sort_unstable();
        all
    }

    proptest! {
        #[test]
        fn each_pair_once_and_never_over_the_limit(
            lengths in prop::collection::vec((1usize..40, 1usize..40), 0..300),
            limit in 0usize..200,
            seed: u64,
        ) {
            for size in [BatchSize::Tokens(limit), BatchSize::Sentences(limit)] {
                let sampler = Sampler::new(lengths.clone(), size, seed);
                for batches in [sampler.epoch(0), sampler.epoch(1), sampler.in_order()] {
                    prop_assert_eq!(sorted(&batches), (0..lengths.len()).collect::<Vec<_>>());
                    for batch in &batches {
                        let width = batch.iter().map(|&i| lengths[i].0.max(lengths[i].1)).max().unwrap();
                        prop_assert!(batch.len() == 1 || sampler.fits(batch.len(), width));
                    }
                }
            }
        }
    }

    #[test]
    fn seed_and_epoch_decide() {
        let lengths: Vec<_> = (0..20_000).map(|i| (i % 37 + 1, i % 31 + 1)).collect();
        let sampler = |seed| Sampler::new(lengths.clone(), BatchSize::Tokens(2048), seed);
        assert_eq!(sampler(3).epoch(5), sampler(3).epoch(5));
        assert_ne!(sampler(3).epoch(5), sampler(3).epoch(6));
        assert_ne!(sampler(3).epoch(5), sampler(4).epoch(5));
    }

    #[test]
    fn sorting_leaves_little_padding() {
        let lengths: Vec<_> = (0..20_000).map(|i| (i * 7919 % 50 + 1, i * 7919 % 50 + 1)).collect();
        let batches = Sampler::new(lengths.clone(), BatchSize::Sentences(64), 1).epoch(0);
        let width = |batch: &Vec<usize>| batch.iter().map(|&i| lengths[i].0).max().unwrap_or(0);
        let padded: usize = batches.iter().map(|batch| batch.len() * width(batch)).sum();
        let real: usize = lengths.iter().map(|pair| pair.0).sum();
        assert!((padded as f64) < 1.03 * real as f64, "{padded} for {real}");
    }
}
