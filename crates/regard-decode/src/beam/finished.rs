//! The hypotheses that have ended, and whether anything can still beat them.

use crate::hypothesis::Hypothesis;
use crate::path::Path;
use crate::scoring::Scoring;

/// The `n_best` best finished hypotheses, best first; of two equal ones the one that ended first is better.
#[derive(Debug)]
pub(super) struct Finished {
    n_best: usize,
    scoring: Scoring,
    list: Vec<Hypothesis>,
}

impl Finished {
    pub(super) fn new(n_best: usize, scoring: Scoring) -> Self {
        Self { n_best, scoring, list: Vec::new() }
    }

    /// Adds a path that wrote its end symbol, or counts as if it had.
    pub(super) fn add(&mut self, path: Path) {
        let hypothesis = Hypothesis::from_path(path, &self.scoring);
        let place = self.list.partition_point(|other| other.score >= hypothesis.score);
        if place < self.n_best {
            self.list.insert(place, hypothesis);
            self.list.truncate(self.n_best);
        }
    }

    /// Whether the list is full and no living path can enter it, were all its further tokens certain and its length the
    /// most favourable one up to `max_length`.
    pub(super) fn is_settled(&self, living: &[Path], max_length: usize) -> bool {
        let Some(last) = self.list.get(self.n_best - 1) else { return false };
        living.iter().all(|path| self.scoring.best_attainable(path, max_length) <= last.score)
    }

    /// The list; where nothing is in it, the best of what was cut instead, of those paths that have met most of the wishes.
    pub(super) fn or_cut(self, cut: Vec<(usize, Path)>) -> Vec<Hypothesis> {
        if !self.list.is_empty() {
            return self.list;
        }
        let most = cut.iter().map(|&(met, _)| met).max().unwrap_or(0);
        let furthest = cut.into_iter().filter(|&(met, _)| met == most);
        let mut list: Vec<_> = furthest.map(|(_, path)| Hypothesis::from_path(path, &self.scoring)).collect();
        list.sort_by(|a, b| b.score.total_cmp(&a.score));
        list.truncate(self.n_best);
        list
    }
}
