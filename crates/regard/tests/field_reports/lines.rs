//! Lines in, lines out.

use std::fs;

use crate::common::{
    Place, assert_same_run, attention_model, corpus, json, json_lines, regard, regard_reading, strings,
    train, translate,
};

/// Four lines, whatever other programs take for the end of one.
const P01: &str = "one\u{2028}two\nthree\u{c}four\nfive\u{85}six\nseven\reight\n";

#[test]
fn p01_only_lf_ends_a_line() {
    let place = Place::new();
    let recipe = place.recipe();
    let file = place.write("p01", P01);
    let model = attention_model();

    for text in [P01, P01.trim_end()] {
        assert_eq!(translate(model, &[], text).matches('\n').count(), 4);
        let records = json_lines(&translate(model, &["--format", "jsonl"], text));
        let sources: Vec<&str> = records.iter().map(|record| record["source"].as_str().unwrap()).collect();
        assert_eq!(sources, P01.trim_end().split('\n').collect::<Vec<_>>());
    }
    let scores = json(&regard(&["score", model, "--src", &file, "--tgt", &file, "--json"]).ok());
    assert_eq!(scores["lines"].as_array().unwrap().len(), 4);
    let bleu = json(&regard(&["evaluate", &file, "--ref", &file, "--json", "--sentence"]).ok());
    assert_eq!(bleu[0]["sentences"].as_array().unwrap().len(), 4);

    // Training text, vocabulary and merge files.
    place.write("train.en", P01);
    place.write("train.fr", P01);
    let said = train(&recipe, &place.at("run"), &["training.updates=1"]);
    assert!(said.contains("train.en: 4 pairs of 4 lines; "), "{said}");
    let vocabulary = fs::read_to_string(place.at("run/source.vocab.txt")).unwrap();
    let words: Vec<&str> = vocabulary.trim_end().split('\n').skip(4).collect();
    assert_eq!(words, ["five\u{85}six", "one\u{2028}two", "seven\reight", "three\u{c}four"]);

    let twice = place.write("twice", P01.repeat(2));
    let codes = place.at("codes");
    let said = regard(&["tokenizer", "train", &twice, "-o", &codes]).err;
    let (merges, rest) = said.split_once(' ').unwrap();
    assert!(rest.starts_with("merges of 8 lines "), "{said}");
    let written = fs::read_to_string(&codes).unwrap();
    assert_eq!(written.matches('\n').count(), 1 + merges.parse::<usize>().unwrap());
    assert!(written.contains('\u{2028}') && written.contains('\r') && written.contains('\u{85}'));
    let encoded = regard_reading(&["tokenizer", "encode", "--codes", &codes], P01).ok();
    assert_eq!(encoded, P01);
    assert_eq!(regard_reading(&["tokenizer", "decode", "--codes", &codes], encoded).ok(), P01);
}

#[test]
fn p02_blank_lines_keep_their_place_and_stay_blank() {
    let text = "\nhello\n   \n\t\n\u{a0}\nworld\n";
    let model = attention_model();
    let is_blank = [true, false, true, true, true, false];
    let found = translate(model, &[], text);
    assert_eq!(found.split('\n').count(), 7);
    for (line, blank) in found.split('\n').zip(is_blank) {
        assert_eq!(line.is_empty(), blank, "{found}");
    }
    let options = ["--format", "jsonl", "--n-best", "3", "--attention"];
    let records = json_lines(&translate(model, &options, text));
    assert_eq!(records.len(), 6);
    for ((id, record), blank) in records.iter().enumerate().zip(is_blank) {
        assert_eq!(record["id"], id);
        let entries = record["translations"].as_array().unwrap();
        assert_eq!(entries.len(), if blank { 1 } else { 3 });
        if blank {
            assert_eq!((&entries[0]["text"], &entries[0]["length"]), (&"".into(), &0.into()));
            assert_eq!(strings(&entries[0]["tokens"]), [""; 0]);
        }
    }
    let moses = translate(model, &["--n-best", "2"], text);
    assert!(moses.starts_with("0 |||  ||| F0= 0.000000 ||| 0.000000\n1 ||| "), "{moses}");
}

#[test]
fn p02_blank_lines_in_a_long_file() {
    let model = attention_model();
    let [sentences, _] = corpus(4, 5, (3, 6));
    let sentences: Vec<&str> = sentences.lines().collect();
    let expected = translate(model, &["--beam-size", "1"], sentences.join("\n"));
    let expected: Vec<&str> = expected.lines().collect();
    let different: std::collections::BTreeSet<_> = expected.iter().collect();
    assert!(different.len() >= 3, "a shift by one line would be seen");
    let pick = |from: &[&str]| -> String {
        (0..1300)
            .map(|line| if line % 4 == 0 { "\n".to_owned() } else { from[line % 5].to_owned() + "\n" })
            .collect()
    };
    let input = pick(&sentences);
    let output = pick(&expected);
    for read_ahead in ["1", "16", "1024"] {
        let found = translate(model, &["--beam-size", "1", "--batch-size", read_ahead], &input);
        assert!(found == output, "batches of {read_ahead}");
    }
}

#[test]
fn p02_a_pair_with_a_blank_side_is_skipped_and_shifts_nothing() {
    let place = Place::new();
    let recipe = place.recipe();
    let plain = place.at("plain");
    train(&recipe, &plain, &["training.updates=5"]);
    let with_blanks = |name: &str, blanks: [&str; 2]| {
        let lines = fs::read_to_string(place.at(name)).unwrap();
        let line = |(index, line): (usize, &str)| match index % 100 {
            7 => format!("{}\n{line}\n", blanks[0]),
            57 => format!("{}\n{line}\n", blanks[1]),
            _ => format!("{line}\n"),
        };
        place.write(name, lines.lines().enumerate().map(line).collect::<String>());
    };
    with_blanks("train.en", ["\u{a0}", "only here"]);
    with_blanks("train.fr", ["seulement ici", " \t"]);
    let said = train(&recipe, &place.at("blanks"), &["training.updates=5"]);
    assert!(said.contains("train.en: 300 pairs of 306 lines; left out: 6 with a blank side, "), "{said}");
    assert_same_run(&place.at("blanks"), &plain);
}

#[test]
fn p16_files_from_windows_are_their_twins() {
    let place = Place::new();
    let recipe = place.recipe();
    let windows = "\u{feff}hello world\r\nred \"sky\r\n";
    let unix = "hello world\nred \"sky\n";
    for (name, text) in [("windows", windows), ("unix", unix)] {
        place.write("train.en", text);
        place.write("train.fr", text);
        train(&recipe, &place.at(name), &["training.updates=3"]);
    }
    assert_same_run(&place.at("windows"), &place.at("unix"));
    let vocabulary = fs::read_to_string(place.at("windows/source.vocab.txt")).unwrap();
    assert_eq!(vocabulary, "<pad>\n<unk>\n<s>\n</s>\n\"sky\nhello\nred\nworld\n");
    for model in [attention_model(), &place.at("unix")] {
        let options = ["--format", "jsonl"];
        assert_eq!(translate(model, &options, windows), translate(model, &options, unix));
    }
}

#[test]
fn p16_damaged_corpora() {
    let place = Place::new();
    let recipe = place.recipe();
    let out = place.at("run");
    let train_on = |source: &[u8], target: &[u8]| {
        place.write("train.en", source);
        place.write("train.fr", target);
        regard(&["train", &recipe, "--out", &out, "--set", "training.updates=1", "--quiet"])
    };
    train_on(b"a\nb\nc\n", b"x\ny\n").fails_with(1, &["train.en has 3 lines", "train.fr has 2"]);
    train_on(b"good\nb\xff\xfed\n", b"x\ny\n").fails_with(1, &["train.en:2: not valid UTF-8"]);
    assert!(!fs::exists(&out).unwrap(), "nothing was begun");

    // NUL is a character, and ends nothing.
    train_on(b"a\x00b c\nd\n", b"x\ny\n").ok();
    let vocabulary = fs::read_to_string(place.at("run/source.vocab.txt")).unwrap();
    assert!(vocabulary.split('\n').any(|word| word == "a\0b") && vocabulary.contains("\nd\n"));
    assert_eq!(translate(attention_model(), &[], "a\0b\nthe cat\n").lines().count(), 2);

    // Quotes mean nothing in plain TSV.
    place.write("pairs.tsv", "\"tall\tlang\nsmall\tklein\n");
    let recipe = place.write(
        "tsv.toml",
        "[data]\npairs = \"pairs.tsv\"\n[tokenizer]\nkind = \"word\"\n[model]\nencoder.hidden = 8\n[training]\nupdates = 1\n",
    );
    let said = train(&recipe, &place.at("tsv"), &[]);
    assert!(said.contains("pairs.tsv: 2 pairs of 2 lines; "), "{said}");
    let vocabulary = fs::read_to_string(place.at("tsv/source.vocab.txt")).unwrap();
    assert!(vocabulary.ends_with("\n\"tall\nsmall\n"), "{vocabulary}");
}

#[test]
fn p21_the_locale_changes_nothing() {
    let place = Place::new();
    let line = "é 日本";
    let text = place.write("text", format!("{line}\nthe cat\n"));
    let codes = place.at("codes");
    regard(&["tokenizer", "train", &text, "--quiet", "--min-frequency", "1", "-o", &codes]).ok();
    let model = attention_model();
    let calls: [&[&str]; 10] = [
        &["translate", model, "-i", &text],
        &["translate", model, "-i", &text, "--format", "jsonl", "--attention", "--n-best", "2"],
        &["score", model, "--src", &text, "--tgt", &text],
        &["score", model, "--src", &text, "--tgt", &text, "--json"],
        &["evaluate", &text, "--ref", &text, "--json", "--sentence"],
        &["evaluate", &text, "--ref", &text, "--src", &text, "--by-length"],
        &["look", model, line],
        &["info", model, "--json"],
        &["tokenizer", "encode", "--codes", &codes, "-i", &text],
        &["look", model, line, "--json"],
    ];
    let locales: [&[(&str, &str)]; 3] = [
        &[("LC_ALL", "C"), ("LANG", "C")],
        &[("LC_ALL", "de_DE.UTF-8"), ("LC_NUMERIC", "de_DE.UTF-8"), ("LANG", "de_DE.UTF-8")],
        &[],
    ];
    for args in calls {
        let outputs = locales.map(|locale| {
            let mut command = crate::common::program(args);
            command.env_clear().envs(locale.iter().copied());
            let ran = crate::common::finish(command, b"");
            (ran.err.clone(), ran.ok())
        });
        assert!(outputs.iter().all(|output| *output == outputs[0]), "{args:?}: {outputs:?}");
        let (_, output) = &outputs[0];
        let has_text = args.contains(&line) || args.contains(&"jsonl") || args.contains(&"encode");
        assert!(!has_text || (output.contains('é') && output.contains("日")), "{output}");
    }
}
