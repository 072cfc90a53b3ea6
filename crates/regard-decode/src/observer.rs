//! Who watches a search: for a trace, for a beam tree, for text that appears as it is written.

use std::sync::{Mutex, PoisonError};

use serde::Serialize;

/// Is told of every step of every sentence.
pub trait SearchObserver: Sync {
    /// A step was made.
    fn step(&self, step: &SearchStep);
}

/// A step of one sentence's search.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SearchStep {
    /// The sentence, from 0 in what the call was given.
    pub sentence: usize,
    /// The target position that was written, from 0.
    pub position: usize,
    /// Continuations, best first: those that the beam has taken, and as many that it has not. Where phrases are wished for,
    /// those that were taken come first, for what they have met. A draw has one.
    pub candidates: Vec<Considered>,
    /// The tokens of each path that goes on, best first.
    pub living: Vec<Vec<u32>>,
}

/// A continuation of a path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Considered {
    /// The path's place among those that lived before the step.
    pub parent: usize,
    /// The token.
    pub token: u32,
    /// log p of the token.
    pub log_prob: f32,
    /// Σ log p of the path with it.
    pub sum: f64,
    /// What became of it.
    pub fate: Fate,
}

/// What became of a continuation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It goes on, unless nothing that lives can enter the result any more and the search ends here.
    Lives,
    /// It has come to the maximum length.
    Cut,
    /// It wrote the end symbol, and may be in the result.
    Ended,
    /// There were enough better ones.
    Dropped,
}

/// Keeps every step of a search.
#[derive(Debug, Default)]
pub struct Trace(Mutex<Vec<SearchStep>>);

impl SearchObserver for Trace {
    fn step(&self, step: &SearchStep) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(step.clone());
    }
}

impl Trace {
    /// All steps, in the order in which they were made.
    #[must_use]
    pub fn into_steps(self) -> Vec<SearchStep> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
