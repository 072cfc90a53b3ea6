//! Several models that translate together.

use std::sync::Arc;

use regard_model::{
    AttentionSite, Memory, ModelError, Predictor, Row, Run, SiteAttention, State, StepOutput,
};
use regard_tensor::kernels::Kernels;
use regard_tensor::{LogProbs, Tensor};
use regard_text::Padded;

use crate::error::{DecodeError, Result};
use crate::look::Look;

/// How the probabilities of several models become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Combination {
    /// The mean of the probabilities: what any model believes in stays possible.
    #[default]
    Arithmetic,
    /// The mean of their logarithms, made to sum to 1 again: what any model excludes is excluded.
    Geometric,
}

/// Models that read the same source and agree on each next token. All must have been trained with the same vocabularies:
/// that is for the caller to know, since a model has ids only.
///
/// What was looked at is the mean over the models of what each looked at: in its last layer, the mean of the heads.
pub struct Ensemble {
    models: Vec<Arc<dyn Predictor>>,
    combination: Combination,
}

impl Ensemble {
    /// Models that work together.
    ///
    /// # Errors
    /// [`DecodeError::Options`] without models, [`DecodeError::Vocabulary`] where they write different numbers of tokens.
    pub fn new(models: Vec<Arc<dyn Predictor>>, combination: Combination) -> Result<Self> {
        let Some(first) = models.first() else {
            return Err(DecodeError::Options("an ensemble needs at least one model".into()));
        };
        let vocabulary = first.target_vocabulary();
        match models.iter().map(|model| model.target_vocabulary()).find(|&other| other != vocabulary) {
            Some(model) => Err(DecodeError::Vocabulary { model, vocabulary }),
            None => Ok(Self { models, combination }),
        }
    }

    fn combine(&self, log_probs: &[Tensor]) -> LogProbs {
        let mut rows = log_probs[0].clone();
        let columns = rows.shape().last();
        let mut column = vec![0.0; log_probs.len()];
        for (at, value) in rows.values_mut().iter_mut().enumerate() {
            for (log_prob, of_model) in column.iter_mut().zip(log_probs) {
                *log_prob = f64::from(of_model.values()[at]);
            }
            *value = match self.combination {
                Combination::Arithmetic => log_mean(&column),
                Combination::Geometric => column.iter().sum::<f64>() / column.len() as f64,
            } as f32;
        }
        if self.combination == Combination::Geometric {
            rows.values_mut().chunks_exact_mut(columns).for_each(f32::log_softmax_row);
        }
        LogProbs::of_log_probs(&rows)
    }
}

/// log of the mean of the e^x; −∞ where all are.
fn log_mean(x: &[f64]) -> f64 {
    let most = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY {
        return if x.iter().any(|x| x.is_nan()) { f64::NAN } else { most };
    }
    most + (x.iter().map(|x| (x - most).exp()).sum::<f64>() / x.len() as f64).ln()
}

/// The mean over the models of where they looked.
fn mean_look(outputs: &[StepOutput], rows: usize, positions: usize) -> Option<SiteAttention> {
    let mut weights: Tensor = Tensor::zeros([rows, positions]);
    for output in outputs {
        for (row, sums) in weights.values_mut().chunks_exact_mut(positions).enumerate() {
            let looked = Look::default().weights(output, row, positions)?;
            for (sum, weight) in sums.iter_mut().zip(looked) {
                *sum += weight / outputs.len() as f32;
            }
        }
    }
    let mut scores = weights.clone();
    for weight in scores.values_mut() {
        *weight = weight.ln();
    }
    Some(SiteAttention { site: AttentionSite::CROSS, scores, weights })
}

fn foreign() -> ModelError {
    ModelError::Config("memory or state of another ensemble".to_owned())
}

impl Predictor for Ensemble {
    fn target_vocabulary(&self) -> usize {
        self.models[0].target_vocabulary()
    }

    fn has_attention(&self) -> bool {
        self.models.iter().all(|model| model.has_attention())
    }

    fn encode(&self, run: &Run, source: &Padded) -> regard_model::Result<Memory> {
        let members = self.models.iter().map(|model| model.encode(run, source));
        let members = members.collect::<regard_model::Result<_>>()?;
        Ok(Memory { lengths: source.lengths.clone(), members, ..Memory::default() })
    }

    fn restrict(&self, run: &Run, memory: &mut Memory, lists: &[Vec<u32>]) -> regard_model::Result<()> {
        let mut members = self.models.iter().zip(&mut memory.members);
        members.try_for_each(|(model, memory)| model.restrict(run, memory, lists))
    }

    fn start(&self, run: &Run, memory: &Memory, sentences: &[usize]) -> regard_model::Result<State> {
        let members = self.models.iter().zip(&memory.members);
        let members = members.map(|(model, memory)| model.start(run, memory, sentences));
        Ok(State { members: members.collect::<regard_model::Result<_>>()?, ..State::default() })
    }

    fn step(
        &self,
        run: &Run,
        memory: &Memory,
        state: &State,
        tokens: &[u32],
        rows: &[Row],
    ) -> regard_model::Result<StepOutput> {
        if memory.members.len() != self.models.len() || state.members.len() != self.models.len() {
            return Err(foreign());
        }
        let members = self.models.iter().zip(&memory.members).zip(&state.members);
        let outputs = members
            .map(|((model, memory), state)| model.step(run, memory, state, tokens, rows))
            .collect::<regard_model::Result<Vec<_>>>()?;
        let positions = memory.lengths.iter().copied().max().filter(|_| run.attention);
        let attention = positions.and_then(|positions| mean_look(&outputs, rows.len(), positions));
        let log_probs: Vec<Tensor> = outputs.iter().map(|output| output.log_probs.to_tensor()).collect();
        let members = outputs.into_iter().map(|output| output.state).collect();
        Ok(StepOutput {
            log_probs: self.combine(&log_probs),
            state: State { members, ..State::default() },
            attention: attention.into_iter().collect(),
        })
    }
}
