//! Contributions through all layers: ALTI+ (Ferrando et al. 2022) and attention rollout (Abnar & Zuidema 2020).

use regard_model::{Norm, NormPosition, Place, SiteKind, TransformerConfig};

use super::internals::{Internals, attention};
use super::norms::attention_terms;
use super::subject::{Rows, Subject};
use crate::error::{LookError, Result};

/// What words are made of after some layers: their shares of the source and of the target words before.
struct Shares {
    source: Rows,
    target: Rows,
}

/// One decoder layer: shares of the words themselves and of the encoder's states.
struct Layer {
    /// Of the look back, what goes around it included: `[words, words]`, rows sum to 1.
    back: Rows,
    /// Of the look at the source: `[words, positions]`.
    across: Rows,
    /// What goes around that: with it, a row of `across` sums to 1.
    around: Vec<f64>,
}

/// ALTI+. The feed-forward parts work word by word and are left out.
pub(super) fn alti(subject: &Subject) -> Result<(Rows, Rows)> {
    let config = subject.transformer("alti")?;
    let inside = Internals::of(subject, |place| !matches!(place, Place::SourceWords | Place::TargetWords))?;
    let block = |kind, layer| contributions(subject, config, &inside, kind, layer);
    let mut encoder = identity(subject.source.len());
    for layer in 0..config.encoder.layers {
        let own = block(SiteKind::EncoderSelf, layer)?;
        encoder = product(&own.0, &encoder);
    }
    let layers = (0..config.decoder.layers).map(|layer| {
        let (across, around) = block(SiteKind::Cross, layer)?;
        Ok(Layer { back: block(SiteKind::DecoderSelf, layer)?.0, across, around })
    });
    Ok(through(subject, &encoder, &layers.collect::<Result<Vec<_>>>()?))
}

/// Rollout: half of each attention's output is what goes around it.
pub(super) fn rollout(subject: &Subject) -> Result<(Rows, Rows)> {
    let config = subject.transformer("rollout")?;
    let inside = Internals::of(subject, |_| false)?;
    let half = |kind, layer, heads| -> Result<(Rows, Vec<f64>)> {
        let mut mean = inside.mean_weights(kind, layer, heads)?;
        mean.iter_mut().flatten().for_each(|weight| *weight *= 0.5);
        let around = vec![0.5; mean.len()];
        Ok((mean, around))
    };
    let mut encoder = identity(subject.source.len());
    for layer in 0..config.encoder.layers {
        encoder = product(&joined(half(SiteKind::EncoderSelf, layer, config.encoder.heads)?), &encoder);
    }
    let layers = (0..config.decoder.layers).map(|layer| {
        let (across, around) = half(SiteKind::Cross, layer, config.decoder.heads)?;
        let back = joined(half(SiteKind::DecoderSelf, layer, config.decoder.heads)?);
        Ok(Layer { back, across, around })
    });
    Ok(through(subject, &encoder, &layers.collect::<Result<Vec<_>>>()?))
}

/// Shares of positions in each word that an attention block leaves, and of what goes around it; a row and its entry sum to 1.
///
/// The share of a term T in the output y is max(0, ‖y‖₁ − ‖y − T‖₁), T taken through the normalisation as a linear map. Where
/// words look at themselves, what goes around a word belongs to the word's own term (Kobayashi et al. 2021), and the entry is 0.
fn contributions(
    subject: &Subject,
    config: &TransformerConfig,
    inside: &Internals,
    kind: SiteKind,
    layer: usize,
) -> Result<(Rows, Vec<f64>)> {
    let terms = attention_terms(subject, config, inside, kind, layer)?;
    let block = attention(kind, layer);
    let (x, branch) = (inside.value(Place::Around(block))?, inside.value(Place::Branch(block))?);
    let output = inside.value(Place::Output(block))?;
    let norm = Linear::new(subject, config, kind, layer)?;
    let doubles = |row: &[f32]| -> Vec<f64> { row.iter().map(|&value| f64::from(value)).collect() };
    let (mut shares, mut arounds) = (Rows::new(), Vec::new());
    for (row, mut terms) in terms.into_iter().enumerate() {
        let (x, branch, output) = (doubles(x.row(row)), doubles(branch.row(row)), doubles(output.row(row)));
        let sum: Vec<f64> = x.iter().zip(&branch).map(|(x, branch)| x + branch).collect();
        let scale = norm.scale(&sum);
        let share = |term: &[f64]| {
            let term = norm.apply(term, scale);
            let rest: f64 = output.iter().zip(&term).map(|(y, term)| (y - term).abs()).sum();
            (output.iter().map(|y| y.abs()).sum::<f64>() - rest).max(0.0)
        };
        let mut around = 0.0;
        if kind == SiteKind::Cross {
            around = share(&x);
        } else {
            terms[row].iter_mut().zip(&x).for_each(|(term, x)| *term += x);
        }
        let mut row: Vec<f64> = terms.iter().map(|term| share(term)).collect();
        let total = row.iter().sum::<f64>() + around;
        if total > 0.0 {
            for share in &mut row {
                *share /= total;
            }
            around /= total;
        }
        shares.push(row);
        arounds.push(around);
    }
    Ok((shares, arounds))
}

/// A normalisation after a block as a linear map of its terms: L(u) = (u − mean u) ∘ gain / deviation; nothing where the model
/// normalises before.
struct Linear {
    gain: Option<Vec<f64>>,
    centred: bool,
    epsilon: f64,
}

impl Linear {
    fn new(subject: &Subject, config: &TransformerConfig, kind: SiteKind, layer: usize) -> Result<Self> {
        let centred = config.norm == Norm::Layer;
        let epsilon = config.epsilon();
        if config.norm_position != NormPosition::Post {
            return Ok(Self { gain: None, centred, epsilon });
        }
        let part = match kind {
            SiteKind::EncoderSelf => format!("encoder.{layer}.self_attention"),
            SiteKind::DecoderSelf => format!("decoder.{layer}.self_attention"),
            SiteKind::Cross => format!("decoder.{layer}.cross_attention"),
        };
        let gain = subject.model.parameters().get(&format!("{part}.norm.gain")).ok_or(LookError::Hidden)?;
        let gain = gain.values().iter().map(|&value| f64::from(value)).collect();
        Ok(Self { gain: Some(gain), centred, epsilon })
    }

    fn mean(&self, x: &[f64]) -> f64 {
        if self.centred { x.iter().sum::<f64>() / x.len() as f64 } else { 0.0 }
    }

    /// One over the deviation of what is normalised.
    fn scale(&self, x: &[f64]) -> f64 {
        let mean = self.mean(x);
        let variance = x.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / x.len() as f64;
        1.0 / (variance + self.epsilon).sqrt()
    }

    fn apply(&self, term: &[f64], scale: f64) -> Vec<f64> {
        let Some(gain) = &self.gain else { return term.to_vec() };
        let mean = self.mean(term);
        term.iter().zip(gain).map(|(value, gain)| (value - mean) * gain * scale).collect()
    }
}

/// What goes around a word's own block is the word itself.
fn joined((mut shares, around): (Rows, Vec<f64>)) -> Rows {
    for (row, around) in around.iter().enumerate() {
        shares[row][row] += around;
    }
    shares
}

/// The layers of the decoder one after the other: `R_l = A_l R_{l−1}`.
fn through(subject: &Subject, encoder: &Rows, layers: &[Layer]) -> (Rows, Rows) {
    let words = subject.target.len();
    let mut shares = Shares { source: vec![vec![0.0; subject.source.len()]; words], target: identity(words) };
    for layer in layers {
        let mut own = layer.back.clone();
        for (row, around) in own.iter_mut().zip(&layer.around) {
            for share in row.iter_mut() {
                *share *= around;
            }
        }
        let mut source = product(&own, &shares.source);
        let read = product(&layer.across, encoder);
        for (row, read) in source.iter_mut().zip(&read) {
            row.iter_mut().zip(read).for_each(|(share, read)| *share += read);
        }
        shares = Shares { source, target: product(&own, &shares.target) };
        normalise(&mut shares);
    }
    (shares.source, shares.target)
}

fn normalise(shares: &mut Shares) {
    for (source, target) in shares.source.iter_mut().zip(&mut shares.target) {
        let sum = source.iter().chain(target.iter()).sum::<f64>();
        if sum > 0.0 {
            source.iter_mut().chain(target.iter_mut()).for_each(|share| *share /= sum);
        }
    }
}

fn identity(size: usize) -> Rows {
    (0..size).map(|row| (0..size).map(|column| f64::from(u8::from(row == column))).collect()).collect()
}

/// `[rows, inner] · [inner, columns]`.
fn product(a: &Rows, b: &Rows) -> Rows {
    let columns = b.first().map_or(0, Vec::len);
    let row = |a: &Vec<f64>| {
        let mut row = vec![0.0; columns];
        for (a, b) in a.iter().zip(b) {
            row.iter_mut().zip(b).for_each(|(sum, b)| *sum += a * b);
        }
        row
    };
    a.iter().map(row).collect()
}
