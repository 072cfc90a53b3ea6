//! What an audit writes down of one step: every value of the report comes from these.

use serde::{Deserialize, Serialize};

use super::rivals::RivalKind;

/// A target token under teacher forcing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepRecord {
    /// Which sentence pair, from 0.
    pub sentence: usize,
    /// Which target token, from 0.
    pub step: usize,
    /// What it is called.
    pub token: String,
    /// The source tokens, the end symbol left out.
    pub source: Vec<String>,
    /// Whether its word is a content word: see the settings.
    pub content: bool,
    /// p of the token.
    pub probability: f64,
    /// Its natural logarithm.
    pub log_probability: f64,
    /// The weights of the audited look, a value a source token; the end symbol's is left out here and in attributions.
    pub attention: Vec<f64>,
    /// The weight of the end symbol.
    pub attention_on_end: f64,
    /// The columns of the attention in the order of a shuffle: value i of the shuffled attention is that of column `shuffled[i]`.
    pub shuffled: Vec<usize>,
    /// What each source token is worth by other measures.
    pub attributions: Vec<NamedAttribution>,
    /// Total variation between the next-token distribution and that under each change of the attention of all layers and heads.
    pub tvd: Distances,
    /// Whether the likeliest token changes.
    pub flips: Flips,
    /// p of the token without the strongest tokens, and with them alone.
    pub rationales: Vec<Rationale>,
    /// The search for another attention that leaves the distribution alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adversary: Option<AdversaryRecord>,
    /// Models that were trained to be held against this one, where there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rivals: Vec<RivalRecord>,
}

/// A model of the same recipe at the same step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RivalRecord {
    /// What it has learned.
    pub kind: RivalKind,
    /// The weights of its look, as those of the audited model.
    pub attention: Vec<f64>,
    /// The weight of the end symbol.
    pub attention_on_end: f64,
    /// The Jensen-Shannon divergence (nats) of the two looks, the end symbol included.
    pub jsd: f64,
    /// Total variation between the next-token distributions of the two models.
    pub tvd: f64,
    /// Its log p of the token, natural logarithm.
    pub log_probability: f64,
}

/// A value a source token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedAttribution {
    /// The measure.
    pub method: String,
    /// Its values.
    pub values: Vec<f64>,
    /// Kendall's τ-b with the attention; none where one of them is the same everywhere.
    pub tau: Option<f64>,
    /// The same with the attention shuffled as [`StepRecord::shuffled`] says.
    pub tau_shuffled: Option<f64>,
}

/// Total variations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distances {
    /// Of each shuffle of the weights.
    pub permuted: Vec<f64>,
    /// With the same weight everywhere.
    pub uniform: f64,
    /// With all weight on the strongest.
    pub hard: f64,
    /// Without the strongest column.
    pub without_strongest: f64,
    /// Without a column drawn from the others.
    pub without_random: f64,
    /// Without any source.
    pub without_source: f64,
}

/// Changes of the likeliest token: 1 where it changes, 0 where it does not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Flips {
    /// The share of shuffles that change it.
    pub permuted: f64,
    /// Whether the same weight everywhere does.
    pub uniform: f64,
    /// Whether all weight on the strongest does.
    pub hard: f64,
    /// Whether the strongest column's absence does.
    pub without_strongest: f64,
    /// Whether a random column's absence does.
    pub without_random: f64,
    /// Whether the absence of all columns does.
    pub without_source: f64,
}

/// The two questions of the ERASER benchmark (`DeYoung` et al. 2020): columns are taken away by masking them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rationale {
    /// The share of columns that are the rationale, in percent.
    pub percent: usize,
    /// p without the strongest columns.
    pub without: f64,
    /// p with them alone.
    pub alone: f64,
    /// p without random columns, as many, for each draw.
    pub without_random: Vec<f64>,
    /// p with these alone.
    pub alone_random: Vec<f64>,
}

/// What the search of Jain & Wallace (2019) has found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdversaryRecord {
    /// The largest Jensen-Shannon divergence (mean over layers and heads, nats) of an attention that was allowed; none where none
    /// was met.
    pub jsd: Option<f64>,
    /// The total variation of its distribution.
    pub tvd: Option<f64>,
}
