//! Is the difference between two systems more than chance? Two paired tests, and confidence intervals.
//!
//! Numbers are those of sacreBLEU 2.x for the same seed, to the last digit. One case differs by rounding: approximate
//! randomisation of TER with several references of different lengths, whose mean lengths are no whole numbers.
//!
//! ```
//! use regard_eval::{ChrfOptions, Corpus, PairedTest, Resampling, SegmentStatistics};
//!
//! let (chrf, references) = (ChrfOptions::default(), [["a small dog", "the end", "it rains"]]);
//! let count = |lines| Ok(SegmentStatistics::new(&chrf, &Corpus::new(lines, &references)?));
//! let baseline = count(&["a small dog", "an end", "rain"])?;
//! let system = count(&["a small cat", "the end", "it rain"])?;
//! let p = PairedTest::Bootstrap.p_value(&chrf, &baseline, &system, Resampling::BOOTSTRAP)?;
//! assert!(p > 0.05, "each is better in one line: {p}");
//! # Ok::<(), regard_eval::EvalError>(())
//! ```

mod numpy_random;
mod randomization;
mod resamples;

pub use resamples::{Interval, Resamples};

use crate::error::EvalError;
use crate::metric::Metric;
use crate::segment_statistics::SegmentStatistics;
use crate::signature::ResamplingKind;

/// How often to resample, and the seed of the draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resampling {
    /// Bootstrap samples, or trials of approximate randomisation.
    pub samples: usize,
    /// The seed, as in `numpy.random.default_rng`.
    pub seed: u64,
}

impl Resampling {
    /// sacreBLEU's default for bootstraps: 1,000 samples, seed 12345.
    pub const BOOTSTRAP: Self = Self { samples: 1000, seed: 12345 };
    /// sacreBLEU's default for approximate randomisation: 10,000 trials, seed 12345.
    pub const APPROXIMATE_RANDOMIZATION: Self = Self { samples: 10_000, seed: 12345 };

    /// The same with another seed.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }
}

/// A two-sided test of the hypothesis that two systems are equally good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairedTest {
    /// Paired bootstrap (Koehn 2004): samples of lines, the same for both systems.
    Bootstrap,
    /// Paired approximate randomisation (Riezler & Maxwell 2005, <https://aclanthology.org/W05-0908>): each line's outputs
    /// change sides with probability ½.
    ApproximateRandomization,
}

impl PairedTest {
    /// What stands in signatures.
    #[must_use]
    pub fn kind(self) -> ResamplingKind {
        match self {
            Self::Bootstrap => ResamplingKind::Bootstrap,
            Self::ApproximateRandomization => ResamplingKind::ApproximateRandomization,
        }
    }

    /// sacreBLEU's number of samples and seed for this test.
    #[must_use]
    pub fn default_resampling(self) -> Resampling {
        match self {
            Self::Bootstrap => Resampling::BOOTSTRAP,
            Self::ApproximateRandomization => Resampling::APPROXIMATE_RANDOMIZATION,
        }
    }

    /// The probability of a difference as large as the observed one where there is none.
    ///
    /// # Errors
    /// When the statistics are of different lines or there are no samples.
    pub fn p_value(
        self,
        metric: &dyn Metric,
        baseline: &SegmentStatistics,
        system: &SegmentStatistics,
        resampling: Resampling,
    ) -> Result<f64, EvalError> {
        if (baseline.lines(), baseline.width()) != (system.lines(), system.width()) {
            return Err(EvalError::Statistics { left: baseline.lines(), right: system.lines() });
        }
        if resampling.samples == 0 {
            return Err(EvalError::NoSamples);
        }
        let difference = (metric.score_of(&baseline.sums()) - metric.score_of(&system.sums())).abs();
        Ok(match self {
            Self::Bootstrap => {
                let draw = |statistics| Resamples::draw(metric, statistics, resampling);
                draw(system).p_value(&draw(baseline), difference)
            }
            Self::ApproximateRandomization => {
                randomization::p_value(metric, baseline, system, difference, resampling)
            }
        })
    }
}
