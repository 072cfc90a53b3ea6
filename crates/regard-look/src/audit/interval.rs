//! Confidence intervals by bootstrap over sentences.

use regard_eval::{Metric, Resamples, Resampling, SegmentStatistics};

/// How intervals are made.
pub(super) const DEFINITION: &str = "95 % bootstrap over sentences: 1,000 samples of as many sentences, drawn with replacement by \
     numpy.random.default_rng(12345); from the 26th smallest to the 26th largest mean over the steps of a sample";

/// A mean over steps, and where the means of samples of sentences lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mean {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// The mean of values that come with the number of their sentence, of so many; nothing where there are none.
pub(super) fn mean(values: impl Iterator<Item = (usize, f64)>, sentences: usize) -> Option<Mean> {
    let mut rows = vec![0.0; 2 * sentences];
    for (sentence, value) in values {
        rows[2 * sentence] += value;
        rows[2 * sentence + 1] += 1.0;
    }
    let statistics = SegmentStatistics::from_values(2, rows);
    let sums = statistics.sums();
    if sums[1] <= 0.0 {
        return None;
    }
    let interval = Resamples::draw(&MeanOfSteps, &statistics, Resampling::BOOTSTRAP).interval();
    Some(Mean { value: MeanOfSteps.score_of(&sums), low: interval.low, high: interval.high })
}

/// Sum over count.
struct MeanOfSteps;

impl Metric for MeanOfSteps {
    fn name(&self) -> String {
        "mean".to_owned()
    }

    fn settings(&self) -> String {
        "over:steps".to_owned()
    }

    fn higher_is_better(&self) -> bool {
        true
    }

    fn width(&self) -> usize {
        2
    }

    fn statistics(&self, _: &str, _: &[&str]) -> Vec<f64> {
        vec![0.0; 2]
    }

    fn score_of(&self, sums: &[f64]) -> f64 {
        if sums[1] > 0.0 { sums[0] / sums[1] } else { 0.0 }
    }
}
