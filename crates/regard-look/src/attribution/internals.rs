//! What goes on inside of a model while it reads one pair: kept, not changed.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use regard_model::{
    AttentionHook, AttentionSite, Block, BlockKind, HookCall, ModelError, Place, Scored, SiteKind, ValueCall,
};
use regard_tensor::{Tape, Tensor, Var};

use super::subject::Subject;
use crate::error::{LookError, Result};

/// Weights and values of one pass in the whole-sequence form.
#[derive(Default)]
pub(super) struct Internals {
    weights: HashMap<AttentionSite, Tensor>,
    values: HashMap<Place, Tensor>,
}

/// What is kept: the weights of all attentions, and the values of some places.
struct Recorder<W: Fn(Place) -> bool> {
    wanted: W,
    kept: Mutex<Internals>,
}

impl<W: Fn(Place) -> bool + Send + Sync> AttentionHook for Recorder<W> {
    fn wants(&self, _: AttentionSite) -> bool {
        true
    }

    fn weights(&self, call: &HookCall, weights: Var) -> Result<Var, ModelError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = weights.value().shape().rows();
        let steps = call.rows.iter().map(|row| row.position).min().unwrap_or(0);
        let joined = match kept.weights.remove(&call.site).filter(|_| steps > 0) {
            // A recurrent decoder comes by step after step.
            Some(before) => {
                let all = [before.values(), weights.value().values()].concat();
                Tensor::new([before.shape().rows() + rows, weights.shape().last()], all)?
            }
            None => weights.value().clone(),
        };
        kept.weights.insert(call.site, joined);
        Ok(weights)
    }

    fn wants_value(&self, place: Place) -> bool {
        (self.wanted)(place)
    }

    fn value(&self, call: &ValueCall, value: Var) -> Result<Var, ModelError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.values.insert(call.place, value.value().clone());
        Ok(value)
    }
}

impl Internals {
    /// One pass over a pair, keeping the values of the `wanted` places.
    pub(super) fn of(subject: &Subject, wanted: impl Fn(Place) -> bool + Send + Sync) -> Result<Self> {
        let recorder = Recorder { wanted, kept: Mutex::default() };
        subject.log_prob(&Tape::inference(subject.threads), &subject.pair(), Scored::All, &recorder)?;
        Ok(recorder.kept.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// The weights of a head, a row a word that looks.
    pub(super) fn weights(&self, site: AttentionSite) -> Result<&Tensor> {
        self.weights.get(&site).ok_or(LookError::Hidden)
    }

    /// A value, a row a word.
    pub(super) fn value(&self, place: Place) -> Result<&Tensor> {
        self.values.get(&place).ok_or(LookError::Hidden)
    }

    /// The mean of the weights of all heads of a layer: a row a word that looks.
    pub(super) fn mean_weights(&self, kind: SiteKind, layer: usize, heads: usize) -> Result<Vec<Vec<f64>>> {
        let mut sums: Vec<Vec<f64>> = Vec::new();
        for head in 0..heads {
            let weights = self.weights(AttentionSite { kind, layer, head })?;
            sums.resize(weights.shape().rows(), vec![0.0; weights.shape().last()]);
            for (row, sums) in sums.iter_mut().enumerate() {
                for (sum, &weight) in sums.iter_mut().zip(weights.row(row)) {
                    *sum += f64::from(weight) / heads as f64;
                }
            }
        }
        Ok(sums)
    }
}

/// The block of an attention.
pub(super) fn attention(kind: SiteKind, layer: usize) -> Block {
    Block { kind: BlockKind::Attention(kind), layer }
}
