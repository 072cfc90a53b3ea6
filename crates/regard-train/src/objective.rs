//! What a training makes small.

use regard_model::{LossOutput, Seq2Seq, Training};
use regard_text::Batch;

use crate::adversary::Adversary;
use crate::error::Result;
use crate::guided_alignment::GuidedAlignment;

/// What a training makes small.
#[derive(Default)]
pub enum Objective {
    /// −log p of the right words.
    #[default]
    Likelihood,
    /// The same, and attention beside given links.
    Guided(GuidedAlignment),
    /// The distance from another model's words, less that from its attention.
    Adversary(Adversary),
}

impl Objective {
    /// The loss of a batch on the tape of `training`.
    pub(crate) fn loss(&self, model: &dyn Seq2Seq, training: &Training, batch: &Batch) -> Result<LossOutput> {
        match self {
            Self::Likelihood => Ok(model.loss(training, batch)?),
            Self::Guided(guide) => guide.loss(model, training, batch),
            Self::Adversary(adversary) => adversary.loss(model, training, batch),
        }
    }

    /// What the identity of a run says of it.
    pub(crate) fn describe(&self) -> Result<Option<String>> {
        match self {
            Self::Likelihood => Ok(None),
            Self::Guided(guide) => guide.describe().map(Some),
            Self::Adversary(adversary) => Ok(Some(adversary.describe())),
        }
    }

    /// Refuses pairs that it does not belong to.
    pub(crate) fn check(&self, pairs: usize) -> Result<()> {
        match self {
            Self::Guided(guide) => guide.check(pairs),
            Self::Likelihood | Self::Adversary(_) => Ok(()),
        }
    }
}
