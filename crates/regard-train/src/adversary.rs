//! An adversary (Wiegreffe & Pinter 2019, <https://aclanthology.org/D19-1002>): a model that learns to say what another one
//! says, and to look elsewhere.

use regard_model::{Distributions, LossOutput, ModelError, Parameters, Predictor, Seq2Seq, Training};
use regard_tensor::{Tape, Var, ops};
use regard_text::{Batch, Padded};

use crate::error::{Result, TrainError};
use crate::recorder::Recorder;

/// Learns a model a against a model b that stays as it is, step by step under teacher forcing: `TVD(ŷ_a, ŷ_b) −
/// λ · KL(α_a ‖ α_b)`, natural logarithm, the divergence a mean over all heads that look at the source. The sum over the
/// target tokens is divided by their number. The words of the text are read, and no longer what is to be said.
pub struct Adversary {
    base: Box<dyn Seq2Seq>,
    lambda: f64,
}

impl Adversary {
    /// An adversary of `base` for a model.
    ///
    /// # Errors
    /// Where the two do not look alike: other heads, another target vocabulary, or none at the source.
    pub fn new(base: Box<dyn Seq2Seq>, lambda: f64, model: &(impl Predictor + ?Sized)) -> Result<Self> {
        let (own, others) = (model.cross_sites(), base.cross_sites());
        let reason = if others.is_empty() {
            Some("it does not look at the source".to_owned())
        } else if own != others {
            Some(format!(
                "it looks at the source with {} heads, and this one with {}",
                others.len(),
                own.len()
            ))
        } else if base.target_vocabulary() != model.target_vocabulary() {
            let (own, others) = (model.target_vocabulary(), base.target_vocabulary());
            Some(format!("it writes {others} different tokens, and this one {own}"))
        } else {
            None
        };
        match reason {
            None => Ok(Self { base, lambda }),
            Some(reason) => {
                let key = "training.adversary_of".to_owned();
                let reason = format!("{reason}; train an adversary with the recipe of its model");
                Err(TrainError::Impossible { line: None, key, reason })
            }
        }
    }

    pub(crate) fn describe(&self) -> String {
        let weights = checksum(self.base.parameters());
        format!("adversary, lambda {}, of weights with checksum {weights}", self.lambda)
    }

    pub(crate) fn loss(&self, model: &dyn Seq2Seq, training: &Training, batch: &Batch) -> Result<LossOutput> {
        let base_tape = Tape::inference(training.tape.threads()).with_precision(training.tape.precision());
        let (base_seen, seen) = (Recorder::new(None), Recorder::new(None));
        let weights = self.base.parameters().constants();
        let base_run = Training {
            tape: &base_tape,
            weights: &weights,
            noise: None,
            hook: Some(&base_seen),
            ..*training
        };
        let base = self.base.distributions(&base_run, batch)?;
        let own = model.distributions(&Training { hook: Some(&seen), ..*training }, batch)?;
        if base.rows != own.rows {
            let problem = "training.adversary_of names a model of another family";
            return Err(ModelError::Config(problem.to_owned()).into());
        }
        let (tape, counts) = (training.tape, own.counts(&batch.target));
        let distribution = base.log_probs.value();
        let mut loss = ops::total_variation(tape, &own.log_probs, distribution, &counts, training.factor)?;
        let sites = model.cross_sites();
        let share = -self.lambda * training.factor / sites.len() as f64;
        for site in sites {
            let (own, base) = (seen.looked(tape, site)?, base_seen.looked(&base_tape, site)?);
            let divergence = ops::kullback_leibler(tape, &own.weights, base.weights.value(), &counts, share)?;
            loss = ops::add(tape, &loss, &divergence)?;
        }
        Ok(judged(loss, &own, &batch.target))
    }
}

/// A loss with what is reported beside it: how the distributions fare with the words of the text.
fn judged(loss: Var, own: &Distributions, target: &Padded) -> LossOutput {
    let mut output = LossOutput { loss, negative_log_likelihood: 0.0, tokens: 0, correct: 0 };
    for (place, row) in own.rows.iter().enumerate() {
        let Some(&right) = target.row(row.sentence).get(row.position) else { continue };
        let log_probs = own.log_probs.value().row(place);
        let right = log_probs[right as usize];
        output.negative_log_likelihood -= f64::from(right);
        output.tokens += 1;
        output.correct += usize::from(log_probs.iter().all(|&other| other <= right));
    }
    output
}

/// CRC-32C of all weights, f32 little-endian, in their order.
fn checksum(parameters: &Parameters) -> u32 {
    parameters.values().iter().fold(0, |crc, weight| {
        let bytes: Vec<u8> = weight.values().iter().flat_map(|value| value.to_le_bytes()).collect();
        crc32c::crc32c_append(crc, &bytes)
    })
}
