//! Segmentations by chance, for training that sees more than one way to cut a word.
//!
//! Kudo, "Subword Regularization", ACL 2018, for unigram models; BPE-dropout for the others.

use super::lattice::{BEGIN, END, Lattice};
use super::{Algorithm, Segment, SentencePiece, SentencePieceToken, bpe, nbest};
use crate::random::SplitMix64;

/// How a segmentation is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SampleOptions {
    /// Unigram: from all segmentations, with probabilities in proportion to p^`alpha`.
    All {
        /// 0: all alike; 1: the model's own probabilities; the larger, the nearer to the best.
        alpha: f32,
    },
    /// Unigram: likewise, from the best ones only.
    Best {
        /// How many there are to draw from, at most 1024.
        count: usize,
        /// As above.
        alpha: f32,
    },
    /// BPE: every merge is left out with this probability.
    Dropout(f64),
}

impl SentencePiece {
    /// A segmentation drawn by chance; it depends on the text, the options and the key, on nothing else.
    ///
    /// Options for another kind of model than this one's give the best segmentation.
    #[must_use]
    pub fn sample(&self, text: &str, options: SampleOptions, key: u64) -> Vec<SentencePieceToken> {
        let inner = &*self.inner;
        let normalized = inner.normalization.normalize(text, true);
        let mut random = SplitMix64::new(key, 0);
        let segments = match (&inner.algorithm, options) {
            (Algorithm::Unigram(unigram), SampleOptions::All { alpha }) => {
                let lattice = Lattice::new(unigram, &inner.pieces, &normalized.text);
                sample_path(&lattice, alpha, &mut random)
            }
            (Algorithm::Unigram(unigram), SampleOptions::Best { count, alpha }) if count > 1 => {
                let mut lattice = Lattice::new(unigram, &inner.pieces, &normalized.text);
                let mut paths = nbest::best_paths(&mut lattice, count.min(nbest::MAX_PATHS));
                let weights: Vec<f64> = paths.iter().map(|&(_, score)| f64::from(alpha * score)).collect();
                paths.swap_remove(draw(&weights, &mut random)).0
            }
            (Algorithm::Bpe, SampleOptions::Dropout(probability)) => {
                let skip = || probability > 0.0 && random.unit() < probability;
                bpe::segment(&inner.pieces, inner.normalization.user_defined.as_ref(), &normalized.text, skip)
            }
            _ => inner.best_segments(&normalized.text),
        };
        inner.tokens(&normalized, &segments)
    }
}

/// Draws a path from its end: each node with the probability that the forward sums give it.
fn sample_path(lattice: &Lattice, alpha: f32, random: &mut SplitMix64) -> Vec<Segment> {
    let sums = lattice.forward(alpha);
    let mut path = Vec::new();
    let mut node = END;
    loop {
        let ending = &lattice.ending[lattice.nodes[node].position];
        let weight = |&at: &usize| f64::from(alpha * lattice.nodes[at].score + sums[at]);
        let weights: Vec<f64> = ending.iter().map(weight).collect();
        node = ending[draw(&weights, random)];
        if node == BEGIN {
            break;
        }
        path.push(node);
    }
    path.reverse();
    lattice.segments(path)
}

/// An index, with probabilities in proportion to exp(weight).
fn draw(weights: &[f64], random: &mut SplitMix64) -> usize {
    let highest = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let likelihoods: Vec<f64> = weights.iter().map(|weight| (weight - highest).exp()).collect();
    let mut rest = random.unit() * likelihoods.iter().sum::<f64>();
    let chosen = likelihoods.iter().position(|likelihood| {
        rest -= likelihood;
        rest < 0.0
    });
    // Rounding may leave a little over: then it is the last.
    chosen.unwrap_or(weights.len().saturating_sub(1))
}
