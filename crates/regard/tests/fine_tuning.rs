//! `init_from`: a training that goes on from a model; `training.freeze`: weights that stay as they are.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::{Place, assert_same_run, attention_model, json_lines, numbers, program, regard, train};
use regard::model::checkpoint::read_tensors;
use serde_json::Value;

const THEIRS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/hf_marian");
const PAIRS: &str = "the dog sleeps\tle chien dort\na cat sees the bird\tun chat voit l'oiseau\n\
                     the old house\tla vieille maison\nthe small dog hears a cat\tle petit chien entend un chat\n";
const RECIPE: &str = r#"
init_from = "first"
[data]
pairs = "pairs.tsv"
valid_pairs = "pairs.tsv"
[training]
updates = 12
batch_sentences = 2
label_smoothing = 0.0
report_every = 4
validate_every = 4
checkpoint_every = 4
keep_checkpoints = 9
[training.schedule]
kind = "constant"
learning_rate = 0.002
"#;

/// A recipe that goes on from a copy of a model.
fn recipe(place: &Place, model: &str) -> String {
    place.copy_of(model, "first");
    place.write("pairs.tsv", PAIRS);
    place.write("recipe.toml", RECIPE)
}

fn weights(directory: impl AsRef<Path>) -> BTreeMap<String, Vec<u32>> {
    let file = directory.as_ref().join("model.safetensors");
    let tensors = read_tensors(&file, &fs::read(&file).unwrap()).unwrap();
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect();
    tensors.into_iter().map(|(name, tensor)| (name, bits(tensor.values()))).collect()
}

fn validation_losses(run: &str) -> Vec<f64> {
    let log = fs::read_to_string(Path::new(run).join("training_log.jsonl")).unwrap();
    let records = json_lines(&log);
    let losses =
        records.iter().filter(|record| !record["valid"].is_null()).map(|record| &record["valid"]["loss"]);
    numbers(&Value::Array(losses.cloned().collect()))
}

#[test]
fn a_model_of_hugging_face_goes_on_with_its_tokenizer_and_network() {
    let place = Place::new();
    let (recipe, run, imported) = (recipe(&place, THEIRS), place.at("run"), place.at("imported"));
    regard(&["import", "hf-marian", THEIRS, "--out", &imported]).ok();
    train(&recipe, &run, &[]);
    for name in ["source.spm", "target.spm", "source.vocab.txt", "target.vocab.txt", "source.tokenizer.json"]
    {
        assert!(
            fs::read(Path::new(&run).join(name)).unwrap()
                == fs::read(Path::new(&imported).join(name)).unwrap()
        );
    }
    let losses = validation_losses(&run);
    assert!(losses.len() == 3 && losses[2] < losses[0], "{losses:?}");

    // The same from the model that was imported first, on two threads, and with a pause.
    let (from_import, resumed) = (place.at("from_import"), place.at("resumed"));
    train(&recipe, &from_import, &[&format!("init_from={imported}")]);
    assert_same_run(&run, &from_import);
    train(&recipe, &resumed, &["training.updates=5"]);
    fs::remove_dir_all(place.at("first")).unwrap();
    common::finish(program(&["train", &recipe, "--out", &resumed, "--resume", "--threads", "2"]), b"");
    assert!(weights(&run) == weights(&resumed));
}

#[test]
fn frozen_weights_keep_their_bits() {
    let place = Place::new();
    let (recipe, run, imported) = (recipe(&place, THEIRS), place.at("run"), place.at("imported"));
    regard(&["import", "hf-marian", THEIRS, "--out", &imported]).ok();
    let freeze = r#"training.freeze=["encoder", "decoder.0", "embedding"]"#;
    let changes = ["training.ema=0.9", "training.optimizer={kind = \"adamw\"}"];
    train(&recipe, &run, &[&[freeze], &changes[..]].concat());
    let before = weights(&imported);
    let frozen =
        |name: &str| ["encoder.", "decoder.0.", "embedding."].iter().any(|part| name.starts_with(part));
    for directory in [run.clone(), format!("{run}/checkpoints/step-12")] {
        for (name, bits) in weights(&directory) {
            assert_eq!(bits == before[&name], frozen(&name), "{name} of {directory}");
        }
    }
    let mut args = vec!["train", &recipe, "--out", &run, "--quiet", "--resume"];
    let other = ["training.updates=14", "training.freeze=[\"encoder\"]"];
    args.extend(changes.iter().chain(&other).flat_map(|change| ["--set", change]));
    regard(&args).fails_with(1, &["freeze = [\"encoder\", \"decoder.0\", \"embedding\"]", "[\"encoder\"]"]);
    let unknown = [
        "train",
        &recipe,
        "--quiet",
        "--out",
        &place.at("x"),
        "--set",
        "training.freeze=[\"decoder.layers.0\"]",
    ];
    regard(&unknown)
        .fails_with(1, &["\"decoder.layers.0\" is no part", "embedding, encoder.0, encoder.1, decoder.0"]);
}

#[test]
fn dropout_may_be_changed_and_nothing_else() {
    let place = Place::new();
    let (recipe, run) = (recipe(&place, attention_model()), place.at("run"));
    train(&recipe, &run, &["model.dropout=0.25", "model.word_dropout=0.1", "training.updates=2"]);
    let info = common::json(&regard(&["info", &run, "--json"]).ok());
    assert_eq!((&info["config"]["dropout"], &info["config"]["embedding"]), (&0.25.into(), &16.into()));
    assert_eq!((&info["source_language"], &info["target_language"]), (&"en".into(), &"fr".into()));
    for (change, status, message) in [
        ("model.embedding=5", 1, "model.embedding: init_from names a model, which has its own network"),
        ("model.preset=luong", 1, "model.preset: init_from names a model"),
        ("tokenizer.merges=10", 1, "tokenizer.merges: init_from names a model, which has its own tokenizers"),
        ("model.attention_dropout=0.1", 1, "attention_dropout"),
        ("data.valid_tags=[\"<fra>\"]", 1, "tag `<fra>` is not one of the model's"),
        ("init_from=nothing", 1, "init_from: the model"),
    ] {
        let out = place.at("refused");
        regard(&["train", &recipe, "--out", &out, "--quiet", "--set", change]).fails_with(status, &[message]);
    }
}
