//! SentencePiece on the command line and in recipes.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;

use common::{Place, corpus, regard, regard_reading, train, translate};

/// A model of 60 pieces of the demonstration's language, and its text.
fn trained(place: &Place, options: &[&str]) -> (String, String) {
    let [source, _] = corpus(1, 300, (3, 10));
    let (text, model) = (place.write("text", &source), place.at("m.model"));
    let args =
        ["tokenizer", "train", &text, "--kind", "sentencepiece", "--vocabulary-size", "60", "-o", &model];
    let said = regard(&[args.as_slice(), options].concat()).err;
    assert!(said.contains("60 pieces of 300 lines are in"), "{said}");
    (model, source)
}

#[test]
fn lines_to_pieces_and_ids_and_back() {
    let place = Place::new();
    for options in [[].as_slice(), &["--algorithm", "bpe", "--threads", "1"]] {
        let (model, text) = trained(&place, options);
        let pieces = regard_reading(&["tokenizer", "encode", "--model", &model], &text).ok();
        assert!(pieces.starts_with('▁') && pieces != text);
        assert_eq!(regard_reading(&["tokenizer", "decode", "--model", &model], &pieces).ok(), text);
        let ids = regard_reading(&["tokenizer", "encode", "--model", &model, "--ids"], &text).ok();
        assert!(ids.split_ascii_whitespace().all(|id| id.parse::<u32>().unwrap() < 60));
        assert_eq!(regard_reading(&["tokenizer", "decode", "--model", &model, "--ids"], &ids).ok(), text);
    }
}

#[test]
fn the_lines_before_a_bad_id_come_out() {
    let place = Place::new();
    let (model, text) = trained(&place, &[]);
    let text = text.repeat(50);
    let ids = regard_reading(&["tokenizer", "encode", "--model", &model, "--ids"], &text).ok();
    for (threads, bad) in [("1", 0), ("1", 5000), ("2", 4096), ("3", 14_000)] {
        let mut lines: Vec<&str> = ids.lines().collect();
        lines[bad] = "3 x";
        let call = ["tokenizer", "decode", "--model", &model, "--ids", "--threads", threads];
        let ran = regard_reading(&call, lines.join("\n"));
        let expected: String = text.split_inclusive('\n').take(bad).collect();
        assert!(ran.out == expected.as_bytes(), "{threads} threads, line {bad}");
        ran.fails_with(1, &[&format!("line {}: `x` is no id of the model: ids go from 0 to 59", bad + 1)]);
    }
    let (input, out) = (place.write("ids", "4 5\n99\n4\n"), place.at("out"));
    regard(&["tokenizer", "decode", "--model", &model, "--ids", "-i", &input, "-o", &out])
        .fails_with(1, &["line 2: `99` is no id"]);
    assert_eq!(fs::read_to_string(out).unwrap().lines().count(), 1);
}

#[test]
fn the_best_segmentations() {
    let place = Place::new();
    let (model, text) = trained(&place, &[]);
    let two: String = text.split_inclusive('\n').take(2).collect();
    let nbest = regard_reading(&["tokenizer", "encode", "--model", &model, "--nbest", "3"], &two).ok();
    let fields: Vec<Vec<&str>> = nbest.lines().map(|line| line.split(" ||| ").collect()).collect();
    assert_eq!(fields.iter().map(|line| line[0]).collect::<Vec<_>>(), ["0", "0", "0", "1", "1", "1"]);
    let scores: Vec<f64> = fields.iter().map(|line| line[2].parse().unwrap()).collect();
    assert!(scores[0] >= scores[1] && scores[1] >= scores[2] && scores[2] < 0.0);
    let best = regard_reading(&["tokenizer", "encode", "--model", &model], &two).ok();
    assert_eq!(best.lines().next(), Some(fields[0][1]));
}

#[test]
fn wrong_calls_and_files() {
    let place = Place::new();
    let (model, _) = trained(&place, &[]);
    let text = place.at("text");
    let train = |size: &str, more: &[&str]| {
        let args =
            ["tokenizer", "train", &text, "--kind", "sentencepiece", "--vocabulary-size", size, "-o", &model];
        regard(&[args.as_slice(), more].concat())
    };
    train("9", &[]).fails_with(1, &["a vocabulary of 9 is too small", "choose at least"]);
    train("99999", &["--quiet"]).fails_with(1, &["too large for this text: choose at most"]);
    train("60", &["--character-coverage", "2"]).fails_with(2, &["--character-coverage 2"]);
    regard(&["tokenizer", "encode", "--model", &text])
        .fails_with(1, &["cannot be used as a SentencePiece model"]);
    let decode = ["tokenizer", "decode", "--model", &model, "--ids"];
    regard_reading(&decode, "1 2\n3 60\n").fails_with(1, &["line 2", "`60` is no id", "0 to 59"]);
    for call in [["--ids"].as_slice(), &["--codes", "x", "--model", "y"], &["--codes", "x", "--ids"]] {
        assert_eq!(regard(&[&["tokenizer", "encode"], call].concat()).status, Some(2));
    }
}

#[test]
fn a_recipe_trains_one_or_takes_one() {
    let place = Place::new();
    let recipe = place.recipe();
    let set = ["tokenizer.kind=sentencepiece", "training.updates=2"];
    let (learned, taken) = (place.at("learned"), place.at("taken"));
    train(
        &recipe,
        &learned,
        &[&set, ["tokenizer.vocabulary_size=80", "tokenizer.joint=false"].as_slice()].concat(),
    );
    let models = ["source", "target"].map(|side| format!("{learned}/{side}.spm"));
    let named =
        [format!("tokenizer.source_model={}", models[0]), format!("tokenizer.target_model={}", models[1])];
    train(&recipe, &taken, &[&set, named.each_ref().map(String::as_str).as_slice()].concat());
    for name in ["source.spm", "source.vocab.txt", "target.spm", "model.safetensors"] {
        let read = |directory: &str| fs::read(format!("{directory}/{name}")).unwrap();
        assert!(read(&learned) == read(&taken), "{name}");
    }
    // One file for both sides is read once: a pipe cannot be read again.
    let piped = place.at("piped");
    let both = ["tokenizer.source_model=/dev/stdin", "tokenizer.target_model=/dev/stdin"];
    let sets = [set, both].concat().into_iter().flat_map(|set| ["--set", set]).collect::<Vec<_>>();
    let call = ["train", &recipe, "--out", &piped, "--quiet"];
    regard_reading(&[call.as_slice(), &sets].concat(), fs::read(&models[0]).unwrap()).ok();
    for name in ["source.spm", "target.spm"] {
        assert!(fs::read(format!("{piped}/{name}")).unwrap() == fs::read(&models[0]).unwrap(), "{name}");
    }
    let input = "</s> <pad> ▁ <0x41>\n\n";
    assert_eq!(translate(&learned, &[], input).matches('\n').count(), 2);

    fs::write(format!("{taken}/target.spm"), b"x").unwrap();
    regard_reading(&["translate", &taken], input).fails_with(1, &["target.spm", "has 1 bytes"]);
}
