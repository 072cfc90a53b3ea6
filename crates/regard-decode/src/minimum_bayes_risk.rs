//! The translation that is most like all the others.
//!
//! Kumar and Byrne, "Minimum Bayes-Risk Decoding for Statistical Machine Translation", NAACL 2004; with samples as the
//! candidates, Eikema and Aziz, "Is MAP Decoding All You Need?", COLING 2020.

use regard_eval::{ChrfOptions, Metric};

use crate::translation::Candidate;

/// Sorts candidates by the mean chrF (0 to 100) of each, with every other one as its reference, and makes it their score.
/// Equal ones keep their order; a single candidate keeps its score.
pub(crate) fn sort_by_risk(candidates: &mut [Candidate]) {
    if candidates.len() < 2 {
        return;
    }
    let texts: Vec<String> = candidates.iter().map(|candidate| candidate.text.clone()).collect();
    for (place, candidate) in candidates.iter_mut().enumerate() {
        candidate.hypothesis.score = likeness(&texts, place);
    }
    candidates.sort_by(|a, b| b.hypothesis.score.total_cmp(&a.hypothesis.score));
}

fn likeness(texts: &[String], place: usize) -> f64 {
    let chrf = ChrfOptions::default();
    let others = texts.iter().enumerate().filter(|&(other, _)| other != place);
    let score =
        |reference: &String| chrf.sentence_score_of(&chrf.statistics(&texts[place], &[reference.as_str()]));
    let sum: f64 = others.map(|(_, reference)| score(reference)).sum();
    sum / (texts.len() - 1) as f64
}
