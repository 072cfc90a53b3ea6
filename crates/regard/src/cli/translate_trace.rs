//! Every step of a search, for `translate --trace` and the beam tree of `look`.

use std::sync::{Mutex, PoisonError};

use regard_decode::{Fate, SearchObserver, SearchStep};
use regard_text::Pipeline;
use serde::Serialize;

/// Collects steps.
#[derive(Default)]
pub(super) struct Trace(Mutex<Vec<SearchStep>>);

impl SearchObserver for Trace {
    fn step(&self, step: &SearchStep) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(step.clone());
    }
}

/// A step as it is written, with tokens.
#[derive(Serialize)]
pub(super) struct StepRecord {
    position: usize,
    candidates: Vec<CandidateRecord>,
    living: Vec<Vec<String>>,
}

#[derive(Serialize)]
struct CandidateRecord {
    parent: usize,
    token: String,
    log_prob: f32,
    sum: f64,
    fate: Fate,
}

impl Trace {
    /// All steps, in the order in which they were made.
    pub(super) fn into_steps(self) -> Vec<SearchStep> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// The steps of each line.
    pub(super) fn into_records(self, lines: usize, target: &Pipeline) -> Vec<Vec<StepRecord>> {
        let mut records: Vec<Vec<StepRecord>> = (0..lines).map(|_| Vec::new()).collect();
        for step in self.into_steps() {
            if let Some(of_line) = records.get_mut(step.sentence) {
                of_line.push(record(step, target));
            }
        }
        records
    }
}

fn record(step: SearchStep, target: &Pipeline) -> StepRecord {
    let candidates = step.candidates.into_iter().map(|candidate| CandidateRecord {
        parent: candidate.parent,
        token: target.tokens_of(&[candidate.token]).concat(),
        log_prob: candidate.log_prob,
        sum: candidate.sum,
        fate: candidate.fate,
    });
    let living = step.living.iter().map(|tokens| target.tokens_of(tokens)).collect();
    StepRecord { position: step.position, candidates: candidates.collect(), living }
}
