//! Value zeroing (Mohebbi et al. 2023): how far the result of an attention turns without the value of a position.

use std::sync::{Mutex, PoisonError};

use regard_model::{
    AttentionHook, AttentionSite, ModelConfig, ModelError, Place, Scored, SiteKind, ValueCall,
};
use regard_tensor::{Tape, Tensor, Var};

use super::internals::{Internals, attention};
use super::subject::{Rows, Subject};
use crate::error::{LookError, Result};

/// 1 − cos(h, h without): of the block that looks at the source in the subject's layer, what goes around it included; of the context
/// where the decoder is recurrent.
pub(super) fn value_zeroing(subject: &Subject) -> Result<Rows> {
    subject.needs_attention("value-zeroing")?;
    match subject.config {
        ModelConfig::Transformer(config) => of_transformer(subject, subject.cross_layer(config)),
        ModelConfig::Recurrent(_) => of_context(subject),
    }
}

/// Copy i of the pair is without the value of position i; the last copy has all.
struct Zeroing {
    layer: usize,
    output: Mutex<Option<Tensor>>,
}

impl AttentionHook for Zeroing {
    fn wants(&self, _: AttentionSite) -> bool {
        false
    }

    fn wants_value(&self, place: Place) -> bool {
        place == Place::Values(SiteKind::Cross, self.layer) || place == self.result()
    }

    fn value(&self, call: &ValueCall, value: Var) -> Result<Var, ModelError> {
        if call.place == self.result() {
            *self.output.lock().unwrap_or_else(PoisonError::into_inner) = Some(value.value().clone());
            return Ok(value);
        }
        let mut values = value.value().deep_copy();
        let width = values.shape().last().max(1);
        for (row, values) in call.rows.iter().zip(values.values_mut().chunks_exact_mut(width)) {
            if row.sentence == row.position {
                values.fill(0.0);
            }
        }
        Ok(Var::constant(values))
    }
}

impl Zeroing {
    fn result(&self) -> Place {
        Place::Output(attention(SiteKind::Cross, self.layer))
    }
}

fn of_transformer(subject: &Subject, layer: usize) -> Result<Rows> {
    let zeroing = Zeroing { layer, output: Mutex::default() };
    let (positions, words) = (subject.source.len(), subject.target.len());
    let batch = subject.copies(positions + 1);
    subject.log_prob(&Tape::inference(subject.threads), &batch, Scored::All, &zeroing)?;
    let output = zeroing.output.into_inner().unwrap_or_else(PoisonError::into_inner);
    let output = output.ok_or(LookError::Hidden)?;
    let state = |copy: usize, word: usize| output.row(copy * words + word);
    let cell = |word: usize, position: usize| {
        1.0 - cosine(doubles(state(positions, word)), doubles(state(position, word)))
    };
    Ok((0..words).map(|word| (0..positions).map(|position| cell(word, position)).collect()).collect())
}

fn of_context(subject: &Subject) -> Result<Rows> {
    let inside = Internals::of(subject, |place| place == Place::Memory)?;
    let (weights, states) = (inside.weights(AttentionSite::CROSS)?, inside.value(Place::Memory)?);
    let positions = subject.source.len();
    let row = |word: usize| {
        let term = |position: usize| {
            let weight = f64::from(weights.row(word)[position]);
            doubles(states.row(position)).map(move |value| weight * value).collect::<Vec<f64>>()
        };
        let terms: Vec<Vec<f64>> = (0..positions).map(term).collect();
        let context: Vec<f64> =
            (0..states.shape().last()).map(|at| terms.iter().map(|term| term[at]).sum()).collect();
        let without =
            |term: &Vec<f64>| context.iter().zip(term).map(|(all, one)| all - one).collect::<Vec<_>>();
        terms.iter().map(|term| 1.0 - cosine(context.iter().copied(), without(term).into_iter())).collect()
    };
    Ok((0..weights.shape().rows()).map(row).collect())
}

fn doubles(row: &[f32]) -> impl Iterator<Item = f64> + Clone + '_ {
    row.iter().map(|&value| f64::from(value))
}

/// The cosine of two vectors; 0 where one of them is nothing.
fn cosine(a: impl Iterator<Item = f64> + Clone, b: impl Iterator<Item = f64> + Clone) -> f64 {
    let dot = a.clone().zip(b.clone()).map(|(a, b)| a * b).sum::<f64>();
    let squares = a.map(|a| a * a).sum::<f64>() * b.map(|b| b * b).sum::<f64>();
    if squares > 0.0 { dot / squares.sqrt() } else { 0.0 }
}
