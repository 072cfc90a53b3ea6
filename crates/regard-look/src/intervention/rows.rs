//! What is done to one row of scores or weights.

use std::collections::HashMap;

use regard_model::AttentionSite;
use regard_tensor::random;

use crate::draws::{shuffle, strongest};

/// A score that counts for nothing beside any other. Not -∞, so that a softmax stays defined.
const NOTHING: f32 = -1e9;

/// The rows of a donor: by site, one a step.
pub(super) type DonorRows = HashMap<AttentionSite, Vec<Vec<f32>>>;

/// A change of a row. Its positions are those that the row may look at.
pub(super) enum Change<'a> {
    /// All are divided.
    Divide(f32),
    /// These scores count for nothing.
    Mask(&'a [usize]),
    /// These weights are 0.
    Zero(&'a [usize]),
    /// One position has all.
    One(usize),
    /// As they are given.
    Put(&'a [f32]),
    /// All the same.
    Uniform,
    /// In another order.
    Permute(u64),
    /// The strongest has all.
    Hard,
    /// The last has all.
    Last,
    /// Those of a donor, where it has this step.
    Of(&'a DonorRows),
}

impl Change<'_> {
    pub(super) fn apply(&self, row: &mut [f32], site: AttentionSite, step: usize) {
        match self {
            Self::Divide(temperature) => row.iter_mut().for_each(|score| *score *= 1.0 / temperature),
            Self::Mask(positions) => fill(row, positions, NOTHING),
            Self::Zero(positions) => fill(row, positions, 0.0),
            Self::One(position) => one(row, *position),
            Self::Put(weights) => put(row, weights),
            Self::Uniform => {
                let weight = 1.0 / row.len() as f32;
                row.fill(weight);
            }
            Self::Permute(seed) => shuffle(row, key(*seed, site, step)),
            Self::Hard => one(row, strongest(row)),
            Self::Last => one(row, row.len().saturating_sub(1)),
            Self::Of(donor) => {
                if let Some(weights) = donor.get(&site).and_then(|rows| rows.get(step)) {
                    put(row, weights);
                }
            }
        }
    }
}

fn fill(row: &mut [f32], positions: &[usize], value: f32) {
    for &position in positions {
        if let Some(place) = row.get_mut(position) {
            *place = value;
        }
    }
}

fn one(row: &mut [f32], position: usize) {
    if position < row.len() {
        row.fill(0.0);
        row[position] = 1.0;
    }
}

fn put(row: &mut [f32], weights: &[f32]) {
    row.fill(0.0);
    row.iter_mut().zip(weights).for_each(|(to, from)| *to = *from);
}

/// A key of its own for every site and step.
fn key(seed: u64, site: AttentionSite, step: usize) -> u64 {
    let words = [site.kind as u64, site.layer as u64, site.head as u64, step as u64];
    words.iter().fold(seed, |key, &word| random::mix(key, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(change: &Change) -> Vec<f32> {
        let mut row = [0.5, 0.125, 0.25, 0.125];
        change.apply(&mut row, AttentionSite::CROSS, 2);
        row.to_vec()
    }

    #[test]
    fn each_change_does_what_it_says() {
        assert_eq!(changed(&Change::Divide(0.5)), [1.0, 0.25, 0.5, 0.25]);
        assert_eq!(changed(&Change::Mask(&[0, 9])), [-1e9, 0.125, 0.25, 0.125]);
        assert_eq!(changed(&Change::Zero(&[0, 3])), [0.0, 0.125, 0.25, 0.0]);
        assert_eq!(changed(&Change::One(2)), [0.0, 0.0, 1.0, 0.0]);
        assert_eq!(changed(&Change::Put(&[0.25, 0.75])), [0.25, 0.75, 0.0, 0.0]);
        assert_eq!(changed(&Change::Uniform), [0.25; 4]);
        assert_eq!(changed(&Change::Hard), [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(changed(&Change::Last), [0.0, 0.0, 0.0, 1.0]);
        let donor = DonorRows::from([(AttentionSite::CROSS, vec![vec![], vec![], vec![0.0, 1.0, 0.0, 0.0]])]);
        assert_eq!(changed(&Change::Of(&donor)), [0.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn a_shuffle_keeps_the_values_and_follows_its_seed() {
        let mut sorted = changed(&Change::Permute(7));
        assert_eq!(sorted, changed(&Change::Permute(7)));
        sorted.sort_by(f32::total_cmp);
        assert_eq!(sorted, [0.125, 0.125, 0.25, 0.5]);
        // Every place gets the largest value about equally often: 2,000 draws of 1/4, six standard deviations are 116.
        let mut counts = [0; 4];
        for seed in 0..2000 {
            counts[strongest(&changed(&Change::Permute(seed)))] += 1;
        }
        assert!(counts.iter().all(|&count: &i32| (count - 500).abs() < 116), "{counts:?}");
    }
}
