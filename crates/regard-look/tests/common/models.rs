//! Small models that have not learned anything.

use regard_model::{ModelConfig, Preset, Seq2Seq};
use regard_text::{Normalizer, Pipeline, Tokenizer};

/// The presets that look at the source, small.
pub(crate) const LOOKING: [Preset; 4] =
    [Preset::Bahdanau, Preset::Luong, Preset::TransformerTiny, Preset::TransformerReader];

/// Pipelines of both sides: words.
pub(crate) fn pipelines() -> (Pipeline, Pipeline) {
    let words = |line: &str| Pipeline::build(Normalizer::None, Tokenizer::Word, [line], None, 1);
    (words("the black white cat dog sleeps red runs"), words("le chat noir dort blanc chien rouge court"))
}

/// A network of a preset for these pipelines.
pub(crate) fn network(preset: Preset, seed: u64) -> Box<dyn Seq2Seq> {
    let (source, target) = pipelines();
    small(preset).build(source.vocabulary.len(), target.vocabulary.len(), seed).unwrap()
}

pub(crate) fn small(preset: Preset) -> ModelConfig {
    let changes = match preset {
        Preset::TransformerTiny => serde_json::json!({
            "d_model": 12, "d_ff": 17, "encoder": {"layers": 2, "heads": 2}, "decoder": {"layers": 2, "heads": 2},
        }),
        Preset::TransformerReader => serde_json::json!({
            "embedding": 12, "decoder": {"hidden": 7},
        }),
        _ => serde_json::json!({
            "embedding": 5, "encoder": {"hidden": 7}, "decoder": {"hidden": 7, "readout_width": 6}, "attention": {"width": 11},
        }),
    };
    preset.config().with_changes(&changes).unwrap()
}
