//! Text that is cut anew in each epoch.

use regard_tensor::random;
use regard_text::{Pair, Pipeline, SampleOptions};

/// Changes how the words of training pairs are cut: see [`Pipeline::resample`]. What a pair becomes depends on the seed, the
/// epoch and the pair's place. Batches are full by the lengths of the pairs as they are stored.
#[derive(Clone, Debug)]
pub struct Resampler {
    source: Pipeline,
    target: Pipeline,
    options: SampleOptions,
}

impl Resampler {
    /// For pairs of these two pipelines.
    #[must_use]
    pub fn new(source: &Pipeline, target: &Pipeline, options: SampleOptions) -> Self {
        Self { source: source.clone(), target: target.clone(), options }
    }

    /// The options, as the identity of a run has them.
    pub(crate) fn describe(&self) -> String {
        format!("{:?}", self.options)
    }

    /// The pair as an epoch shows it.
    pub(crate) fn pair(&self, pair: &Pair, seed: u64, epoch: u64, index: u32) -> Pair {
        let key = random::mix(random::mix(seed, epoch), u64::from(index));
        Pair {
            source: self.source.resample(&pair.source, self.options, random::mix(key, 0)),
            target: self.target.resample(&pair.target, self.options, random::mix(key, 1)),
        }
    }
}
