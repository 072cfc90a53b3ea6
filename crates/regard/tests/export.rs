//! `regard export hf-marian`, and what was exported taken over again.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::path::Path;

use common::{Place, attention_model, corpus, json, json_lines, numbers, regard, strings, train, translate};

const THEIRS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/hf_marian");

/// A small Transformer on pieces of raw text, one table for both sides, sines and cosines in turn.
const TRANSFORMER: [&str; 12] = [
    "model={preset = \"transformer_tiny\"}",
    "model.tied_embeddings=all",
    "model.d_model=32",
    "model.d_ff=48",
    "model.encoder.layers=1",
    "model.decoder.layers=2",
    "model.dropout=0.1",
    "tokenizer.kind=sentencepiece",
    "tokenizer.vocabulary_size=120",
    "training.label_smoothing=0",
    "training.updates=250",
    "training.schedule.learning_rate=0.005",
];

fn export(model: &str, out: &str) -> common::Ran {
    regard(&["export", "hf-marian", model, "--out", out])
}

fn import(model: &str, out: &str) {
    regard(&["import", "hf-marian", model, "--out", out]).ok();
}

fn same_file(a: &str, b: &str, name: &str) {
    assert!(
        fs::read(Path::new(a).join(name)).unwrap() == fs::read(Path::new(b).join(name)).unwrap(),
        "{name}"
    );
}

#[test]
fn an_imported_model_leaves_and_returns_bit_by_bit() {
    let place = Place::new();
    let [ours, theirs, again] = ["ours", "theirs", "again"].map(|name| place.at(name));
    import(THEIRS, &ours);
    export(&ours, &theirs).ok();
    import(&theirs, &again);
    for name in ["model.safetensors", "source.vocab.txt", "target.vocab.txt", "source.spm", "target.spm"] {
        same_file(&ours, &again, name);
    }
    for name in ["vocab.json", "config.json"] {
        let read = |dir: &str| json(&fs::read_to_string(Path::new(dir).join(name)).unwrap());
        let (written, original) = (read(&theirs), read(THEIRS));
        for (key, value) in written.as_object().unwrap() {
            if key != "torch_dtype" {
                assert_eq!(&original[key], value, "{key} of {name}");
            }
        }
    }
    same_file(THEIRS, &theirs, "source.spm");
    export(&ours, &theirs).fails_with(1, &["exists already"]);
}

#[test]
fn a_trained_model_translates_the_same_after_it_was_exported_and_imported() {
    let place = Place::new();
    let [run, theirs, again] = ["run", "theirs", "again"].map(|name| place.at(name));
    train(&place.recipe(), &run, &TRANSFORMER);
    export(&run, &theirs).ok();
    import(&theirs, &again);
    let [source, target] = corpus(9, 60, (3, 9));
    let options = ["--format", "jsonl", "--beam-size", "4"];
    let [before, after] = [&run, &again].map(|model| json_lines(&translate(model, &options, &source)));
    for (before, after) in before.iter().zip(&after) {
        let [before, after] = [before, after].map(|line| &line["translations"][0]);
        assert_eq!(strings(&before["tokens"]), strings(&after["tokens"]));
        let [before, after] = [before, after].map(|found| found["score"].as_f64().unwrap());
        assert!((-1e-5..1e-3).contains(&(after - before)), "{before} {after}");
    }
    // What went to `<pad>` and `<s>`, which are never written, goes to all other tokens.
    let (src, tgt) = (place.write("src", source), place.write("tgt", target));
    let [before, after] = [&run, &again]
        .map(|model| json(&regard(&["score", model, "--src", &src, "--tgt", &tgt, "--json"]).ok()));
    for (before, after) in before["lines"].as_array().unwrap().iter().zip(after["lines"].as_array().unwrap())
    {
        let [before, after] = [before, after].map(|line| numbers(&line["token_log_probs"]));
        assert_eq!(before.len(), after.len());
        for (before, after) in before.iter().zip(&after) {
            assert!((-3e-5..0.05).contains(&(after - before)), "{before} {after}");
        }
    }
}

#[test]
fn the_model_card_says_what_is_known() {
    let place = Place::new();
    let [run, theirs] = ["run", "an Ann's one"].map(|name| place.at(name));
    let [source, target] = corpus(2, 20, (3, 9));
    let [source, target] = [("valid_source", source), ("valid_target", target)]
        .map(|(key, text)| format!("data.{key}=\"{}\"", place.write(key, text)));
    let mut changes = TRANSFORMER.to_vec();
    changes.extend([
        source.as_str(),
        &target,
        "training.updates=20",
        "training.validate_every=10",
        "validation.metric=bleu",
        "validation.max_lines=7",
        "data.source_language=no",
    ]);
    train(&place.recipe(), &run, &changes);
    export(&run, &theirs).ok();
    let [files, valid] = [["train.en", "train.fr"], ["valid_source", "valid_target"]]
        .map(|names| names.map(|name| format!("`{}`", place.at(name))).join(", "));
    let card = |theirs: &str| fs::read_to_string(Path::new(theirs).join("README.md")).unwrap();
    let written = card(&theirs);
    for part in [
        // Without quotation marks the first would be a truth value.
        "language:\n- \"no\"\n- \"fr\"\n",
        "# Translation from no to fr",
        &format!("regard export hf-marian {run} --out '{}'\n", theirs.replace('\'', r"'\''")),
        &format!("- training text: {files}\n"),
        &format!("- validation after update 10 on the first 7 lines of {valid}:\n"),
        "1 + 2 layers, width 32",
        "- 300 training pairs",
        "- 20 updates",
        "BLEU|nrefs:1|case:mixed|eff:no|tok:none|smooth:exp|version:regard-",
    ] {
        assert!(written.contains(part), "\"{part}\" is not in {written}");
    }
    assert!(!written.contains("null"), "{written}");

    // A loss that is not finite is null in the log; a line that is none, or lacks what each has, is damage.
    let log = format!("{run}/training_log.jsonl");
    let with_log = |text: &str| {
        fs::write(&log, text).unwrap();
        let theirs = place.at("again");
        export(&run, &theirs).ok();
        let card = card(&theirs);
        fs::remove_dir_all(theirs).unwrap();
        assert!(!card.contains("null") && !card.contains("NaN"), "{card}");
        card
    };
    let record = r#"{"step":20,"epoch":2,"tokens":90,"valid":{"loss":null,"perplexity":null,"best":true}}"#;
    let unknown = with_log(&format!("{record}\n{{\"step\":3"));
    assert!(
        unknown.contains("- 20 updates, 90 target tokens, pass 2") && !unknown.contains("loss"),
        "{unknown}"
    );
    for damage in ["{\"step\":3}", "x", "\0"] {
        let damaged = with_log(&format!("{record}\n{damage}\n{record}\n"));
        assert!(damaged.contains("not known: `training_log.jsonl` is damaged in line 2\n"), "{damaged}");
        assert!(damaged.contains("- 300 training pairs") && !damaged.contains("updates"), "{damaged}");
    }
}

#[test]
fn other_models_stay_here() {
    let place = Place::new();
    let out = place.at("out");
    export(attention_model(), &out).fails_with(1, &["MarianMTModel", "model.family = \"recurrent\""]);
    assert!(!Path::new(&out).exists());
    export(&place.at("nothing"), &out).fails_with(1, &["is not a model directory"]);
}
