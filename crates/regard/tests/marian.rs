//! Models that Marian has trained are taken over and give what Marian gives: `tests/goldens/make_marian.py` has made them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::path::Path;

use common::{Place, assert_close, json, json_lines, numbers, regard, translate};
use serde_json::Value;

const THEIRS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/marian");
const MODELS: [&str; 4] = ["s2s", "s2s_normed", "transformer", "transformer_pre"];
/// They print five decimals.
const TOLERANCE: f64 = 1e-4;

fn theirs(name: &str) -> String {
    format!("{THEIRS}/{name}/model.npz")
}

fn import(model: &str, out: &str) -> common::Ran {
    regard(&["import", "marian", model, "--out", out])
}

/// A model, taken over.
fn imported(place: &Place, name: &str) -> String {
    let out = place.at(name);
    import(&theirs(name), &out).ok();
    out
}

fn expected(name: &str) -> Vec<Value> {
    let text = fs::read_to_string(format!("{THEIRS}/{name}/expected.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn text<'a>(case: &'a Value, field: &str) -> &'a str {
    case[field].as_str().unwrap()
}

/// A line a case.
fn lines(cases: &[Value], field: &str) -> String {
    cases.iter().map(|case| text(case, field)).collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn log_probabilities_are_theirs() {
    let place = Place::new();
    for name in MODELS {
        let model = imported(&place, name);
        let cases = expected(name);
        let source = place.write("src", lines(&cases, "source"));
        let target = place.write("tgt", lines(&cases, "target"));
        let found = json(&regard(&["score", &model, "--json", "--src", &source, "--tgt", &target]).ok());
        assert_eq!(found["lines"].as_array().unwrap().len(), cases.len());
        for (case, found) in cases.iter().zip(found["lines"].as_array().unwrap()) {
            let (wanted, found) = (numbers(&case["log_probs"]), numbers(&found["token_log_probs"]));
            assert_eq!(found.len(), wanted.len(), "{name}: {case}");
            found.into_iter().zip(wanted).for_each(|(found, wanted)| assert_close(found, wanted, TOLERANCE));
        }
    }
}

/// Of what `transformer_pre` writes Marian itself makes other
/// scores when it scores than when it searches, where it does not normalise the keys and values of earlier words.
#[test]
fn translations_are_theirs() {
    let place = Place::new();
    for name in &MODELS[..3] {
        let model = imported(&place, name);
        let cases = expected(name);
        let lines = lines(&cases, "source");
        for beam in ["1", "6"] {
            let options = ["--length-penalty", "marian", "--suppress", "<unk>", "--beam-size", beam];
            let options = [
                &options[..],
                &["--narrowing-beam", "--cut-competes", "--format", "jsonl", "--max-length-factor", "3"],
            ]
            .concat();
            let translated = json_lines(&translate(&model, &options, lines.clone()));
            assert_eq!(translated.len(), cases.len());
            for (case, found) in cases.iter().zip(translated) {
                let (found, wanted) = (&found["translations"][0], &case[format!("beam_{beam}")]);
                assert_eq!(text(found, "text"), text(wanted, "text"), "{name}, beam {beam}: {case}");
                let scores = [found, wanted].map(|translation| translation["score"].as_f64().unwrap());
                assert_close(scores[0], scores[1], TOLERANCE);
            }
        }
    }
}

#[test]
fn vocabularies_may_be_named_and_have_other_forms() {
    let place = Place::new();
    let copy = place.copy_of(&format!("{THEIRS}/s2s"), "s2s");
    let (model, yml) = (format!("{copy}/model.npz"), format!("{copy}/source.yml"));
    let by_id = |line: &str| {
        line.rsplit_once(": ").map(|(token, id)| (id.parse::<usize>().unwrap(), token.to_owned()))
    };
    let mut tokens: Vec<_> = fs::read_to_string(&yml).unwrap().lines().filter_map(by_id).collect();
    tokens.sort();
    let list: Vec<&str> = tokens.iter().map(|(_, token)| token.as_str()).collect();
    let map: serde_json::Map<String, Value> =
        tokens.iter().map(|(id, token)| (token.clone(), Value::from(*id))).collect();
    let (list, map) =
        (place.write("list.txt", list.join("\n")), place.write("map.json", Value::from(map).to_string()));
    let target = format!("{copy}/target.yml");
    fs::remove_file(format!("{copy}/model.npz.decoder.yml")).unwrap();
    import(&model, &place.at("none")).fails_with(1, &["no .decoder.yml or .yml beside it", "--vocabs"]);
    let weights = |name: &str, source: &str| {
        let out = place.at(name);
        regard(&["import", "marian", &model, "--vocabs", source, &target, "--out", &out]).ok();
        fs::read(Path::new(&out).join("model.safetensors")).unwrap()
    };
    let first = weights("yml", &yml);
    assert!(first == weights("list", &list) && first == weights("json", &map));
    let (end, some) = (place.write("end.txt", "<unk>\na\n"), place.write("some.txt", "</s>\n<unk>\na\n"));
    regard(&["import", "marian", &model, "--vocabs", &end, &target, "--out", &place.at("end")])
        .fails_with(1, &["end.txt: has no </s> among the", "tokens that the model knows"]);
    weights("some", &some);
    let words = fs::read_to_string(place.at("some/source.vocab.txt")).unwrap();
    assert!(words.starts_with("<pad>\n<unk>\n<s>\n</s>\na\n<unused-3>\n<unused-4>\n"), "{words}");
}

/// A copy of a model with bytes of its configuration replaced by as many.
fn changed(place: &Place, name: &str, [from, to]: [&str; 2]) -> String {
    let copy = place.copy_of(&format!("{THEIRS}/{name}"), "theirs");
    let model = format!("{copy}/model.npz");
    let mut bytes = fs::read(&model).unwrap();
    let at = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
    bytes[at..at + from.len()].copy_from_slice(to.as_bytes());
    fs::write(&model, bytes).unwrap();
    model
}

#[test]
fn what_is_not_supported_is_refused_by_key_and_value() {
    for (name, change, message) in [
        ("s2s", ["\ntype: s2s", "\ntype: amu"], "type = \"amu\" is not supported, s2s and transformer are"),
        ("s2s", ["dec-cell: gru", "dec-cell: ltm"], "dec-cell = \"ltm\" is not supported, only \"gru\" is"),
        ("s2s", ["base-depth: 2", "base-depth: 4"], "dec-cell-base-depth = \"4\" is not supported"),
        ("s2s", ["right-left: false", "right-left: true "], "right-left = \"true\" is not supported"),
        (
            "s2s",
            ["type: bidirectional", "type: alternating  "],
            "enc-type = \"alternating\" is not supported",
        ),
        ("s2s", ["\ndim-rnn: 24", "\ndim-rnn: 25"], "has the shape [16, 48], not [16, 50]"),
        ("s2s", ["\ndim-emb: 16", "\ndim-emb: 17"], "\"encoder_Wemb\" has the shape"),
        ("s2s", ["\nenc-depth: 1", "\nenc-depth: 2"], "there is no array \"encoder_bi_l2_cell1_W\""),
        (
            "s2s_normed",
            ["normalization: true", "normalization: fals"],
            "= \"fals\" is not supported, true and false are",
        ),
        (
            "transformer",
            ["autoreg: self-attention", "autoreg: rnn           "],
            "autoreg = \"rnn\" is not supported",
        ),
        (
            "transformer",
            ["ffn-activation: swish", "ffn-activation: tanhh"],
            "activation = \"tanhh\" is not supported",
        ),
        ("transformer", ["postprocess: dan", "postprocess: dhn"], "transformer-postprocess = \"dhn\""),
        ("transformer", ["heads: 4", "heads: 3"], "heads = 3 must divide d_model = 16"),
        (
            "transformer",
            ["dec-depth: 2", "dec-depth: 1"],
            "\"decoder_l2_context_Wk\" is no weight of the model in special:model.yml",
        ),
        (
            "transformer",
            ["dim-ffn: 24", "dim-ffn: 2x"],
            "transformer-dim-ffn = \"2x\" is not supported, a number is",
        ),
        ("transformer", ["'descr': '<f4'", "'descr': '<f8'"], "whose size is that of its shape"),
        ("transformer", ["input-types:", "input-types "], "has no `key: value`: `input-types`"),
    ] {
        let place = Place::new();
        let out = place.at("out");
        import(&changed(&place, name, change), &out).fails_with(1, &[message]);
        assert!(!Path::new(&out).exists());
    }
}

#[test]
fn other_files_are_refused() {
    let place = Place::new();
    for (file, message) in [("text", "is no .npz archive"), ("model.npz", "ends too early")] {
        let bytes = fs::read(theirs("s2s")).unwrap();
        let path = place.at(file);
        fs::write(&path, if file == "text" { b"text" } else { &bytes[..5000] }).unwrap();
        import(&path, &place.at("out")).fails_with(1, &[message]);
    }
    import(&place.at("nothing.npz"), &place.at("out")).fails_with(1, &["nothing.npz"]);
    let different = place.copy_of(&format!("{THEIRS}/transformer"), "different");
    let other = format!("{THEIRS}/s2s/source.yml");
    regard(&[
        "import",
        "marian",
        &format!("{different}/model.npz"),
        "--vocabs",
        &other,
        &format!("{different}/both.spm"),
        "--out",
        &place.at("out"),
    ])
    .fails_with(1, &["one table serves both sides, and their vocabularies differ"]);
}
