//! A model of Hugging Face is taken over and gives what transformers gives: `tests/goldens/make_hf_marian.py` has made it,
//! and its numbers in float64.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::path::Path;

use common::{Place, assert_close, json, json_lines, numbers, regard, strings, translate};
use regard::model::checkpoint::{read_tensors, write_tensors};
use regard::tensor::Tensor;
use serde_json::{Value, json};

const THEIRS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/hf_marian");
/// Sums of f32 against float64.
const TOLERANCE: f64 = 1e-4;

fn import(theirs: &str, out: &str) -> common::Ran {
    regard(&["import", "hf-marian", theirs, "--out", out])
}

/// The model, taken over.
fn imported(place: &Place) -> String {
    let out = place.at("ours");
    import(THEIRS, &out).ok();
    out
}

fn expected() -> Vec<Value> {
    let text = fs::read_to_string(Path::new(THEIRS).join("expected.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn text<'a>(case: &'a Value, field: &str) -> &'a str {
    case[field].as_str().unwrap()
}

/// The options that set the tags of a case.
fn tags(case: &Value) -> Vec<&str> {
    strings(&case["tags"]).into_iter().flat_map(|tag| ["--tag", tag]).collect()
}

#[test]
fn log_probabilities_are_theirs() {
    let place = Place::new();
    let model = imported(&place);
    for case in expected() {
        let source = place.write("src", format!("{}\n", text(&case, "source")));
        let target = place.write("tgt", format!("{}\n", text(&case, "target")));
        let args = ["score", &model, "--json", "--src", &source, "--tgt", &target];
        let found = json(&regard(&[&args[..], &tags(&case)].concat()).ok());
        let found = numbers(&found["lines"][0]["token_log_probs"]);
        let wanted = numbers(&case["log_probs"]);
        assert_eq!(found.len(), wanted.len(), "{case}");
        for (found, wanted) in found.into_iter().zip(wanted) {
            assert_close(found, wanted, TOLERANCE);
        }
    }
}

/// The tokens and the score that a beam of this size finds for a case.
fn found(model: &str, case: &Value, beam: &str) -> (Vec<String>, f64) {
    let options = ["--format", "jsonl", "--max-length", "60", "--beam-size", beam];
    let lines =
        translate(model, &[&options[..], &tags(case)].concat(), format!("{}\n", text(case, "source")));
    let found = &json_lines(&lines)[0]["translations"][0];
    let tokens = strings(&found["tokens"]).into_iter().map(str::to_owned).collect();
    (tokens, found["score"].as_f64().unwrap())
}

#[test]
fn greedy_translations_are_theirs() {
    let place = Place::new();
    let model = imported(&place);
    for case in expected() {
        assert_eq!(found(&model, &case, "1").0, strings(&case["greedy"]), "{case}");
    }
}

/// What ends leaves our beam and not theirs, so either may lose a path that the other keeps: two lines of sixteen, and for
/// both ours has found a better one.
#[test]
fn translations_of_a_beam_are_theirs_or_better() {
    let place = Place::new();
    let model = imported(&place);
    let cases = expected();
    let mut equal = 0;
    for case in &cases {
        let (tokens, score) = found(&model, case, "4");
        let theirs = case["beam_score"].as_f64().unwrap();
        if tokens == strings(&case["beam"]) {
            equal += 1;
            assert_close(score, theirs, TOLERANCE);
        } else {
            assert!(score > theirs, "{case}");
        }
    }
    assert_eq!((equal, cases.len()), (14, 16));
}

#[test]
fn other_commands_take_it_too() {
    let place = Place::new();
    let model = imported(&place);
    let info = json(&regard(&["info", &model, "--json"]).ok());
    assert_eq!((text(&info, "source_language"), text(&info, "target_language")), ("en", "fr"));
    assert_eq!(info["config"]["positions"], "sinusoidal_halves");
    let look = json(&regard(&["look", &model, "the dog sleeps", "--json"]).ok());
    assert_eq!(strings(&look["source_tokens"]).last(), Some(&"</s>"));
    import(THEIRS, &model).fails_with(1, &["exists already"]);
}

/// A copy of the model with one of its JSON files changed.
fn changed(place: &Place, file: &str, change: impl FnOnce(&mut Value)) -> String {
    let copy = place.copy_of(THEIRS, "theirs");
    let path = Path::new(&copy).join(file);
    let mut value = json(&fs::read_to_string(&path).unwrap());
    change(&mut value);
    fs::write(path, value.to_string()).unwrap();
    copy
}

#[test]
fn what_is_not_supported_is_refused_by_key_and_value() {
    for (key, value, message) in [
        ("normalize_before", json!(true), "normalize_before = true is not supported, only false is"),
        ("static_position_embeddings", json!(false), "static_position_embeddings = false"),
        ("activation_function", json!("gelu_new"), "activation_function = \"gelu_new\" is not supported"),
        ("model_type", json!("bart"), "model_type = \"bart\""),
        ("decoder_ffn_dim", json!(25), "encoder_ffn_dim = 24 and decoder_ffn_dim = 25"),
        ("decoder_attention_heads", json!(3), "decoder.heads = 3 must divide d_model = 16"),
        ("eos_token_id", json!(1), "eos_token_id = 1 is not the id of </s>, 0"),
        ("decoder_start_token_id", json!(5000), "decoder_start_token_id = 5000"),
        ("d_model", json!("wide"), "invalid type: string \"wide\""),
        ("encoder_layers", json!(3), "\"model.encoder.layers.2.self_attn.q_proj.weight\" is missing"),
        ("decoder_layers", json!(1), "\"model.decoder.layers.1."),
        ("d_model", json!(32), ", 16], not ["),
        ("tie_word_embeddings", json!(false), "\"lm_head.weight\" is missing"),
    ] {
        let place = Place::new();
        let theirs = changed(&place, "config.json", |config| config[key] = value);
        let out = place.at("out");
        import(&theirs, &out).fails_with(1, &[message]);
        assert!(!Path::new(&out).exists());
    }
}

#[test]
fn a_vocabulary_must_number_its_tokens() {
    for (token, id, message) in
        [("<unk>", json!(0), "none or several with the id 1"), (">>fra<<", json!(-1), "invalid value")]
    {
        let place = Place::new();
        let theirs = changed(&place, "vocab.json", |vocabulary| vocabulary[token] = id);
        import(&theirs, &place.at("out")).fails_with(1, &["vocab.json", message]);
    }
}

#[test]
fn other_forms_of_the_weights() {
    let place = Place::new();
    let theirs = place.copy_of(THEIRS, "theirs");
    let file = Path::new(&theirs).join("model.safetensors");
    let weights = read_tensors(&file, &fs::read(&file).unwrap()).unwrap();
    let shared = weights.iter().find(|(name, _)| name == "model.shared.weight").unwrap().1.clone();
    let with = |name: &str, tensor: Tensor| {
        let mut weights = weights.clone();
        weights.push((name.to_owned(), tensor));
        write_tensors(&file, &weights).unwrap();
    };
    with("lm_head.weight", shared.clone());
    import(&theirs, &place.at("again")).ok();
    let zeros = Tensor::zeros(shared.shape());
    with("lm_head.weight", zeros);
    import(&theirs, &place.at("out"))
        .fails_with(1, &["\"model.shared.weight\" and \"lm_head.weight\" differ"]);
    with("model.encoder.embed_positions.weight", Tensor::zeros([128, 16]));
    import(&theirs, &place.at("out")).fails_with(1, &["are not sines and cosines"]);
    with("model.extra", Tensor::zeros([1]));
    import(&theirs, &place.at("out")).fails_with(1, &["\"model.extra\" is no weight of the model"]);
    fs::write(&file, b"cut").unwrap();
    import(&theirs, &place.at("out")).fails_with(1, &["is not a whole safetensors file"]);
    fs::rename(&file, Path::new(&theirs).join("pytorch_model.bin")).unwrap();
    import(&theirs, &place.at("out")).fails_with(1, &["pytorch_model.bin", "save_pretrained"]);
}

/// As transformers 5 does it; older versions share the tables still, and store one.
#[test]
fn where_the_output_layer_is_not_tied_no_table_is() {
    let place = Place::new();
    let theirs = changed(&place, "config.json", |config| config["tie_word_embeddings"] = json!(false));
    let file = Path::new(&theirs).join("model.safetensors");
    let mut weights = read_tensors(&file, &fs::read(&file).unwrap()).unwrap();
    let shape = weights.iter().find(|(name, _)| name == "model.shared.weight").unwrap().1.shape();
    let filled = |value: f32| Tensor::build(shape, |values| values.fill(value));
    weights.push(("lm_head.weight".to_owned(), filled(3.0)));
    weights.push(("model.encoder.embed_tokens.weight".to_owned(), filled(1.0)));
    write_tensors(&file, &weights).unwrap();
    let out = place.at("out");
    import(&theirs, &out).ok();
    let file = Path::new(&out).join("model.safetensors");
    let ours = read_tensors(&file, &fs::read(&file).unwrap()).unwrap();
    let table = |name: &str| ours.iter().find(|(known, _)| known == name).unwrap().1.values().to_vec();
    assert!(table("source_embedding.weight").iter().all(|&value| value.to_bits() == 1_f32.to_bits()));
    assert!(table("output.weight").iter().all(|&value| value.to_bits() == 3_f32.to_bits()));
    assert!(table("target_embedding.weight").iter().any(|&value| value.to_bits() != 1_f32.to_bits()));
}
