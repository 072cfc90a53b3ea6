//! Models that were trained to be held against the audited one, at the same steps (Wiegreffe & Pinter 2019,
//! <https://aclanthology.org/D19-1002>).

use regard_decode::Decoding;
use regard_model::{Seq2Seq, SiteKind, StepOutput};
use regard_text::Padded;
use serde::{Deserialize, Serialize};

use super::step::RivalRecord;
use crate::attribution::Subject;
use crate::distance::{jensen_shannon, total_variation};
use crate::error::Result;

/// What such a model has learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RivalKind {
    /// To say what the audited model says, and to look elsewhere.
    Adversary,
    /// The same as the audited model, with attention that is frozen even.
    Uniform,
    /// The same from another seed: how far apart two models are without any intent.
    Seed,
}

impl RivalKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Adversary, Self::Uniform, Self::Seed];

    /// What it is called, as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Adversary => "adversary",
            Self::Uniform => "uniform",
            Self::Seed => "seed",
        }
    }
}

/// A model with the vocabularies of the audited one.
#[derive(Clone, Copy)]
pub struct Rival<'a> {
    /// What it has learned.
    pub kind: RivalKind,
    /// The network.
    pub model: &'a dyn Seq2Seq,
}

impl Rival<'_> {
    /// What it does at some steps of a pair, in their order.
    pub(super) fn seen(&self, subject: &Subject, steps: &[usize]) -> Result<Vec<Seen>> {
        let decoding = Decoding::new(self.model, subject.threads);
        let [source, target] = [subject.source, subject.target].map(|ids| Padded::from_rows(&[ids.to_vec()]));
        let mut seen = Vec::new();
        decoding.force(&source, &target, true, |step| {
            if steps.contains(&step.position) {
                seen.push(Seen::new(step.output, step.row, subject.source.len()));
            }
            Ok(())
        })?;
        Ok(seen)
    }
}

/// What a model does at one step.
pub(super) struct Seen {
    /// The weights of the audited look, the end symbol's last.
    pub(super) attention: Vec<f64>,
    /// Of every token.
    pub(super) log_probs: Vec<f32>,
}

impl Seen {
    /// A row of a step: the look is the mean of the heads of the last layer.
    pub(super) fn new(output: &StepOutput, row: usize, positions: usize) -> Self {
        let cross = || output.attention.iter().filter(|seen| seen.site.kind == SiteKind::Cross);
        let last = cross().map(|seen| seen.site.layer).max();
        let heads: Vec<_> = cross().filter(|seen| Some(seen.site.layer) == last).collect();
        let mean = |at: usize| {
            heads.iter().map(|seen| f64::from(seen.weights.row(row)[at])).sum::<f64>() / heads.len() as f64
        };
        Self {
            attention: (0..positions).map(mean).collect(),
            log_probs: output.log_probs.row(row).values().collect(),
        }
    }

    /// A rival's step beside the audited model's own.
    pub(super) fn beside(&self, own: &Self, kind: RivalKind, token: usize) -> RivalRecord {
        let p = |seen: &Self| -> Vec<f32> { seen.log_probs.iter().map(|log_prob| log_prob.exp()).collect() };
        let words = self.attention.len().saturating_sub(1);
        RivalRecord {
            kind,
            attention: self.attention[..words].to_vec(),
            attention_on_end: self.attention[words],
            jsd: jensen_shannon(&own.attention, &self.attention),
            tvd: total_variation(&p(own), &p(self)),
            log_probability: f64::from(self.log_probs[token]),
        }
    }
}
