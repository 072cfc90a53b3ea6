//! Vectors that positions add to what an attention returns, and their norms (Kobayashi et al. 2020).

use regard_model::{AttentionSite, ModelConfig, Place, SiteKind, TransformerConfig};

use super::internals::Internals;
use super::subject::{Rows, Subject};
use crate::error::{LookError, Result};

/// `[looking words, positions, width]`.
pub(super) type Terms = Vec<Vec<Vec<f64>>>;

/// `‖Σ_h α (v W_O)‖₂` in the subject's look at the source; ‖α W h‖₂ with the readout's map W of the context where the decoder is
/// recurrent, or without a map where it has none.
pub(super) fn norms(subject: &Subject) -> Result<Rows> {
    subject.needs_attention("norm")?;
    let terms = match subject.config {
        ModelConfig::Transformer(config) => {
            let layer = subject.cross_layer(config);
            let inside = Internals::of(subject, |place| place == Place::Values(SiteKind::Cross, layer))?;
            attention_terms(subject, config, &inside, SiteKind::Cross, layer)?
        }
        ModelConfig::Recurrent(_) => recurrent_terms(subject)?,
    };
    Ok(terms.iter().map(|row| row.iter().map(|term| norm(term)).collect()).collect())
}

fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|value| value * value).sum::<f64>().sqrt()
}

fn recurrent_terms(subject: &Subject) -> Result<Terms> {
    let inside = Internals::of(subject, |place| place == Place::Memory)?;
    let (weights, states) = (inside.weights(AttentionSite::CROSS)?, inside.value(Place::Memory)?);
    let map = subject.model.parameters().get("readout.context.weight");
    let positions = subject.source.len();
    let mapped: Vec<Vec<f64>> = (0..positions)
        .map(|position| {
            let state = states.row(position);
            match map {
                Some(map) => (0..map.shape().rows()).map(|out| dot(map.row(out), state)).collect(),
                None => state.iter().map(|&value| f64::from(value)).collect(),
            }
        })
        .collect();
    let term = |weight: f32, state: &[f64]| state.iter().map(|value| f64::from(weight) * value).collect();
    let row = |row: usize| {
        (0..positions).map(|position| term(weights.row(row)[position], &mapped[position])).collect()
    };
    Ok((0..weights.shape().rows()).map(row).collect())
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
}

/// What each position adds to each word in an attention block of a Transformer: `Σ_h α (v W_O)`. Their sum and the output's bias
/// are the block's branch.
pub(super) fn attention_terms(
    subject: &Subject,
    config: &TransformerConfig,
    inside: &Internals,
    kind: SiteKind,
    layer: usize,
) -> Result<Terms> {
    let (stack, heads, part) = match kind {
        SiteKind::EncoderSelf => ("encoder", config.encoder.heads, "self_attention"),
        SiteKind::DecoderSelf => ("decoder", config.decoder.heads, "self_attention"),
        SiteKind::Cross => ("decoder", config.decoder.heads, "cross_attention"),
    };
    let name = format!("{stack}.{layer}.{part}.output.weight");
    let map = subject.model.parameters().get(&name).ok_or(LookError::Hidden)?;
    let values = inside.value(Place::Values(kind, layer))?;
    let (width, head_width) = (config.d_model, config.d_model / heads);
    // The value of a position as a head adds it: W_O v, on the head's columns.
    let mapped = |position: usize, head: usize| -> Vec<f64> {
        let columns = head * head_width..(head + 1) * head_width;
        let value = &values.row(position)[columns.clone()];
        (0..width).map(|out| dot(&map.row(out)[columns.clone()], value)).collect()
    };
    let mut terms = Terms::new();
    for head in 0..heads {
        let weights = inside.weights(AttentionSite { kind, layer, head })?;
        let positions = weights.shape().last();
        terms.resize(weights.shape().rows(), vec![vec![0.0; width]; positions]);
        for position in 0..positions {
            let mapped = mapped(position, head);
            for (row, terms) in terms.iter_mut().enumerate() {
                let weight = f64::from(weights.row(row)[position]);
                for (term, value) in terms[position].iter_mut().zip(&mapped) {
                    *term += weight * value;
                }
            }
        }
    }
    Ok(terms)
}
