//! Confidence intervals by bootstrap over sentences.

use regard_eval::{Metric, Resamples, Resampling, SegmentStatistics};

/// How intervals are made.
pub(super) const DEFINITION: &str = "95 % bootstrap over sentences: 1,000 samples of as many sentences, drawn with replacement by \
     numpy.random.default_rng(12345); from the 26th smallest to the 26th largest mean over the steps of a sample; none where fewer than two sentences have a value";

/// A mean over steps, and where the means of samples of sentences lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mean {
    pub(super) value: f64,
    /// Its ends; none where fewer than two sentences have a value, since every sample would then be the same.
    pub(super) interval: Option<(f64, f64)>,
}

/// The mean of values that come with the number of their sentence, of so many; nothing where there are none.
pub(super) fn mean(values: impl Iterator<Item = (usize, f64)>, sentences: usize) -> Option<Mean> {
    let mut rows = vec![0.0; 2 * sentences];
    for (sentence, value) in values {
        rows[2 * sentence] += value;
        rows[2 * sentence + 1] += 1.0;
    }
    let filled = rows.chunks_exact(2).filter(|row| row[1] > 0.0).count();
    let statistics = SegmentStatistics::from_values(2, rows);
    let sums = statistics.sums();
    if sums[1] <= 0.0 {
        return None;
    }
    let interval = (filled > 1).then(|| {
        let drawn = Resamples::draw(&MeanOfSteps, &statistics, Resampling::BOOTSTRAP).interval();
        (drawn.low, drawn.high)
    });
    Some(Mean { value: MeanOfSteps.score_of(&sums), interval })
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean over steps, not over sentences; an interval needs two sentences.
    #[test]
    fn one_sentence_has_no_interval() {
        let alone = mean([(1, 0.25), (1, 0.75)].into_iter(), 3).map(|mean| (mean.value, mean.interval));
        assert_eq!(alone, Some((0.5, None)));
        let two = mean([(0, 1.0), (1, 0.25), (1, 0.25)].into_iter(), 2);
        let expected = Mean { value: 0.5, interval: Some((0.25, 1.0)) };
        assert_eq!(two, Some(expected));
        assert_eq!(mean(std::iter::empty(), 2), None);
    }
}
