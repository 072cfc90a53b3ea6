//! Every step of a search, as `translate --trace` writes it.

use regard_decode::{Fate, SearchStep, Trace};
use regard_text::Pipeline;
use serde::Serialize;

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

/// The steps of each line.
pub(super) fn records(trace: Trace, lines: usize, target: &Pipeline) -> Vec<Vec<StepRecord>> {
    let mut records: Vec<Vec<StepRecord>> = (0..lines).map(|_| Vec::new()).collect();
    for step in trace.into_steps() {
        if let Some(of_line) = records.get_mut(step.sentence) {
            of_line.push(record(step, target));
        }
    }
    records
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
