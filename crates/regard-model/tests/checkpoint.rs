//! Models on disk: what is written is read back, what is damaged is refused by name, an exchange never leaves a hole.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;

use regard_model::checkpoint::{self, ModelInfo};
use regard_model::{Predictor, Preset, Row, Run, Seq2Seq};
use regard_tensor::{Precision, Tape, Threads};
use regard_text::{Bpe, Normalizer, Padded, Pipeline, Tokenizer};
use sha2::{Digest, Sha256};

fn info() -> ModelInfo {
    let side = |lines: [&str; 2]| Pipeline::build(Normalizer::None, Tokenizer::Word, lines, None, 1);
    let changes = serde_json::json!({"embedding": 5, "encoder": {"hidden": 3}, "decoder": {"hidden": 3, "readout_width": 4}});
    ModelInfo {
        config: Preset::Bahdanau.config().with_changes(&changes).unwrap(),
        source_language: "en".to_owned(),
        target_language: "fr".to_owned(),
        source: side(["the black cat", "the dog"]),
        target: side(["le chat noir", "le chien"]),
    }
}

fn saved(dir: &Path, seed: u64) -> Box<dyn Seq2Seq> {
    written(dir, &info(), seed)
}

fn written(dir: &Path, info: &ModelInfo, seed: u64) -> Box<dyn Seq2Seq> {
    let model = info.build(seed).unwrap();
    checkpoint::save(dir, info, model.parameters()).unwrap();
    model
}

fn weights(model: &dyn Seq2Seq) -> Vec<Vec<f32>> {
    model.parameters().values().iter().map(|value| value.values().to_vec()).collect()
}

fn refusal(dir: &Path) -> String {
    match checkpoint::load(dir) {
        Ok(_) => panic!("a damaged model was read"),
        Err(error) => error.to_string(),
    }
}

/// What a model thinks of the first word of a translation.
fn first_word(model: &dyn Predictor, precision: Precision) -> Vec<f32> {
    let tape = Tape::inference(&Threads::single()).with_precision(precision);
    let run = Run::new(&tape);
    let memory = model.encode(&run, &Padded::from_rows(&[vec![4, 5, 3]])).unwrap();
    let state = model.start(&run, &memory, &[0]).unwrap();
    let row = Row { sentence: 0, hypothesis: 0, parent: 0, position: 0 };
    model.step(&run, &memory, &state, &[2], &[row]).unwrap().log_probs.row(0).values().collect()
}

#[test]
fn a_model_that_is_run_gives_what_the_whole_one_gives() {
    let (dir, threads) = (tempfile::tempdir().unwrap(), Threads::single());
    for tied in ["none", "target_output"] {
        let (dir, mut info) = (tempfile::tempdir().unwrap(), info());
        let changes = serde_json::json!({"tied_embeddings": tied, "decoder": {"readout_width": 5}});
        info.config = info.config.with_changes(&changes).unwrap();
        let model = written(dir.path(), &info, 7);
        for precision in [Precision::F32, Precision::Int8] {
            let (read, running) = checkpoint::load_to_run(dir.path(), &threads, precision).unwrap();
            assert_eq!(read.source.vocabulary, info.source.vocabulary);
            let bits = |x: Vec<f32>| x.into_iter().map(f32::to_bits).collect::<Vec<_>>();
            let whole = first_word(&*model, precision);
            assert_eq!(bits(first_word(&*running, precision)), bits(whole), "{precision:?}, tied: {tied}");
        }
    }
    saved(dir.path(), 7);
    let path = dir.path().join("model.safetensors");
    fs::write(&path, &fs::read(&path).unwrap()[..100]).unwrap();
    let refused = checkpoint::load_to_run(dir.path(), &threads, Precision::F32).err().unwrap().to_string();
    assert!(refused.contains("model.safetensors"), "{refused}");
}

#[test]
fn models_with_other_vocabularies_cannot_work_together() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    saved(one.path(), 7);
    saved(other.path(), 8);
    checkpoint::check_same_text(one.path(), other.path()).unwrap();
    let third = tempfile::tempdir().unwrap();
    let mut info = info();
    info.target = Pipeline::build(Normalizer::Nfc, Tokenizer::Word, ["le chat noir", "le chien"], None, 1);
    checkpoint::save(third.path(), &info, info.build(9).unwrap().parameters()).unwrap();
    let refusal = checkpoint::check_same_text(one.path(), third.path()).unwrap_err().to_string();
    assert!(refusal.contains("differ in target.tokenizer.json: models that translate together"), "{refusal}");
}

#[test]
fn what_is_written_is_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let model = saved(dir.path(), 7);
    let (read, network) = checkpoint::load(dir.path()).unwrap();
    assert_eq!(weights(&*network), weights(&*model));
    assert_eq!(read.config, info().config);
    assert_eq!((read.source_language.as_str(), read.target_language.as_str()), ("en", "fr"));
    assert_eq!(read.source.vocabulary, info().source.vocabulary);
    // The same model gives the same bytes.
    let again = tempfile::tempdir().unwrap();
    saved(again.path(), 7);
    for name in ["config.json", "model.safetensors", "source.vocab.txt", "target.tokenizer.json"] {
        assert_eq!(
            fs::read(dir.path().join(name)).unwrap(),
            fs::read(again.path().join(name)).unwrap(),
            "{name}"
        );
    }
}

#[test]
fn a_transformer_is_written_and_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let stack = serde_json::json!({"layers": 1, "heads": 2});
    let changes = serde_json::json!({"d_model": 6, "d_ff": 5, "encoder": stack, "decoder": stack});
    let config = Preset::TransformerTiny.config().with_changes(&changes).unwrap();
    let info = ModelInfo { config, ..info() };
    let model = info.build(7).unwrap();
    checkpoint::save(dir.path(), &info, model.parameters()).unwrap();
    let (read, network) = checkpoint::load(dir.path()).unwrap();
    assert_eq!(read.config, info.config);
    assert_eq!(weights(&*network), weights(&*model));
    let written = fs::read_to_string(dir.path().join("config.json")).unwrap();
    assert!(written.contains("\"family\": \"transformer\""), "{written}");
}

/// The first models had one family only and did not name it.
#[test]
fn a_configuration_without_a_family_is_recurrent() {
    let dir = tempfile::tempdir().unwrap();
    let model = saved(dir.path(), 7);
    let path = dir.path().join("config.json");
    let mut old: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(old["model"].as_object_mut().unwrap().remove("family"), Some("recurrent".into()));
    old["config_sha256"] = "".into();
    let digest = Sha256::digest(old.to_string());
    old["config_sha256"] = digest.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}")).into();
    fs::write(&path, old.to_string()).unwrap();
    let (read, network) = checkpoint::load(dir.path()).unwrap();
    assert_eq!(read.config, info().config);
    assert_eq!(weights(&*network), weights(&*model));
}

#[test]
fn p11_damage_is_refused_by_name() {
    for name in ["model.safetensors", "source.vocab.txt", "target.vocab.txt"] {
        let dir = tempfile::tempdir().unwrap();
        saved(dir.path(), 1);
        let path = dir.path().join(name);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        let message = refusal(dir.path());
        assert!(message.contains(name) && message.contains("bytes where config.json says"), "{message}");
        let mut flipped = whole.clone();
        let last = flipped.len() - 1;
        flipped[last] ^= 1;
        fs::write(&path, &flipped).unwrap();
        let message = refusal(dir.path());
        assert!(message.contains(name) && message.contains("digest"), "{message}");
        fs::remove_file(&path).unwrap();
        assert!(refusal(dir.path()).contains(name));
    }
}

#[test]
fn p14_a_vocabulary_of_another_model_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    saved(dir.path(), 1);
    let path = dir.path().join("target.vocab.txt");
    let mut lines: Vec<String> = fs::read_to_string(&path).unwrap().lines().map(str::to_owned).collect();
    lines.swap(4, 5);
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    assert!(refusal(dir.path()).contains("target.vocab.txt"));
    lines.push("extra".to_owned());
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    assert!(refusal(dir.path()).contains("target.vocab.txt"));
}

#[test]
fn every_file_of_a_tokenizer_has_a_digest() {
    let merges = vec![("c".to_owned(), "a".to_owned())];
    let bpe = Bpe::from_merges(merges).with_vocabulary(["ca@@".to_owned()]);
    let source = Pipeline::build(Normalizer::None, Tokenizer::Bpe(bpe), ["the cat"], None, 1);
    let info = ModelInfo { source, ..info() };
    let dir = tempfile::tempdir().unwrap();
    checkpoint::save(dir.path(), &info, info.build(1).unwrap().parameters()).unwrap();
    checkpoint::load(dir.path()).unwrap();
    for name in ["source.tokenizer.json", "source.bpe", "source.pieces.txt"] {
        let path = dir.path().join(name);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, [whole.as_slice(), b" "].concat()).unwrap();
        let message = refusal(dir.path());
        assert!(
            message.contains(&format!("{name}: has")) && message.contains("config.json says"),
            "{message}"
        );
        fs::write(&path, whole).unwrap();
    }
}

#[test]
fn headers_that_promise_what_is_not_there_are_refused() {
    let file = |size: u64, header: &str, data: usize| {
        [&size.to_le_bytes(), header.as_bytes(), &vec![0; data]].concat()
    };
    let one = r#"{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
    let length = one.len() as u64;
    let read = |bytes: &[u8]| checkpoint::read_tensors(Path::new("x.safetensors"), bytes);
    assert_eq!(read(&file(length, one, 8)).unwrap()[0].1.values(), [0.0, 0.0]);
    for bad in [
        file(length, one, 7),
        file(length, one, 9),
        file(length + 1, one, 8),
        file(u64::MAX, one, 8),
        file(1 << 40, one, 8),
        file(length, &one.replace("[0,8]", "[4,8]"), 8),
        file(length, &one.replace("[2]", "[9]"), 8),
        file(length, &one.replace("[0,8]", "[8,0]"), 8),
        Vec::new(),
        vec![1, 0, 0],
    ] {
        let message = read(&bad).unwrap_err().to_string();
        assert!(message.contains("x.safetensors: is not a whole safetensors file"), "{message}");
    }
}

#[test]
fn tensors_of_many_dimensions_are_refused() {
    let header = r#"{"x":{"dtype":"F32","shape":[0,1,1,4294967296,4294967296],"data_offsets":[0,0]}}"#;
    let file = [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat();
    let message = checkpoint::read_tensors(Path::new("x.safetensors"), &file).unwrap_err().to_string();
    assert!(message.contains("x.safetensors: \"x\" has 5 dimensions, expected at most 4"), "{message}");
}

#[test]
fn a_newer_format_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    saved(dir.path(), 1);
    let path = dir.path().join("config.json");
    let newer = fs::read_to_string(&path).unwrap().replace("\"format_version\": 1", "\"format_version\": 2");
    fs::write(&path, newer).unwrap();
    let message = refusal(dir.path());
    assert!(message.contains("format version 2") && message.contains("newer regard"), "{message}");
    fs::write(&path, "{").unwrap();
    assert!(refusal(dir.path()).contains("config.json"));
}

#[test]
fn a_changed_configuration_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    saved(dir.path(), 1);
    let path = dir.path().join("config.json");
    let whole = fs::read_to_string(&path).unwrap();
    for (old, new) in [("\"en\"", "\"eo\""), ("\"dropout\": 0", "\"dropout\": 1"), ("\n", " \n")] {
        assert!(whole.contains(old), "{whole}");
        fs::write(&path, whole.replacen(old, new, 1)).unwrap();
        let message = refusal(dir.path());
        assert!(message.contains("config.json: was changed"), "{message}");
    }
}

#[test]
fn p11_an_exchange_can_be_cut_at_any_moment() {
    let dir = tempfile::tempdir().unwrap();
    let old = saved(dir.path(), 1);
    let read = |name: &str| fs::read(dir.path().join(name)).unwrap();
    let (old_config, old_weights) = (read("config.json"), read("model.safetensors"));
    let new = info().build(2).unwrap();
    checkpoint::replace(dir.path(), &info(), new.parameters()).unwrap();
    let (new_config, new_weights) = (read("config.json"), read("model.safetensors"));
    assert_eq!(weights(&*checkpoint::load(dir.path()).unwrap().1), weights(&*new));
    assert_ne!((&old_config, &old_weights), (&new_config, &new_weights));

    // The state between: config.json admits both files.
    let mut between: serde_json::Value = serde_json::from_slice(&new_config).unwrap();
    let old_json: serde_json::Value = serde_json::from_slice(&old_config).unwrap();
    between["replacing"] = serde_json::json!({"model.safetensors": old_json["files"]["model.safetensors"]});
    between["config_sha256"] = "".into();
    let digest = Sha256::digest(between.to_string());
    between["config_sha256"] =
        digest.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}")).into();
    fs::write(dir.path().join("config.json"), between.to_string()).unwrap();
    for (file, model) in [(&old_weights, &old), (&new_weights, &new)] {
        fs::write(dir.path().join("model.safetensors"), file).unwrap();
        assert_eq!(weights(&*checkpoint::load(dir.path()).unwrap().1), weights(&**model));
    }
    // What a cut write has left is removed by the next one.
    fs::write(dir.path().join(".model.safetensors.tmp"), "half").unwrap();
    checkpoint::replace(dir.path(), &info(), old.parameters()).unwrap();
    assert!(!dir.path().join(".model.safetensors.tmp").exists());
    assert_eq!(weights(&*checkpoint::load(dir.path()).unwrap().1), weights(&*old));
}

#[test]
fn a_directory_appears_whole_or_not_at_all() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("model");
    let failed = checkpoint::write_directory(&path, |aside| {
        fs::write(aside.join("half"), "x").unwrap();
        Err(regard_model::ModelError::Config("no".to_owned()))
    });
    assert!(failed.is_err() && fs::read_dir(parent.path()).unwrap().next().is_none());
    checkpoint::write_directory(&path, |aside| {
        saved(aside, 1);
        Ok::<_, regard_model::ModelError>(())
    })
    .unwrap();
    assert!(checkpoint::load(&path).is_ok());
}
