//! Models of a few hundred weights, and their files with one of them exchanged.

use std::fs;
use std::path::Path;

use regard_model::checkpoint::{self, ModelInfo};
use regard_model::{Preset, Seq2Seq};
use regard_tensor::optim::Optimizer;
use regard_text::{Normalizer, Pair, Pipeline, Tokenizer};
use regard_train::{Ema, Identity, OptimizerConfig, Progress, Recipe, TrainingState};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const RECIPE: &str = "[data]\npairs = \"x\"\n[training]\nupdates = 1\nema = 0.9\nbatch_sentences = 2";

/// What the two small models are: one of each family.
pub fn info(preset: Preset) -> ModelInfo {
    let side = |lines: [&str; 2]| Pipeline::build(Normalizer::None, Tokenizer::Word, lines, None, 1);
    let changes = match preset {
        Preset::TransformerTiny => json!({"d_model": 4, "d_ff": 3, "encoder": {"layers": 1, "heads": 2},
            "decoder": {"layers": 1, "heads": 1}}),
        _ => json!({"embedding": 5, "encoder": {"hidden": 3}, "decoder": {"hidden": 3, "readout_width": 4},
            "attention": {"width": 2}}),
    };
    ModelInfo {
        config: preset.config().with_changes(&changes).expect("the configuration is possible"),
        source_language: "en".to_owned(),
        target_language: "fr".to_owned(),
        source: side(["the black cat", "the dog"]),
        target: side(["le chat noir", "le chien"]),
    }
}

/// Its network.
pub fn network(preset: Preset) -> Box<dyn Seq2Seq> {
    info(preset).build(1).expect("the configuration is possible")
}

/// Writes model and training state into a directory.
pub fn save(dir: &Path, preset: Preset) {
    fs::create_dir_all(dir).expect("the scratch directory is writable");
    let network = network(preset);
    checkpoint::save(dir, &info(preset), network.parameters()).expect("the directory is writable");
    let config = Recipe::parse(RECIPE, &[]).expect("the recipe is possible").training;
    let pairs = vec![Pair { source: vec![4, 5], target: vec![4] }];
    let state = TrainingState {
        identity: Identity::new(1, &config, &pairs).expect("the pairs are in memory"),
        progress: Progress { step: 3, tokens: 7, ..Progress::default() },
        optimizer: Optimizer::new(OptimizerConfig::rule(config.optimizer), network.parameters().values()),
        ema: Some(Ema::new(config.ema, network.parameters().values())),
    };
    state.save(dir, network.parameters().names()).expect("the directory is writable");
}

/// Replaces a file of the model and makes `config.json` say so: without it, a digest would stop every input.
pub fn exchange(dir: &Path, name: &str, bytes: &[u8]) {
    write(dir, name, bytes);
    let mut config: Value = serde_json::from_slice(&read(dir, "config.json")).expect("the model is whole");
    config["config_sha256"] = json!("");
    config["files"][name] = json!({"bytes": bytes.len(), "sha256": sha256(bytes)});
    let text = serde_json::to_string_pretty(&config).expect("a value has a text");
    exchange_config(dir, text.as_bytes());
}

/// Replaces `config.json`, with the digest of itself where it has an empty one.
pub fn exchange_config(dir: &Path, text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    let sealed = format!("\"config_sha256\": \"{}\"", sha256(text.as_bytes()));
    write(dir, "config.json", text.replacen("\"config_sha256\": \"\"", &sealed, 1).as_bytes());
}

/// Replaces the tensors of the training state, with their checksum in the other file.
pub fn exchange_tensors(dir: &Path, bytes: &[u8]) {
    write(dir, "training_state.safetensors", bytes);
    let mut state: Value =
        serde_json::from_slice(&read(dir, "training_state.json")).expect("the state is whole");
    state["tensors_crc32c"] = json!(crc32c::crc32c(bytes));
    write(dir, "training_state.json", state.to_string().as_bytes());
}

/// Replaces the training state, with the checksum of its content where it has one.
pub fn exchange_state(dir: &Path, text: &[u8]) {
    let mut state: Value = serde_json::from_slice(text).unwrap_or_default();
    let content = state.get("state").map(Value::to_string);
    match state.get_mut("state_crc32c").zip(content) {
        Some((crc, content)) => {
            *crc = json!(crc32c::crc32c(content.as_bytes()));
            write(dir, "training_state.json", state.to_string().as_bytes());
        }
        None => write(dir, "training_state.json", text),
    }
}

fn read(dir: &Path, name: &str) -> Vec<u8> {
    fs::read(dir.join(name)).expect("the file is there")
}

fn write(dir: &Path, name: &str, bytes: &[u8]) {
    fs::write(dir.join(name), bytes).expect("the scratch directory is writable");
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
