//! Models whose attention is frozen uniform: the baseline of Wiegreffe & Pinter (2019).
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use regard_model::{CrossAttention, ModelConfig, Preset, Row, Run, SiteKind, StepOutput, checkpoint};
use regard_model::{ModelInfo, Temperature};
use regard_tensor::{Tape, Threads};
use regard_text::{Normalizer, Padded, Pipeline, Tokenizer};
use serde_json::json;

fn config(preset: Preset) -> ModelConfig {
    let changes = match preset.config() {
        ModelConfig::Recurrent(_) => json!({
            "embedding": 5, "encoder": {"hidden": 3, "layers": 1}, "decoder": {"hidden": 3, "layers": 1, "readout_width": 4},
            "attention": {"width": 7}
        }),
        ModelConfig::Transformer(_) => json!({
            "d_model": 6, "d_ff": 7, "encoder": {"layers": 1, "heads": 3}, "decoder": {"layers": 2, "heads": 3}
        }),
    };
    let changed = preset.config().with_changes(&changes).unwrap();
    changed.with_changes(&json!({"cross_attention": "uniform"})).unwrap()
}

/// Two steps for two sentences of 5 and 2 positions.
fn steps(config: &ModelConfig, run: &Run) -> Vec<StepOutput> {
    let model = config.build(11, 13, 3).unwrap();
    let source = Padded::from_rows(&[vec![5, 6, 7, 4, 3], vec![8, 3]]);
    let memory = model.encode(run, &source).unwrap();
    let mut state = model.start(run, &memory, &[0, 1]).unwrap();
    let step = |position| {
        let rows = [0, 1].map(|sentence| Row { sentence, hypothesis: 0, parent: 0, position });
        let output = model.step(run, &memory, &state, &[2, 6], &rows).unwrap();
        state = output.state.clone();
        output
    };
    (0..2).map(step).collect()
}

#[test]
fn all_positions_of_a_sentence_weigh_the_same() {
    for preset in [Preset::Bahdanau, Preset::Luong, Preset::TransformerTiny] {
        let config = config(preset);
        assert_eq!(config.cross_attention(), CrossAttention::Uniform);
        let tape = Tape::inference(&Threads::single());
        let (plain, hot) = (Run::new(&tape), Temperature::new(0.1).unwrap());
        let seen = steps(&config, &Run { attention: true, ..plain });
        // No temperature changes scores of zero, and no path of the computation the probabilities.
        let hot = steps(&config, &Run { hook: Some(&hot), ..plain });
        let unseen = steps(&config, &plain);
        for ((seen, hot), unseen) in seen.iter().zip(&hot).zip(&unseen) {
            let cross = seen.attention.iter().filter(|seen| seen.site.kind == SiteKind::Cross);
            let cross: Vec<_> = cross.collect();
            assert_eq!(cross.len(), if preset == Preset::TransformerTiny { 6 } else { 1 });
            for site in cross {
                assert_eq!(site.weights.row(0), [0.2; 5], "{preset:?}");
                assert_eq!(site.weights.row(1), [0.5, 0.5, 0.0, 0.0, 0.0], "{preset:?}");
            }
            for id in 0..13 {
                let log_probs = [seen, hot, unseen].map(|output| output.log_probs.row(0).get(id).to_bits());
                assert!(log_probs.windows(2).all(|pair| pair[0] == pair[1]), "{preset:?}");
            }
        }
    }
}

#[test]
fn it_is_a_property_of_the_model() {
    let pipeline = |words: &str| Pipeline::build(Normalizer::None, Tokenizer::Word, [words], None, 1);
    for (preset, uniform) in
        [(Preset::Bahdanau, true), (Preset::TransformerTiny, true), (Preset::Luong, false)]
    {
        let info = ModelInfo {
            config: if uniform { config(preset) } else { preset.config() },
            source_language: String::new(),
            target_language: String::new(),
            source: pipeline("a b c d e f g"),
            target: pipeline("A B C"),
        };
        let directory = tempfile::tempdir().unwrap();
        checkpoint::save(directory.path(), &info, info.build(1).unwrap().parameters()).unwrap();
        let (loaded, _) = checkpoint::load(directory.path()).unwrap();
        assert_eq!(loaded.config, info.config);
        let text = std::fs::read_to_string(directory.path().join("config.json")).unwrap();
        assert_eq!(text.contains("\"cross_attention\": \"uniform\""), uniform);
        assert_eq!(text.contains("cross_attention"), uniform, "older programs read what is not new");
    }
}

#[test]
fn what_cannot_be_uniform_is_refused() {
    let message = |preset: Preset, changes| preset.config().with_changes(&changes).unwrap_err().to_string();
    let fixed = message(Preset::Cho, json!({"cross_attention": "uniform"}));
    assert!(fixed.contains("cross_attention = \"uniform\" needs context = \"attention\""), "{fixed}");
    let local = json!({"cross_attention": "uniform", "attention": {"window": "local_p"}});
    let local = message(Preset::Luong, local);
    assert!(local.contains("needs attention.window = \"global\""), "{local}");
    assert!(message(Preset::Luong, json!({"cross_attention": "flat"})).contains("unknown variant `flat`"));
}
