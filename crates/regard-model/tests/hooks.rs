//! Attention as an output and interventions as an input: every model and every step.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use regard_model::{AttentionHook, HookCall, ModelConfig, Preset, Row, Run, StepOutput};
use regard_model::{Result, Temperature};
use regard_tensor::{Tape, Tensor, Threads, Var};
use regard_text::Padded;

fn small(preset: Preset) -> ModelConfig {
    let layers = if preset == Preset::Gnmt { 3 } else { 1 };
    let changes = serde_json::json!({
        "embedding": 5, "encoder": {"hidden": 3, "layers": layers}, "decoder": {"hidden": 3, "layers": layers, "readout_width": 4},
        "attention": {"width": 7}
    });
    preset.config().with_changes(&changes).unwrap()
}

/// One step for two sentences of 4 and 2 positions.
fn step(config: &ModelConfig, hook: Option<&dyn AttentionHook>) -> StepOutput {
    let model = config.build(11, 13, 3).unwrap();
    let tape = Tape::inference(&Threads::single());
    let run = Run { tape: &tape, hook, attention: true };
    let source = Padded::from_rows(&[vec![5, 6, 7, 3], vec![8, 3]]);
    let memory = model.encode(&run, &source).unwrap();
    let state = model.start(&run, &memory, &[0, 1]).unwrap();
    let rows = [0, 1].map(|sentence| Row { sentence, hypothesis: 0, parent: 0, position: 0 });
    model.step(&run, &memory, &state, &[2, 2], &rows).unwrap()
}

fn softmax(scores: &[f32], temperature: f32) -> Vec<f32> {
    let exp: Vec<f32> = scores.iter().map(|score| (score / temperature).exp()).collect();
    exp.iter().map(|value| value / exp.iter().sum::<f32>()).collect()
}

#[test]
fn weights_are_the_softmax_of_the_scores() {
    for preset in [Preset::Bahdanau, Preset::Luong, Preset::Gnmt] {
        let output = step(&small(preset), None);
        let seen = output.attention.first().unwrap();
        for (row, length) in [(0, 4), (1, 2)] {
            let expected = softmax(&seen.scores.row(row)[..length], 1.0);
            for (weight, expected) in seen.weights.row(row).iter().zip(&expected) {
                assert!((weight - expected).abs() < 1e-6, "{preset:?}");
            }
            assert!(seen.weights.row(row)[length..].iter().all(|&weight| weight == 0.0));
        }
    }
}

#[test]
fn temperature_divides_the_scores() {
    let config = small(Preset::Bahdanau);
    let plain = step(&config, None);
    for temperature in [0.2, 4.0] {
        let hook = Temperature::new(temperature).unwrap();
        let hot = step(&config, Some(&hook));
        let expected = softmax(&plain.attention[0].scores.row(0)[..4], temperature);
        for (weight, expected) in hot.attention[0].weights.row(0).iter().zip(&expected) {
            assert!((weight - expected).abs() < 1e-6);
        }
    }
    assert!(Temperature::new(0.0).is_none() && Temperature::new(f32::NAN).is_none());
}

/// Looks at the first position only.
struct First;

impl AttentionHook for First {
    fn weights(&self, call: &HookCall, weights: Var) -> Result<Var> {
        assert_eq!((call.rows.len(), call.lengths), (2, &[4, 2][..]));
        let mut forced = Tensor::zeros(weights.shape());
        let width = weights.shape().last();
        for row in forced.values_mut().chunks_exact_mut(width) {
            row[0] = 1.0;
        }
        Ok(Var::constant(forced))
    }
}

#[test]
fn a_hook_replaces_weights_and_the_prediction_follows() {
    let config = small(Preset::Bahdanau);
    let (plain, forced) = (step(&config, None), step(&config, Some(&First)));
    assert_eq!(forced.attention[0].weights.row(0), [1.0, 0.0, 0.0, 0.0]);
    assert_ne!(plain.log_probs.to_tensor().values(), forced.log_probs.to_tensor().values());
}

#[test]
fn a_fixed_vector_has_nothing_to_look_at() {
    for preset in [Preset::Cho, Preset::Sutskever] {
        let output = step(&small(preset), Some(&First));
        assert!(output.attention.is_empty());
    }
}
