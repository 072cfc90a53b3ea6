//! One pass through a model: the tape, the weights on it, and the dropout of this pass.

use std::cell::Cell;

use regard_tensor::ops::{self, DropoutMask};
use regard_tensor::{List, Tape, Tensor, Var, random};

use crate::attention::{AttentionHook, Place, ValueCall};
use crate::error::Result;
use crate::parameters::ParameterId;
use crate::seq2seq::{Row, Run, Training};

/// What every layer is given.
pub(crate) struct Pass<'a> {
    pub(crate) tape: &'a Tape,
    weights: &'a [Var],
    hook: Option<&'a dyn AttentionHook>,
    /// Whether what was looked at is wanted.
    pub(crate) attention: bool,
    /// Dropout sites are numbered in the order in which the layers meet them.
    dropout: Option<(u64, Cell<u64>)>,
}

impl<'a> Pass<'a> {
    pub(crate) fn new(tape: &'a Tape, weights: &'a [Var], noise_key: Option<u64>) -> Self {
        Self {
            tape,
            weights,
            hook: None,
            attention: false,
            dropout: noise_key.map(|key| (key, Cell::new(0))),
        }
    }

    pub(crate) fn with_hook(self, hook: Option<&'a dyn AttentionHook>) -> Self {
        Self { hook, ..self }
    }

    /// A pass of a trained model, as a run asks for it.
    pub(crate) fn of_run(run: &Run<'a>, weights: &'a [Var]) -> Self {
        Self { attention: run.attention, ..Self::new(run.tape, weights, None).with_hook(run.hook) }
    }

    /// A pass of a model in training.
    pub(crate) fn of_training(training: &Training<'a>) -> Self {
        Self::new(training.tape, training.weights, training.noise.map(|noise| noise.key))
            .with_hook(training.hook)
    }

    /// Who sees and may replace values. A build with `--cfg regard_without_hooks` has nobody: what the calls cost is measured
    /// against it (`bench/hooks.sh`).
    pub(crate) fn hook(&self) -> Option<&'a dyn AttentionHook> {
        if cfg!(regard_without_hooks) { None } else { self.hook }
    }

    /// `x` as the hook wants it at a place.
    pub(crate) fn hooked(&self, place: Place, x: Var, rows: impl FnOnce() -> List<Row>) -> Result<Var> {
        match self.hook().filter(|hook| hook.wants_value(place)) {
            Some(hook) => hook.value(&ValueCall { tape: self.tape, place, rows: &rows() }, x),
            None => Ok(x),
        }
    }

    pub(crate) fn weight(&self, id: ParameterId) -> &Var {
        id.of(self.weights)
    }

    /// The mask of the next dropout site; `None` where nothing is dropped.
    pub(crate) fn mask(&self, probability: f64) -> Option<DropoutMask> {
        let (key, next) = self.dropout.as_ref().filter(|_| probability > 0.0)?;
        let site = next.get();
        next.set(site + 1);
        Some(DropoutMask::new(random::mix(*key, site), probability))
    }

    /// `x` with a part of its elements dropped.
    pub(crate) fn dropout(&self, x: &Var, probability: f64) -> Result<Var> {
        self.masked(x, self.mask(probability))
    }

    /// `x` under a mask, where there is one.
    pub(crate) fn masked(&self, x: &Var, mask: Option<DropoutMask>) -> Result<Var> {
        Ok(match mask {
            Some(mask) => ops::dropout(self.tape, x, mask)?,
            None => x.clone(),
        })
    }

    /// `x` with whole rows dropped.
    pub(crate) fn word_dropout(&self, x: &Var, probability: f64) -> Result<Var> {
        let mask = self.mask(probability).map(|mask| mask.rows(x.shape().last()));
        self.masked(x, mask)
    }

    /// Zeros that no gradient reaches.
    pub(crate) fn zeros(rows: usize, width: usize) -> Var {
        Var::constant(Tensor::zeros([rows, width]))
    }
}
