//! `POST /api/v1/tree`.

use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TreeRequest {
    pub(crate) model: String,
    pub(crate) text: String,
    pub(crate) beam_size: Option<usize>,
    pub(crate) prefix: Option<String>,
    pub(crate) interventions: Option<Vec<String>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct TreeResponse {
    pub(crate) nodes: Vec<NodeRecord>,
}

/// A continuation that the search considered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct NodeRecord {
    pub(crate) id: usize,
    /// The node that it continues; none in the first step.
    pub(crate) parent: Option<usize>,
    /// The target position, from 0.
    pub(crate) step: usize,
    pub(crate) token: String,
    /// log p of the token.
    pub(crate) log_prob: f32,
    /// Σ log p of the path up to here, under the length penalty.
    pub(crate) score: f64,
    pub(crate) fate: &'static str,
    /// Why the path does not go on, where it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// Whether it is on the path of the translation that is returned first.
    pub(crate) best: bool,
}
