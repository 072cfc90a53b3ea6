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

/// Where bytes stand in an archive, and where the zip entry begins that they are in.
fn find(archive: &[u8], bytes: &[u8]) -> (usize, usize) {
    let at = archive.windows(bytes.len()).position(|window| window == bytes).unwrap();
    (at, archive[..at].windows(4).rposition(|window| window == b"PK\x03\x04").unwrap())
}

/// Sets the checksum of the zip entry that begins at `entry`.
fn seal(archive: &mut [u8], entry: usize) {
    let number = |at: usize, length: usize| {
        archive[entry + at..][..length].iter().rev().fold(0, |sum, &byte| sum << 8 | usize::from(byte))
    };
    let start = entry + 30 + number(26, 2) + number(28, 2);
    let checksum = crc32fast::hash(&archive[start..start + number(18, 4)]);
    archive[entry + 14..entry + 18].copy_from_slice(&checksum.to_le_bytes());
}

/// A copy of a model with bytes of its configuration replaced by as many.
fn changed(place: &Place, name: &str, [from, to]: [&str; 2]) -> String {
    let copy = place.copy_of(&format!("{THEIRS}/{name}"), "theirs");
    let model = format!("{copy}/model.npz");
    let mut bytes = fs::read(&model).unwrap();
    let (at, entry) = find(&bytes, from.as_bytes());
    bytes[at..at + from.len()].copy_from_slice(to.as_bytes());
    seal(&mut bytes, entry);
    fs::write(&model, bytes).unwrap();
    model
}

#[test]
fn damaged_weights_are_refused_by_their_name() {
    let place = Place::new();
    let copy = place.copy_of(&format!("{THEIRS}/s2s"), "s2s");
    let model = format!("{copy}/model.npz");
    let mut bytes = fs::read(&model).unwrap();
    let (name, _) = find(&bytes, b"encoder_Wemb.npy");
    // A bit of a weight, well behind the header of the array.
    bytes[name + 300] ^= 1;
    fs::write(&model, &bytes).unwrap();
    let out = place.at("out");
    import(&model, &out).fails_with(
        1,
        &["model.npz: entry \"encoder_Wemb.npy\" is damaged: its CRC-32 is ", "copy the file again"],
    );
    assert!(!Path::new(&out).exists());
    let (_, entry) = find(&bytes, b"encoder_Wemb.npy");
    seal(&mut bytes, entry);
    fs::write(&model, bytes).unwrap();
    import(&model, &out).ok();
}

#[test]
fn vocabularies_that_may_be_of_another_model_are_named() {
    let place = Place::new();
    let [model, target] = ["model.npz", "target.yml"].map(|name| format!("{THEIRS}/s2s/{name}"));
    let with = |source: &str, out: &str, more: &[&str]| {
        let call = ["import", "marian", &model, "--vocabs", source, &target, "--out", &place.at(out)];
        regard(&[call.as_slice(), more].concat())
    };
    // The models here were trained with `--dim-vocabs 60 60` and shorter vocabularies.
    let ran = import(&model, &place.at("short"));
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    let notes: Vec<&str> = ran.err.lines().collect();
    assert_eq!(notes.len(), 3, "{notes:?}");
    for (note, name) in notes.iter().zip(["source.yml: 19 tokens", "target.yml: 36 tokens"]) {
        assert!(note.contains(name) && note.contains("has 60 rows: the other rows have no token"), "{note}");
        assert!(note.ends_with("--dim-vocabs was 60; else it is another model's vocabulary"), "{note}");
    }
    let list = |tokens: usize| {
        let tokens = (0..tokens).fold(String::new(), |text, token| text + &format!("t{token}\n"));
        place.write("list.txt", format!("</s>\n<unk>\n{tokens}"))
    };
    let ran = with(&list(59), "long", &[]);
    assert!(
        ran.err.contains("list.txt: 61 tokens") && ran.err.contains("the other tokens are unknown"),
        "{}",
        ran.err
    );
    assert!(!with(&list(58), "fits", &[]).err.contains("list.txt"));
    assert_eq!(with(&list(57), "quiet", &["--quiet"]).err, "");
    for (name, text, message) in [
        ("empty.yml", "", "empty.yml: has no tokens"),
        ("empty.json", "{}", "empty.json: has no tokens"),
        ("empty.txt", "", "empty.txt: line 1 is empty"),
        ("gap.txt", "</s>\n<unk>\n\na\n", "gap.txt: line 3 is empty"),
        ("twice.txt", "</s>\n<unk>\na\nb\na\n", "twice.txt: line 5 has the token of line 3, \"a\""),
        ("twice.yml", "</s>: 0\na: 2\na: 3\n", "twice.yml: line 3 has a key that is there already"),
    ] {
        with(&place.write(name, text), "refused", &[]).fails_with(1, &[message]);
    }
    let pieces = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/hf_marian/source.spm");
    with(pieces, "refused", &[]).fails_with(1, &["source.spm: has ", "the model's table 60 rows"]);
    assert!(!Path::new(&place.at("refused")).exists());
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
