//! Scores of bootstrap samples, and numpy's arithmetic on them.

use crate::metric::{Metric, ResampledScore};
use crate::segment_statistics::SegmentStatistics;
use serde::Serialize;

use super::Resampling;
use super::numpy_random::NumpyRandom;

/// The scores of bootstrap samples, in the order in which they were drawn.
///
/// numpy holds them in 32 bits where every one of them has no more, and computes with them in that precision. Rounding every
/// 64-bit result to 32 bits gives the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Resamples {
    scores: Vec<f64>,
    single: bool,
}

/// What a bootstrap says about a score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// The mean over all samples.
    pub mean: f64,
    /// Half the distance from `low` to `high`.
    pub half_width: f64,
    /// The lower end of the 95 % interval: a fortieth of the samples lie below.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Resamples {
    /// Draws as many lines as there are, with replacement, `samples` times, and scores each sample.
    ///
    /// The draws depend on the number of lines and the seed only, so two systems on the same lines have the same samples.
    #[must_use]
    pub fn draw(metric: &dyn Metric, statistics: &SegmentStatistics, resampling: Resampling) -> Self {
        let rows: Vec<f32> = statistics.values().iter().map(|&value| value as f32).collect();
        let (lines, width) = (statistics.lines(), statistics.width());
        let mut random = NumpyRandom::new(resampling.seed);
        let (mut scores, mut single) = (Vec::with_capacity(resampling.samples), true);
        let mut sums = vec![0.0_f32; width];
        for _ in 0..resampling.samples {
            sums.fill(0.0);
            for _ in 0..lines {
                let row = random.below(lines as u32) as usize * width;
                sums.iter_mut().zip(&rows[row..row + width]).for_each(|(sum, value)| *sum += value);
            }
            scores.push(match metric.resampled_score(&sums) {
                ResampledScore::Single(score) => f64::from(score),
                ResampledScore::Double(score) => {
                    single = false;
                    score
                }
            });
        }
        Self { scores, single }
    }

    /// The scores.
    #[must_use]
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// The interval as sacreBLEU's paired tests print it: the mean is numpy's.
    #[must_use]
    pub fn interval(&self) -> Interval {
        let sorted = self.sorted();
        self.interval_of(&sorted, self.round(self.pairwise_sum(&sorted) / sorted.len() as f64))
    }

    /// The interval as sacreBLEU's `--confidence` prints it: the mean is exact, then rounded.
    #[must_use]
    pub fn interval_with_exact_mean(&self) -> Interval {
        let sorted = self.sorted();
        self.interval_of(&sorted, self.round(exact_mean(&sorted)))
    }

    fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.scores.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted
    }

    fn interval_of(&self, sorted: &[f64], mean: f64) -> Interval {
        let cut = sorted.len() / 40;
        let at = |index: usize| sorted.get(index).copied().unwrap_or(0.0);
        let (low, high) = (at(cut), at((sorted.len() - cut).saturating_sub(1)));
        Interval { mean, half_width: self.round(0.5 * self.round(high - low)), low, high }
    }

    /// The p-value of the paired bootstrap (Koehn 2004, <https://aclanthology.org/W04-3250>, in Moses' form): the share of
    /// samples whose difference is farther from the mean difference than `difference` is from 0, with the observed one
    /// counted in.
    pub(super) fn p_value(&self, baseline: &Self, difference: f64) -> f64 {
        let pairs = self.scores.iter().zip(&baseline.scores);
        let both = Self { scores: Vec::new(), single: self.single && baseline.single };
        let differences: Vec<f64> = pairs.map(|(a, b)| both.round(a - b).abs()).collect();
        let mean = both.round(both.pairwise_sum(&differences) / differences.len() as f64);
        let observed = both.round(difference);
        let farther = differences.iter().filter(|&&found| both.round(found - mean) > observed).count();
        (farther + 1) as f64 / (differences.len() + 1) as f64
    }

    fn round(&self, value: f64) -> f64 {
        if self.single { f64::from(value as f32) } else { value }
    }

    /// numpy's sum: eight running sums over blocks of at most 128, and the blocks in pairs.
    fn pairwise_sum(&self, values: &[f64]) -> f64 {
        let add = |a: f64, b: f64| self.round(a + b);
        if values.len() > 128 {
            let half = values.len() / 2 / 8 * 8;
            let (first, second) = values.split_at(half);
            return add(self.pairwise_sum(first), self.pairwise_sum(second));
        }
        let (eights, rest) = values.as_chunks::<8>();
        let mut chunks = eights.iter().copied();
        let sum = chunks.next().map_or(0.0, |mut lanes: [f64; 8]| {
            for chunk in chunks {
                lanes.iter_mut().zip(chunk).for_each(|(lane, value)| *lane = add(*lane, value));
            }
            let [a, b, c, d, e, f, g, h] = lanes;
            add(add(add(a, b), add(c, d)), add(add(e, f), add(g, h)))
        });
        rest.iter().fold(sum, |sum, &value| add(sum, value))
    }
}

/// The mean without rounding errors on the way: the sum is kept as two numbers (Neumaier 1974).
fn exact_mean(values: &[f64]) -> f64 {
    let (mut sum, mut rest) = (0.0_f64, 0.0);
    for &value in values {
        let next = sum + value;
        rest += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    let count = values.len() as f64;
    let mean = (sum + rest) / count;
    // What the division left over, from both parts of the sum.
    mean + ((-mean).mul_add(count, sum) + rest) / count
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "equal to the bit")]
mod tests {
    use super::*;

    fn sum(count: usize, single: bool) -> f64 {
        let scores: Vec<f64> = (0..count).map(|i| f64::from(1.0 / (i as f32 + 1.1))).collect();
        Resamples { scores: Vec::new(), single }.pairwise_sum(&scores)
    }

    /// What numpy 2.4.6's `sum` gives for the same numbers.
    #[test]
    fn sums_are_numpys() {
        for (count, single, double) in [
            (5, 2.147_842_884_063_720_7, 2.147_842_928_767_204_3),
            (8, 2.576_079_130_172_729_5, 2.576_079_212_129_116),
            (100, 5.034_911_632_537_842, 5.034_911_342_896_521),
            (129, 5.288_210_391_998_291, 5.288_210_236_467_421),
            (1000, 7.332_110_404_968_262, 7.332_110_103_103_332),
        ] {
            assert_eq!(sum(count, true), single, "{count}");
            assert_eq!(sum(count, false), double, "{count}");
        }
    }

    #[test]
    fn means_are_exact() {
        assert_eq!(exact_mean(&[1e16, 1.0, -1e16]), 1.0 / 3.0);
        assert_eq!(exact_mean(&[0.1; 10]), 0.1);
    }
}
