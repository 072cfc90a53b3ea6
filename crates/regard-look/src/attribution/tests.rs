//! Attributions against finite differences, other ways of computing them, and cases whose answer is known.
#![allow(clippy::needless_range_loop, reason = "formulas are written with their indices")]

use std::sync::Mutex;

use regard_model::{
    AttentionHook, AttentionSite, HookCall, ModelConfig, ModelError, Place, Preset, Row, Seq2Seq, SiteKind,
    ValueCall,
};
use regard_tensor::{Tensor, Threads, Var};
use regard_text::special_tokens::{EOS, UNK};

use super::internals::{Internals, attention};
use super::norms::attention_terms;
use super::*;

#[path = "../../tests/common/models.rs"]
mod models;

const SOURCE: [u32; 5] = [5, 9, 6, 7, EOS];
const TARGET: [u32; 4] = [8, 5, 10, EOS];

struct Model {
    network: Box<dyn Seq2Seq>,
    config: ModelConfig,
}

impl Model {
    fn new(preset: Preset, seed: u64) -> Self {
        Self { network: models::network(preset, seed), config: models::small(preset) }
    }

    fn subject<'a>(&'a self, threads: &'a Threads) -> Subject<'a> {
        Subject {
            model: self.network.as_ref(),
            config: &self.config,
            threads,
            source: &SOURCE,
            target: &TARGET,
            layer: None,
            stop: None,
        }
    }
}

/// Multiplies the vector of one word.
struct Scale {
    place: Place,
    position: usize,
    factor: f32,
}

impl AttentionHook for Scale {
    fn wants(&self, _: AttentionSite) -> bool {
        false
    }

    fn wants_value(&self, place: Place) -> bool {
        place == self.place
    }

    fn value(&self, call: &ValueCall, value: Var) -> std::result::Result<Var, ModelError> {
        let mut values = value.value().deep_copy();
        let width = values.shape().last();
        for (row, values) in call.rows.iter().zip(values.values_mut().chunks_exact_mut(width)) {
            if row.position == self.position {
                for value in values.iter_mut() {
                    *value *= self.factor;
                }
            }
        }
        Ok(Var::constant(values))
    }
}

/// d f(e · (1 + ε)) / dε at ε = 0 is Σ g ∘ e.
#[test]
fn gradients_are_the_slopes_of_log_p() {
    let threads = Threads::single();
    for preset in models::LOOKING {
        let model = Model::new(preset, 5);
        let subject = model.subject(&threads);
        let found = attribute(&subject, Method::GradientInput).unwrap();
        for (place, table) in [(Place::SourceWords, &found.source), (Place::TargetWords, &found.target)] {
            for position in 0..table[0].len() {
                let at = |factor: f32| {
                    let scale = Scale { place, position, factor };
                    subject.log_probs(&subject.pair(), Some(&scale)).unwrap().remove(0)
                };
                // So short that hardly a rectifier turns in between.
                let step: f32 = 0.0005;
                let (above, below) = (at(1.0 + step), at(1.0 - step));
                for token in 0..TARGET.len() {
                    let slope = (above[token] - below[token]) / f64::from(2.0 * step);
                    let difference = (table[token][position] - slope.abs()).abs();
                    assert!(difference < 3e-3, "{preset:?} {place:?} {token} {position}: {difference}");
                }
            }
        }
    }
}

#[test]
fn what_comes_later_has_no_part() {
    let threads = Threads::single();
    let model = Model::new(Preset::TransformerTiny, 5);
    for method in Method::ALL {
        let found = attribute(&model.subject(&threads), method).unwrap();
        for (token, row) in found.target.iter().enumerate() {
            assert!(row[token + 1..].iter().all(|&value| value.abs() < 1e-6), "{method:?} {token} {row:?}");
            // Some methods leave the start symbol as it is.
            let has_part = row[..=token].iter().any(|&value| value.abs() > 0.0);
            assert!(token == 0 || has_part, "{method:?} {token} {row:?}");
        }
    }
}

#[test]
fn integrated_gradients_are_complete() {
    let threads = Threads::single();
    for preset in models::LOOKING.into_iter().chain([Preset::Sutskever]) {
        let model = Model::new(preset, 5);
        let subject = model.subject(&threads);
        let found = integrated_gradients(&subject, IntegratedOptions::default()).unwrap();
        assert!(found.completeness.largest <= 0.01, "{preset:?} {:?}", found.completeness);
        // The differences, from the ids alone.
        let source = [UNK, UNK, UNK, UNK, EOS];
        let blank = Subject { source: &source, ..subject };
        let end = subject.log_probs(&subject.pair(), None).unwrap().remove(0);
        let start = blank.log_probs(&blank.pair(), None).unwrap().remove(0);
        // The first token has no words before it, so that only the source moves.
        let sum: f64 = found.source[0].iter().chain(&found.target[0]).sum();
        assert!((sum - (end[0] - start[0])).abs() <= 0.01 * (end[0] - start[0]).abs().max(0.1), "{preset:?}");
        // What stays has no part: the end symbol of the source, the start symbol of the target.
        assert!(found.source.iter().all(|row| row[4].abs() < 1e-9));
        assert!(found.target.iter().all(|row| row[0].abs() < 1e-9));
    }
}

#[test]
fn occlusion_is_scoring_with_unknown_words() {
    let threads = Threads::single();
    for preset in models::LOOKING {
        let model = Model::new(preset, 5);
        let subject = model.subject(&threads);
        let found = attribute(&subject, Method::Occlusion).unwrap();
        let all = subject.log_probs(&subject.pair(), None).unwrap().remove(0);
        for position in 0..4 {
            let mut source = SOURCE;
            source[position] = UNK;
            let lacking = Subject { source: &source, ..subject };
            let lacking = lacking.log_probs(&lacking.pair(), None).unwrap().remove(0);
            for token in 0..TARGET.len() {
                let expected = all[token] - lacking[token];
                assert!((found.source[token][position] - expected).abs() < 1e-6);
            }
        }
        assert!(found.source.iter().all(|row| row[4].abs() < 1e-9));
    }
}

/// The terms and the bias are the branch of the block.
#[test]
fn terms_add_up_to_what_a_block_adds() {
    let threads = Threads::single();
    let model = Model::new(Preset::TransformerTiny, 5);
    let subject = model.subject(&threads);
    let ModelConfig::Transformer(config) = &model.config else { panic!() };
    let inside = Internals::of(&subject, |_| true).unwrap();
    for (kind, name) in [
        (SiteKind::EncoderSelf, "encoder.1.self_attention"),
        (SiteKind::DecoderSelf, "decoder.1.self_attention"),
        (SiteKind::Cross, "decoder.1.cross_attention"),
    ] {
        let terms = attention_terms(&subject, config, &inside, kind, 1).unwrap();
        let bias = model.network.parameters().get(&format!("{name}.output.bias")).unwrap();
        let branch = inside.value(Place::Branch(attention(kind, 1))).unwrap();
        for (row, terms) in terms.iter().enumerate() {
            for at in 0..config.d_model {
                let sum = terms.iter().map(|term| term[at]).sum::<f64>() + f64::from(bias.values()[at]);
                let expected = f64::from(branch.row(row)[at]);
                assert!(
                    (sum - expected).abs() <= 1e-5 * expected.abs().max(0.1),
                    "{kind:?} {sum} {expected}"
                );
            }
        }
    }
}

/// Without a map of the output, an attention adds nothing, and only what goes around it is left.
#[test]
fn alti_follows_what_is_there() {
    let threads = Threads::single();
    let silence = |model: &mut Model, parts: &[&str]| {
        for part in parts {
            for layer in 0..2 {
                let name = format!("decoder.{layer}.{part}.output.weight");
                let shape = model.network.parameters().get(&name).unwrap().shape();
                model.network.parameters_mut().set(&name, Tensor::zeros(shape)).unwrap();
            }
        }
    };
    let mut model = Model::new(Preset::TransformerTiny, 5);
    let found = attribute(&model.subject(&threads), Method::Alti).unwrap();
    for (source, target) in found.source.iter().zip(&found.target) {
        assert!((source.iter().chain(target).sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(source.iter().chain(target).all(|&share| share >= 0.0));
        assert!(source.iter().sum::<f64>() > 0.01);
    }
    silence(&mut model, &["cross_attention"]);
    let blind = attribute(&model.subject(&threads), Method::Alti).unwrap();
    assert!(blind.source.iter().flatten().all(|&share| share.abs() < 1e-9));
    silence(&mut model, &["self_attention"]);
    let alone = attribute(&model.subject(&threads), Method::Alti).unwrap();
    for (token, row) in alone.target.iter().enumerate() {
        for (place, &share) in row.iter().enumerate() {
            assert!((share - f64::from(u8::from(place == token))).abs() < 1e-9);
        }
    }
}

/// ALTI+ of one post-norm layer each, written out with plain loops from what the model itself computes.
#[test]
fn alti_of_one_layer_is_the_formula() {
    let threads = Threads::single();
    let changes = serde_json::json!({"encoder": {"layers": 1}, "decoder": {"layers": 1}});
    let config = models::small(Preset::TransformerTiny).with_changes(&changes).unwrap();
    let (source, target) = models::pipelines();
    let network = config.build(source.vocabulary.len(), target.vocabulary.len(), 5).unwrap();
    let model = Model { network, config };
    let subject = model.subject(&threads);
    let ModelConfig::Transformer(config) = &model.config else { panic!() };
    let inside = Internals::of(&subject, |_| true).unwrap();
    // Shares of each word in the block's output; the last column is what goes around it.
    let block = |kind: SiteKind, name: &str| -> Vec<Vec<f64>> {
        let terms = attention_terms(&subject, config, &inside, kind, 0).unwrap();
        let gain = model.network.parameters().get(&format!("{name}.norm.gain")).unwrap();
        let place = attention(kind, 0);
        let value = |place: Place, row: usize| -> Vec<f64> {
            inside.value(place).unwrap().row(row).iter().map(|&value| f64::from(value)).collect()
        };
        let mut rows = Vec::new();
        for (row, terms) in terms.iter().enumerate() {
            let (x, y) = (value(Place::Around(place), row), value(Place::Output(place), row));
            let before: Vec<f64> =
                x.iter().zip(value(Place::Branch(place), row)).map(|(x, branch)| x + branch).collect();
            let mean = before.iter().sum::<f64>() / 12.0;
            let deviation = (before.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 12.0 + 1e-5).sqrt();
            let mut shares = Vec::new();
            let mut terms = terms.clone();
            if kind == SiteKind::Cross {
                terms.push(x.clone());
            } else {
                terms[row].iter_mut().zip(&x).for_each(|(term, x)| *term += x);
            }
            for term in &terms {
                let mean = term.iter().sum::<f64>() / 12.0;
                let (mut whole, mut rest) = (0.0, 0.0);
                for at in 0..12 {
                    let part = (term[at] - mean) / deviation * f64::from(gain.values()[at]);
                    whole += y[at].abs();
                    rest += (y[at] - part).abs();
                }
                shares.push(f64::max(0.0, whole - rest));
            }
            let sum: f64 = shares.iter().sum();
            rows.push(shares.iter().map(|share| share / sum).collect());
        }
        rows
    };
    let encoder = block(SiteKind::EncoderSelf, "encoder.0.self_attention");
    let back = block(SiteKind::DecoderSelf, "decoder.0.self_attention");
    let across = block(SiteKind::Cross, "decoder.0.cross_attention");
    let found = attribute(&subject, Method::Alti).unwrap();
    for token in 0..TARGET.len() {
        for position in 0..SOURCE.len() {
            let expected: f64 = (0..SOURCE.len()).map(|j| across[token][j] * encoder[j][position]).sum();
            assert!((found.source[token][position] - expected).abs() < 1e-9);
        }
        for word in 0..TARGET.len() {
            let expected = across[token][SOURCE.len()] * back[token][word];
            assert!((found.target[token][word] - expected).abs() < 1e-9);
        }
    }
}

/// Rollout of two layers, from the weights of every attention.
#[test]
fn rollout_is_the_product_of_layers() {
    let threads = Threads::single();
    let model = Model::new(Preset::TransformerTiny, 5);
    let subject = model.subject(&threads);
    let inside = Internals::of(&subject, |_| false).unwrap();
    let mean = |kind, layer| inside.mean_weights(kind, layer, 2).unwrap();
    let half = |a: &[Vec<f64>]| -> Vec<Vec<f64>> {
        let row = |(row, a): (usize, &Vec<f64>)| {
            (0..a.len()).map(|at| 0.5 * a[at] + 0.5 * f64::from(u8::from(row == at))).collect()
        };
        a.iter().enumerate().map(row).collect()
    };
    let times = |a: &[Vec<f64>], b: &[Vec<f64>]| -> Vec<Vec<f64>> {
        let cell = |row: &[f64], at: usize| (0..b.len()).map(|inner| row[inner] * b[inner][at]).sum();
        a.iter().map(|row| (0..b[0].len()).map(|at| cell(row, at)).collect()).collect()
    };
    let encoder = times(&half(&mean(SiteKind::EncoderSelf, 1)), &half(&mean(SiteKind::EncoderSelf, 0)));
    let first = times(&mean(SiteKind::Cross, 0), &encoder);
    let second = times(&mean(SiteKind::Cross, 1), &encoder);
    let back = half(&mean(SiteKind::DecoderSelf, 1));
    let carried = times(&back, &first);
    let found = attribute(&subject, Method::Rollout).unwrap();
    for token in 0..TARGET.len() {
        for position in 0..SOURCE.len() {
            let expected = 0.5 * (0.5 * carried[token][position]) + 0.5 * second[token][position];
            assert!((found.source[token][position] - expected).abs() < 1e-6);
        }
        let sum: f64 = found.source[token].iter().chain(&found.target[token]).sum();
        assert!((sum - 1.0).abs() < 1e-6);
    }
}

/// Takes a position's weight away in the last look, and keeps what the block leaves, step by step.
struct Without {
    position: usize,
    rows: Mutex<Vec<Vec<f32>>>,
}

impl AttentionHook for Without {
    fn wants(&self, site: AttentionSite) -> bool {
        site.kind == SiteKind::Cross && site.layer == 1
    }

    fn weights(&self, _: &HookCall, weights: Var) -> std::result::Result<Var, ModelError> {
        let mut values = weights.value().deep_copy();
        let width = values.shape().last();
        values.values_mut().chunks_exact_mut(width).for_each(|row| {
            if let Some(weight) = row.get_mut(self.position) {
                *weight = 0.0;
            }
        });
        Ok(Var::constant(values))
    }

    fn wants_value(&self, place: Place) -> bool {
        place == Place::Output(attention(SiteKind::Cross, 1))
    }

    fn value(&self, call: &ValueCall, value: Var) -> std::result::Result<Var, ModelError> {
        let mut rows = self.rows.lock().unwrap();
        rows.extend(
            call.rows.iter().enumerate().map(|(at, _): (usize, &Row)| value.value().row(at).to_vec()),
        );
        Ok(value)
    }
}

#[test]
fn value_zeroing_is_the_turn_of_the_output() {
    let threads = Threads::single();
    let model = Model::new(Preset::TransformerTiny, 5);
    let subject = model.subject(&threads);
    let run = |position: usize| {
        let hook = Without { position, rows: Mutex::default() };
        subject.log_probs(&subject.pair(), Some(&hook)).unwrap();
        hook.rows.into_inner().unwrap()
    };
    let all = run(99);
    let found = attribute(&subject, Method::ValueZeroing).unwrap();
    for position in 0..SOURCE.len() {
        for (token, (a, b)) in all.iter().zip(run(position)).enumerate() {
            let dot = |a: &[f32], b: &[f32]| -> f64 {
                a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
            };
            let expected = 1.0 - dot(a, &b) / (dot(a, a) * dot(&b, &b)).sqrt();
            assert!((found.source[token][position] - expected).abs() < 1e-6, "{token} {position}");
        }
    }
}

/// With one look and no other way, the gradient at the states is that of the context, weighted.
#[test]
fn states_that_get_no_weight_have_no_gradient() {
    let threads = Threads::single();
    for preset in [Preset::Bahdanau, Preset::TransformerTiny] {
        let model = Model::new(preset, 5);
        let table = state_gradient(&model.subject(&threads)).unwrap();
        assert_eq!((table.len(), table[0].len()), (TARGET.len(), SOURCE.len()));
        assert!(table.iter().flatten().all(|&value| value.is_finite() && value > 0.0), "{preset:?}");
    }
}

/// Attributions are about the weights: other weights, other attributions.
#[test]
fn randomised_weights_change_attributions() {
    let threads = Threads::single();
    for preset in models::LOOKING {
        let (one, other) = (Model::new(preset, 5), Model::new(preset, 6));
        for method in Method::ALL {
            let is_transformer = matches!(one.config, ModelConfig::Transformer(_));
            if !is_transformer && matches!(method, Method::Alti | Method::Rollout) {
                let refused = attribute(&one.subject(&threads), method).unwrap_err().to_string();
                assert!(refused.contains("made for Transformers"), "{refused}");
                continue;
            }
            let found = attribute(&one.subject(&threads), method).unwrap();
            let again = attribute(&other.subject(&threads), method).unwrap();
            let total: f64 = found.source.iter().flatten().map(|value| value.abs()).sum();
            let distance: f64 = found
                .source
                .iter()
                .flatten()
                .zip(again.source.iter().flatten())
                .map(|(a, b)| (a - b).abs())
                .sum();
            assert!(total > 0.0 && distance > 0.05 * total, "{preset:?} {method:?} {distance} of {total}");
        }
    }
}

#[test]
fn a_model_without_attention_has_no_norms() {
    let threads = Threads::single();
    let model = Model::new(Preset::Sutskever, 5);
    for method in [Method::Norm, Method::ValueZeroing] {
        let refused = attribute(&model.subject(&threads), method).unwrap_err().to_string();
        assert!(refused.contains("nothing to look at"), "{refused}");
    }
    assert!(attribute(&model.subject(&threads), Method::GradientInput).is_ok());
}

#[test]
fn a_method_is_called_what_json_calls_it() {
    for method in Method::ALL {
        assert_eq!(serde_json::to_value(method).unwrap(), method.name());
        assert_eq!(Method::named(method.name()), Some(method));
    }
}
