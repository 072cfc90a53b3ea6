//! The distributions under teacher forcing are those that the loss is made of.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use regard_model::{ModelConfig, Noise, Preset, Scored, Training};
use regard_tensor::{Tape, Threads};
use regard_text::{Batch, Pair};
use serde_json::json;

fn config(preset: Preset) -> ModelConfig {
    let changes = match preset.config() {
        ModelConfig::Recurrent(_) => json!({
            "embedding": 5, "encoder": {"hidden": 3, "layers": 1}, "decoder": {"hidden": 3, "layers": 1, "readout_width": 4},
            "attention": {"width": 7}, "dropout": 0.3
        }),
        ModelConfig::Transformer(_) => json!({
            "d_model": 6, "d_ff": 7, "encoder": {"layers": 1, "heads": 3}, "decoder": {"layers": 2, "heads": 3}
        }),
    };
    preset.config().with_changes(&changes).unwrap()
}

#[test]
fn they_give_the_loss_of_the_right_words() {
    let pairs = [
        Pair { source: vec![5, 6, 7], target: vec![4, 9, 5, 4, 12] },
        Pair { source: vec![8], target: vec![] },
        Pair { source: vec![4, 4], target: vec![7, 6] },
    ];
    let batch = Batch::collate(&pairs, &[0, 1, 2]);
    for preset in [Preset::Bahdanau, Preset::Luong, Preset::Cho, Preset::TransformerTiny] {
        let model = config(preset).build(11, 13, 3).unwrap();
        for noise in [None, Some(Noise { key: 7, sampling: 0.0 })] {
            let tape = Tape::inference(&Threads::single());
            let weights = model.parameters().constants();
            let training = Training {
                tape: &tape,
                weights: &weights,
                noise,
                label_smoothing: 0.0,
                factor: 1.0,
                scored: Scored::All,
                hook: None,
            };
            let expected = model.loss(&training, &batch).unwrap();
            let found = model.distributions(&training, &batch).unwrap();
            assert_eq!(found.log_probs.shape().last(), 13);
            assert_eq!((found.rows.len(), found.log_probs.shape().rows()), (3 * 6, 3 * 6));
            let counts = found.counts(&batch.target);
            assert_eq!(counts.iter().filter(|&&counts| counts).count(), 6 + 1 + 3);
            let mut sum = 0.0;
            for (index, (row, counts)) in found.rows.iter().zip(counts).enumerate() {
                let row_of = found.log_probs.value().row(index);
                let total: f64 = row_of.iter().map(|&log_prob| f64::from(log_prob).exp()).sum();
                assert!((total - 1.0).abs() < 1e-5);
                if counts {
                    sum -= f64::from(row_of[batch.target.row(row.sentence)[row.position] as usize]);
                }
            }
            assert!((sum - expected.negative_log_likelihood).abs() < 1e-4, "{preset:?}: {sum}");
        }
    }
}
