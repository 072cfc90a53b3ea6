//! What interventions take from another sentence.

use std::sync::{Mutex, PoisonError};

use regard_decode::{Controls, Decoding, SearchOptions, Translator};
use regard_model::{AttentionHook, AttentionSite, ModelError, Place, ValueCall};
use regard_tensor::Var;
use regard_text::Padded;
use regard_text::special_tokens::EOS;

use super::Action;
use super::rows::DonorRows;
use crate::error::{LookError, Result};
use crate::sentence::Source;

/// What was taken.
#[derive(Debug)]
pub(super) enum Donor {
    /// Nothing is wanted.
    None,
    /// An encoder state.
    State(Vec<f32>),
    /// Weights, step by step, of every site.
    Attention(DonorRows),
}

impl Donor {
    pub(super) fn of(
        action: &Action,
        translator: &Translator,
        positions: usize,
        controls: &Controls,
    ) -> Result<Self> {
        // Nobody is told of the search of another sentence, and nothing is changed in it.
        let controls = Controls { hook: None, observer: None, ..*controls };
        match action {
            Action::State { from, text, .. } => state(translator, text, *from, controls).map(Self::State),
            Action::AttentionOf { text } => {
                attention(translator, text, positions, controls).map(Self::Attention)
            }
            _ => Ok(Self::None),
        }
    }
}

/// Keeps the source as the decoder reads it.
#[derive(Default)]
struct Reading(Mutex<Option<Var>>);

impl AttentionHook for Reading {
    fn wants(&self, _: AttentionSite) -> bool {
        false
    }

    fn wants_value(&self, place: Place) -> bool {
        place == Place::Memory
    }

    fn value(&self, _: &ValueCall, value: Var) -> Result<Var, ModelError> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(value.clone());
        Ok(value)
    }
}

fn state(translator: &Translator, text: &str, from: usize, controls: Controls) -> Result<Vec<f32>> {
    let source = Source::read(translator, text)?;
    if from >= source.positions() {
        let (spec, last) = (format!("from={from}"), source.positions() - 1);
        return Err(LookError::Impossible {
            spec,
            problem: format!("\"{text}\" has the positions 0 to {last}"),
        });
    }
    let reading = Reading::default();
    let controls = Controls { hook: Some(&reading), ..controls };
    let decoding = Decoding { controls, ..translator.decoding() };
    decoding.force(&source.padded(), &Padded::from_rows(&[vec![]]), false, |_| Ok(()))?;
    let states = reading.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    let states = states.ok_or(LookError::Hidden)?;
    Ok(states.value().row(from).to_vec())
}

/// The looks of the model's own translation of a sentence, greedily, so that a step has one look.
fn attention(translator: &Translator, text: &str, positions: usize, controls: Controls) -> Result<DonorRows> {
    let source = Source::read(translator, text)?;
    if source.positions() != positions {
        let problem = format!(
            "\"{text}\" has {} positions and the sentence {positions}, the end symbol included",
            source.positions()
        );
        return Err(LookError::Impossible { spec: "attention-of".to_owned(), problem });
    }
    let decoding = Decoding { controls, ..translator.decoding() };
    let search = SearchOptions { beam_size: 1, n_best: 1, ..SearchOptions::default() };
    let found = decoding.search(&source.padded(), &search)?;
    let best = found.into_iter().flatten().next().ok_or(LookError::Nothing)?;
    let mut tokens = best.tokens;
    if best.finished {
        tokens.push(EOS);
    }
    let mut rows = DonorRows::new();
    decoding.force(&source.padded(), &Padded::from_rows(&[tokens]), true, |step| {
        for seen in &step.output.attention {
            rows.entry(seen.site).or_default().push(seen.weights.row(step.row).to_vec());
        }
        Ok(())
    })?;
    Ok(rows)
}
