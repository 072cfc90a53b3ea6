//! Which pairs form which batch, in which order.

use std::ops::Range;

use crate::corpus::PairSource;
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

/// Orders pairs into batches, epoch after epoch.
///
/// An epoch is a function of (lengths, weights, size, seed, epoch) alone, so a run that stopped before batch `i` of an
/// epoch continues at batch `i` of `epoch(n)`.
///
/// ```
/// use regard_text::{BatchSize, Pair, Sampler};
/// let pair = |source, target| Pair { source: vec![4; source], target: vec![4; target] };
/// let pairs = vec![pair(1, 2), pair(8, 7), pair(2, 1), pair(7, 8)];
/// let sampler = Sampler::new(&pairs, BatchSize::Tokens(18), 7);
/// let order = sampler.epoch(0);
/// assert_eq!(order, sampler.epoch(0));
/// let mut batches: Vec<Vec<u32>> = order.iter().map(<[u32]>::to_vec).collect();
/// batches.iter_mut().for_each(|batch| batch.sort_unstable());
/// batches.sort();
/// assert_eq!(batches, [vec![0, 2], vec![1, 3]]); // short with short, long with long
/// ```
pub struct Sampler<'a, P: ?Sized> {
    pairs: &'a P,
    size: BatchSize,
    seed: u64,
}

/// Batches in their order: 4 bytes a pair and 16 a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchOrder {
    pairs: Vec<u32>,
    batches: Vec<Range<usize>>,
}

impl BatchOrder {
    /// Number of batches.
    #[must_use]
    pub fn len(&self) -> usize {
        self.batches.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// The pairs of a batch; empty for a batch that is not there.
    #[must_use]
    pub fn batch(&self, index: usize) -> &[u32] {
        self.batches.get(index).map(|batch| &self.pairs[batch.clone()]).unwrap_or_default()
    }

    /// All batches.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|index| self.batch(index))
    }
}

impl<'a, P: PairSource + ?Sized> Sampler<'a, P> {
    /// A sampler for these pairs.
    #[must_use]
    pub fn new(pairs: &'a P, size: BatchSize, seed: u64) -> Self {
        Self { pairs, size, seed }
    }

    /// The batches of an epoch. Each pair comes as often as its corpus weighs: once for a weight of 1; where the weight
    /// has a fraction, that share of the corpus, drawn for this epoch, comes once more.
    ///
    /// All pairs are shuffled, each window of 8,192 sorted by length (equal lengths stay shuffled), cut into
    /// batches, and the batches shuffled.
    #[must_use]
    pub fn epoch(&self, epoch: u64) -> BatchOrder {
        let mut random = SplitMix64::new(self.seed, epoch);
        let mut pairs = self.draw(&mut random);
        random.shuffle(&mut pairs);
        let mut batches = Vec::new();
        let mut start = 0;
        for window in pairs.chunks_mut(WINDOW) {
            window.sort_by_key(|&index| {
                let (source, target) = self.pairs.lengths(index as usize);
                (source.max(target), source, target)
            });
            self.cut(window, start, &mut batches);
            start += window.len();
        }
        random.shuffle(&mut batches);
        BatchOrder { pairs, batches }
    }

    /// Batches of the same size in the order of the pairs, each once, for validation.
    #[must_use]
    pub fn in_order(&self) -> BatchOrder {
        let pairs: Vec<u32> = (0..self.pairs.len() as u32).collect();
        let mut batches = Vec::new();
        self.cut(&pairs, 0, &mut batches);
        BatchOrder { pairs, batches }
    }

    /// The pairs of an epoch, corpus by corpus.
    fn draw(&self, random: &mut SplitMix64) -> Vec<u32> {
        let parts = self.pairs.parts();
        let expected: f64 = parts.iter().map(|part| part.weight * part.pairs as f64).sum();
        let mut pairs = Vec::with_capacity(expected as usize + parts.len());
        let mut start = 0_u32;
        for part in parts {
            let all = start..start + part.pairs as u32;
            for _ in 0..part.weight as u64 {
                pairs.extend(all.clone());
            }
            // Each of the pairs left gets in with the probability that just enough do.
            let mut wanted = (part.weight.fract() * part.pairs as f64).round();
            for index in all.clone() {
                if wanted > 0.0 && random.unit() * f64::from(all.end - index) < wanted {
                    pairs.push(index);
                    wanted -= 1.0;
                }
            }
            start = all.end;
        }
        pairs
    }

    /// Cuts pairs, which begin at `start` of the order, into batches.
    fn cut(&self, pairs: &[u32], start: usize, batches: &mut Vec<Range<usize>>) {
        let (mut first, mut longest) = (0, 0);
        for (place, &index) in pairs.iter().enumerate() {
            let (source, target) = self.pairs.lengths(index as usize);
            let length = source.max(target);
            if place > first && !self.fits(place + 1 - first, longest.max(length)) {
                batches.push(start + first..start + place);
                (first, longest) = (place, 0);
            }
            longest = longest.max(length);
        }
        if first < pairs.len() {
            batches.push(start + first..start + pairs.len());
        }
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
    use crate::batch::Pair;
    use crate::corpus::{Corpus, Part};

    fn pairs(lengths: &[(usize, usize)]) -> Vec<Pair> {
        let pair = |&(source, target): &(usize, usize)| Pair {
            source: vec![4; source - 1],
            target: vec![4; target - 1],
        };
        lengths.iter().map(pair).collect()
    }

    fn sorted(order: &BatchOrder) -> Vec<u32> {
        let mut all: Vec<u32> = order.iter().flatten().copied().collect();
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
            let pairs = pairs(&lengths);
            for size in [BatchSize::Tokens(limit), BatchSize::Sentences(limit)] {
                let sampler = Sampler::new(&pairs, size, seed);
                for order in [sampler.epoch(0), sampler.epoch(1), sampler.in_order()] {
                    prop_assert_eq!(sorted(&order), (0..lengths.len() as u32).collect::<Vec<_>>());
                    for batch in order.iter() {
                        let length = |&i: &u32| lengths[i as usize].0.max(lengths[i as usize].1);
                        let width = batch.iter().map(length).max().unwrap();
                        prop_assert!(batch.len() == 1 || sampler.fits(batch.len(), width));
                    }
                }
            }
        }
    }

    #[test]
    fn seed_and_epoch_decide() {
        let lengths: Vec<_> = (0..20_000).map(|i| (i % 37 + 1, i % 31 + 1)).collect();
        let pairs = pairs(&lengths);
        let sampler = |seed| Sampler::new(&pairs, BatchSize::Tokens(2048), seed);
        assert_eq!(sampler(3).epoch(5), sampler(3).epoch(5));
        assert_ne!(sampler(3).epoch(5), sampler(3).epoch(6));
        assert_ne!(sampler(3).epoch(5), sampler(4).epoch(5));
    }

    #[test]
    fn sorting_leaves_little_padding() {
        let lengths: Vec<_> = (0..20_000).map(|i| (i * 7919 % 50 + 1, i * 7919 % 50 + 1)).collect();
        let pairs = pairs(&lengths);
        let order = Sampler::new(&pairs, BatchSize::Sentences(64), 1).epoch(0);
        let width = |batch: &[u32]| batch.iter().map(|&i| lengths[i as usize].0).max().unwrap_or(0);
        let padded: usize = order.iter().map(|batch| batch.len() * width(batch)).sum();
        let real: usize = lengths.iter().map(|pair| pair.0).sum();
        assert!((padded as f64) < 1.03 * real as f64, "{padded} for {real}");
    }

    #[test]
    fn weights_say_how_often() {
        let pairs = pairs(&[(2, 2); 1000]);
        let parts = [(100, 2.0), (300, 0.5), (200, 0.0), (150, 1.3), (250, 1.0)];
        let parts = parts.map(|(pairs, weight)| Part { pairs, weight }).to_vec();
        let corpus = Corpus { pairs, parts };
        let sampler = Sampler::new(&corpus, BatchSize::Sentences(7), 3);
        let counts = |epoch| {
            let mut counts = [0; 1000];
            sampler.epoch(epoch).iter().flatten().for_each(|&pair| counts[pair as usize] += 1);
            counts
        };
        let (first, second) = (counts(0), counts(1));
        for counts in [&first, &second] {
            let with =
                |range: Range<usize>, times: i32| counts[range].iter().filter(|&&n| n == times).count();
            assert_eq!(with(0..100, 2), 100);
            assert_eq!((with(100..400, 0), with(100..400, 1)), (150, 150));
            assert_eq!(with(400..600, 0), 200);
            assert_eq!((with(600..750, 1), with(600..750, 2)), (105, 45));
            assert_eq!(with(750..1000, 1), 250);
        }
        // Half of a corpus is another half in the next epoch, a different one for every pair alike.
        assert_ne!(first[100..400], second[100..400]);
        let drawn: Vec<i32> = (0..400).map(|epoch| counts(epoch)[100] + counts(epoch)[399]).collect();
        assert!((340..460).contains(&drawn.iter().sum::<i32>()), "{drawn:?}");
    }

    #[test]
    fn one_corpus_is_ordered_as_ever() {
        // Runs that were begun must go on with the same batches: the order that version 0.1.0 has given.
        let lengths: Vec<_> = (0..12).map(|i| (i * 5 % 7 + 1, i * 3 % 5 + 1)).collect();
        let pairs = pairs(&lengths);
        let order = Sampler::new(&pairs, BatchSize::Tokens(14), 9).epoch(4);
        let batches: Vec<_> = order.iter().collect();
        let expected: [&[u32]; 5] = [&[1, 8], &[4, 11], &[6, 2, 9], &[0, 7, 10], &[3, 5]];
        assert_eq!(batches, expected);
    }
}
