//! Approximate randomisation: would systems that were shuffled line by line differ as much?

use crate::metric::Metric;
use crate::segment_statistics::SegmentStatistics;

use super::Resampling;
use super::numpy_random::NumpyRandom;

/// The share of trials whose two shuffled systems differ by more than `difference`, with the observed one counted in.
pub(super) fn p_value(
    metric: &dyn Metric,
    baseline: &SegmentStatistics,
    system: &SegmentStatistics,
    difference: f64,
    resampling: Resampling,
) -> f64 {
    let exchanges: Vec<f64> = baseline.values().iter().zip(system.values()).map(|(b, s)| b - s).collect();
    let exchanges = SegmentStatistics::from_values(baseline.width(), exchanges);
    let (baseline, system) = (baseline.sums(), system.sums());
    let mut coins = NumpyRandom::new(resampling.seed).coins();
    let mut farther = 0;
    let (mut first, mut second) = (system.clone(), baseline.clone());
    for _ in 0..resampling.samples {
        first.clone_from(&system);
        for (row, exchanged) in exchanges.rows().zip(&mut coins) {
            if exchanged {
                first.iter_mut().zip(row).for_each(|(sum, change)| *sum += change);
            }
        }
        // Whatever one system has not got, the other has.
        for (place, second) in second.iter_mut().enumerate() {
            *second = baseline[place] + (system[place] - first[place]);
        }
        farther += usize::from((metric.score_of(&first) - metric.score_of(&second)).abs() > difference);
    }
    (farther + 1) as f64 / (resampling.samples + 1) as f64
}
