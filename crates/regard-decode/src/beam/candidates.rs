//! The best continuations of a beam.

use regard_tensor::LogProbRow;

use crate::observer::{Considered, Fate};

/// A path and the token that would continue it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    /// Σ log p, the token included.
    pub(super) sum: f64,
    /// The path's place in the beam.
    pub(super) parent: usize,
    /// The token.
    pub(super) token: u32,
    /// Its own log p.
    pub(super) log_prob: f32,
}

impl Candidate {
    pub(super) fn considered(&self, fate: Fate) -> Considered {
        let Self { sum, parent, token, log_prob } = *self;
        Considered { parent, token, log_prob, sum, fate }
    }
}

/// The `capacity` best candidates by sum; among equal sums the earlier parent, then the smaller token, is better.
#[derive(Debug)]
pub(super) struct Candidates {
    capacity: usize,
    best: Vec<Candidate>,
}

impl Candidates {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, best: Vec::new() }
    }

    /// Offers every continuation of a path that is allowed. Parents must come in order; what is impossible (log p = -∞) is
    /// not taken.
    pub(super) fn offer(
        &mut self,
        parent: usize,
        sum: f64,
        log_probs: LogProbRow,
        allowed: impl Fn(u32) -> bool,
    ) {
        for (largest, block) in log_probs.blocks() {
            if sum + f64::from(largest) <= self.bar() {
                continue;
            }
            for (token, log_prob) in block {
                let candidate = Candidate { sum: sum + f64::from(log_prob), parent, token, log_prob };
                if candidate.sum > self.bar() && allowed(token) {
                    self.insert(candidate);
                }
            }
        }
    }

    /// The candidates, best first.
    pub(super) fn into_vec(self) -> Vec<Candidate> {
        self.best
    }

    /// What a sum must exceed. Candidates come in the order of ties, so an equal one is worse than those before it.
    fn bar(&self) -> f64 {
        let worst = self.best.last().filter(|_| self.best.len() == self.capacity);
        worst.map_or(f64::NEG_INFINITY, |worst| worst.sum)
    }

    fn insert(&mut self, candidate: Candidate) {
        let place = self.best.partition_point(|other| other.sum >= candidate.sum);
        if self.best.len() == self.capacity {
            self.best.pop();
        }
        self.best.insert(place, candidate);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regard_tensor::{LogProbs, Tensor};

    use super::*;

    fn offer(
        candidates: &mut Candidates,
        parent: usize,
        sum: f64,
        row: &[f32],
        allowed: impl Fn(u32) -> bool,
    ) {
        let row = Tensor::build([1, row.len()], |values| values.copy_from_slice(row));
        candidates.offer(parent, sum, LogProbs::of_log_probs(&row).row(0), allowed);
    }

    fn writable(token: u32) -> bool {
        token != 0 && token != 2
    }

    #[test]
    fn ties_go_to_the_earlier_parent_then_to_the_smaller_token() {
        let mut candidates = Candidates::new(3);
        offer(&mut candidates, 0, -1.0, &[-0.1, -2.0, -0.1, -1.0, -1.0, -3.0], writable);
        offer(&mut candidates, 1, -1.5, &[-0.1, -0.5, -0.1, -0.5, -0.25, -0.5], writable);
        let found: Vec<_> = candidates.into_vec().iter().map(|c| (c.parent, c.token, c.sum)).collect();
        assert_eq!(found, [(1, 4, -1.75), (0, 3, -2.0), (0, 4, -2.0)]);
    }

    #[test]
    fn what_is_forbidden_or_impossible_is_not_taken() {
        let mut candidates = Candidates::new(9);
        offer(&mut candidates, 0, 0.0, &[-0.1, -0.1, -0.1, -4.0, f32::NEG_INFINITY, -5.0], |token| token > 2);
        let tokens: Vec<_> = candidates.into_vec().iter().map(|c| c.token).collect();
        assert_eq!(tokens, [3, 5]);
    }

    proptest! {
        #[test]
        fn they_are_the_head_of_the_sorted_list(
            rows in proptest::collection::vec(proptest::collection::vec(-40_i8..0, 700), 1..4),
            capacity in 1..30_usize,
        ) {
            let mut candidates = Candidates::new(capacity);
            let mut all = Vec::new();
            for (parent, row) in rows.iter().enumerate() {
                let (sum, row): (f64, Vec<f32>) =
                    (-(parent as f64), row.iter().map(|&value| f32::from(value) / 4.0).collect());
                offer(&mut candidates, parent, sum, &row, writable);
                let allowed = row.iter().enumerate().filter(|&(token, _)| writable(token as u32));
                all.extend(allowed.map(|(token, &p)| (sum + f64::from(p), parent, token as u32)));
            }
            all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
            all.truncate(capacity);
            let found: Vec<_> = candidates.into_vec().iter().map(|c| (c.sum, c.parent, c.token)).collect();
            prop_assert_eq!(found, all);
        }
    }
}
