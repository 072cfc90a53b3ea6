//! `POST /api/v1/translate`.

use regard_decode::{Candidate, Translation};
use serde::{Deserialize, Serialize};

use super::{Penalty, SearchFields};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TranslateRequest {
    pub(crate) model: String,
    pub(crate) text: String,
    pub(crate) beam_size: Option<usize>,
    pub(crate) n_best: Option<usize>,
    pub(crate) length_penalty: Option<Penalty>,
    pub(crate) alpha: Option<f64>,
    pub(crate) max_length: Option<usize>,
    pub(crate) prefix: Option<String>,
    pub(crate) interventions: Option<Vec<String>>,
}

/// The names are those of `regard translate --format jsonl`.
#[derive(Debug, Serialize)]
pub(crate) struct TranslateResponse {
    source_tokens: Vec<String>,
    /// Where the source was cut, the number of tokens that it had.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut_from: Option<usize>,
    translations: Vec<CandidateRecord>,
}

#[derive(Debug, Serialize)]
pub(crate) struct CandidateRecord {
    text: String,
    tokens: Vec<String>,
    score: f64,
    log_prob: f64,
    length: usize,
    finished: bool,
    token_log_probs: Vec<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    alignment: Option<Vec<(usize, usize)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attention: Option<Vec<Vec<f32>>>,
}

impl TranslateRequest {
    pub(crate) fn search(&self) -> SearchFields {
        let Self { beam_size, n_best, length_penalty, alpha, max_length, .. } = *self;
        SearchFields { beam_size, n_best, length_penalty, alpha, max_length }
    }
}

impl From<Translation> for TranslateResponse {
    fn from(translation: Translation) -> Self {
        Self {
            source_tokens: translation.source_tokens(),
            cut_from: translation.cut_from,
            translations: translation.candidates.into_iter().map(CandidateRecord::from).collect(),
        }
    }
}

impl From<Candidate> for CandidateRecord {
    fn from(Candidate { text, tokens, alignment, hypothesis }: Candidate) -> Self {
        Self {
            text,
            tokens,
            score: hypothesis.score,
            log_prob: hypothesis.log_prob,
            length: hypothesis.length(),
            finished: hypothesis.finished,
            token_log_probs: hypothesis.token_log_probs,
            alignment,
            attention: hypothesis.attention,
        }
    }
}
