//! Corpora in every form, several of them, and from a cache: the same pairs train the same bytes.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use common::{Place, assert_same_run, program, regard, train};
use serde_json::json;

const FILES: &str = "source = \"train.en\"\ntarget = \"train.fr\"\n";
const UPDATES: &str = "training.updates=12";

/// A recipe like the usual one whose `[data]` begins with this.
fn recipe_with(place: &Place, name: &str, data: &str) -> String {
    let text = fs::read_to_string(place.recipe()).unwrap();
    assert!(text.contains(FILES));
    place.write(name, text.replace(FILES, data))
}

fn pairs(place: &Place) -> Vec<(String, String)> {
    let [source, target] = ["train.en", "train.fr"].map(|name| fs::read_to_string(place.at(name)).unwrap());
    source.lines().zip(target.lines()).map(|(a, b)| (a.to_owned(), b.to_owned())).collect()
}

fn join(pairs: &[(String, String)], line: impl Fn(usize, &str, &str) -> String) -> String {
    pairs.iter().enumerate().map(|(place, (source, target))| line(place, source, target) + "\n").collect()
}

#[test]
fn every_form_gives_the_same_run() {
    let place = Place::new();
    let whole = place.at("whole");
    train(&place.recipe(), &whole, &[UPDATES]);
    let pairs = pairs(&place);
    place.write("a.tsv", join(&pairs, |place, source, target| format!("{place}\t{target}\t{source}\r")));
    place.write(
        "a.jsonl",
        join(&pairs, |_, source, target| json!({"source": source, "target": target}).to_string()),
    );
    let nested =
        join(&pairs, |_, source, target| json!({"translation": {"en": source, "fr": target}}).to_string());
    place.write("nested.txt", "\u{feff}".to_owned() + &nested);
    let cases = [
        ("tsv", "pairs = \"a.tsv\"\ncolumns = [2, 1]\n"),
        ("jsonl", "pairs = \"a.jsonl\"\n"),
        (
            "nested",
            "pairs = \"nested.txt\"\nformat = \"jsonl\"\nfields = [\"translation.en\", \"translation.fr\"]\n",
        ),
        ("cached", "cache = \"cache\"\nsource = \"train.en\"\ntarget = \"train.fr\"\n"),
    ];
    for (name, data) in cases {
        let recipe = recipe_with(&place, "other.toml", data);
        train(&recipe, &place.at(name), &[UPDATES]);
        assert_same_run(&place.at(name), &whole);
    }
    let recipe = recipe_with(&place, "other.toml", "pairs = \"-\"\nformat = \"jsonl\"\n");
    let args = ["train", &recipe, "--out", &place.at("stdin"), "--threads", "1", "--set", UPDATES];
    common::finish(program(&args), &fs::read(place.at("a.jsonl")).unwrap()).ok();
    assert_same_run(&place.at("stdin"), &whole);
}

#[test]
fn what_is_wrong_is_named() {
    let place = Place::new();
    let out = place.at("out");
    let fails = |data: &str, parts: &[&str]| {
        let recipe = recipe_with(&place, "bad.toml", data);
        regard(&["train", &recipe, "--out", &out, "--quiet"]).fails_with(1, parts);
        assert!(!fs::exists(&out).unwrap());
    };
    place.write("bad.jsonl", "{\"source\": \"a\", \"target\": \"b\"}\n{\"source\": \"a\"}\n");
    fails("pairs = \"bad.jsonl\"\n", &["bad.jsonl:2: no field `target`; what is there: source"]);
    fails("pairs = \"bad.jsonl\"\ncache = \"cache\"\n", &["bad.jsonl:2: no field `target`"]);
    place.write("doubled.jsonl", "{\"source\": \"a\", \"target\": \"b\", \"source\": \"c\"}\n");
    fails("pairs = \"doubled.jsonl\"\n", &["doubled.jsonl:1: the field `source` comes twice: remove one"]);
    place.write("few.tsv", "a\tb\nc\n");
    for cache in ["few.tsv", "few.tsv/cache"] {
        let data = format!("pairs = \"few.tsv\"\ncache = \"{cache}\"\n");
        fails(&data, &["data.cache: ", "few.tsv is a file: name a directory"]);
    }
    fails("pairs = \"few.tsv\"\n", &["few.tsv:2: no column 1 (counted from 0): the line has 1"]);
    place.write("blank.tsv", "\tb\n \tc\n");
    fails("pairs = \"blank.tsv\"\n", &["blank.tsv: no pair with text on both sides (2 lines"]);
    fails("pairs = \"blank.tsv\"\ncache = \"cache\"\n", &["blank.tsv: no pair with text on both sides"]);
    fails("pairs = \"gone.tsv\"\ncache = \"cache\"\n", &["gone.tsv: cannot be read: No such file"]);
    let corpora = "[[data.corpora]]\npairs = \"few.tsv\"\ntags = [\"no brackets\"]\n";
    let recipe = place.write("tags.toml", format!("{corpora}[training]\nupdates = 1\n"));
    place.write("few.tsv", "a\tb\n");
    regard(&["train", &recipe, "--out", &out, "--quiet"])
        .fails_with(1, &["tag `no brackets`: write it as <NAME>"]);
    #[cfg(not(feature = "parquet"))]
    fails(
        "pairs = \"a.parquet\"\n",
        &["a.parquet: this program was built without Parquet", "--features parquet"],
    );
}

/// Two corpora with tags, of unequal weight, with pairs that the filters leave out.
fn corpora(place: &Place) -> String {
    let pairs = pairs(place);
    let (first, second) = pairs.split_at(200);
    let line = |_, source: &str, target: &str| format!("{source}\t{target}");
    place.write("first.tsv", join(first, line) + "same\tsame\n" + &join(&first[..3], line));
    place.write(
        "second.tsv",
        "\tblank\n".to_owned() + &join(second, line) + &join(&first[..5], line) + "a b c d\te\n",
    );
    let data = "filters = { max_length = 9, max_ratio = 3.0, duplicates = true, identical = true }\n\
                valid_source = \"train.en\"\nvalid_target = \"train.fr\"\nvalid_tags = [\"<2fr>\"]\n";
    let corpora = "[[data.corpora]]\npairs = \"first.tsv\"\nweight = 0.5\ntags = [\"<2fr>\"]\n\
                   [[data.corpora]]\npairs = \"second.tsv\"\nweight = 2\ntags = [\"<2fr>\", \"<BT>\"]\n";
    let recipe = recipe_with(place, "corpora.toml", data);
    let text = fs::read_to_string(&recipe).unwrap();
    place.write("corpora.toml", text + corpora)
}

#[test]
fn several_corpora_with_and_without_a_cache() {
    let place = Place::new();
    place.recipe();
    let recipe = corpora(&place);
    let [memory, first, second, threads] =
        ["memory", "first", "second", "threads"].map(|name| place.at(name));
    let changes = [UPDATES, "validation.max_lines=9"];
    let said = train(&recipe, &memory, &changes);
    assert!(said.contains("first.tsv: "), "{said}");
    let reports: Vec<&str> = said.lines().filter(|line| line.contains("left out:")).collect();
    let [one, two] = reports[..] else { panic!("{said}") };
    // Some sentences of the grammar come twice by themselves.
    let pairs = pairs(&place);
    let doubled = |end: usize| end - pairs[..end].iter().collect::<BTreeSet<_>>().len();
    let (first_doubled, second_doubled) = (doubled(200) + 3, doubled(300) - doubled(200) + 5);
    let expected =
        format!("of 204 lines; left out: 0 with a blank side, 1 identical, {first_doubled} duplicates");
    assert!(one.contains(&expected), "{one}");
    let expected =
        format!("of 107 lines; left out: 1 with a blank side, 0 identical, {second_doubled} duplicates");
    assert!(two.contains(&expected), "{two}");
    assert!(two.contains("1 with a length ratio above 3") && two.contains(" longer than 9 tokens"), "{two}");

    let cache = "data.cache=\"cache\"";
    let said = train(&recipe, &first, &[&changes[..], &[cache]].concat());
    assert!(said.contains(one) && said.contains(two) && said.contains("are in the cache"), "{said}");
    assert_same_run(&first, &memory);
    let said = train(&recipe, &second, &[&changes[..], &[cache]].concat());
    assert!(said.contains("using the tokenizers of the cache"), "{said}");
    assert!(said.contains("using the cache of ") && said.contains(one), "{said}");
    assert_same_run(&second, &memory);
    let mut args = vec!["train", &recipe, "--out", &threads, "--threads", "2", "--set", cache];
    args.extend(changes.iter().flat_map(|change| ["--set", change]));
    regard(&args).ok();
    assert_same_run(&threads, &memory);
    // The tags are the model's.
    let settings = fs::read_to_string(Path::new(&memory).join("source.tokenizer.json")).unwrap();
    assert!(settings.contains("<2fr>") && settings.contains("<BT>"), "{settings}");
}

#[test]
fn a_cache_is_found_by_what_it_was_made_from() {
    let place = Place::new();
    let recipe = place.recipe();
    let cache = "data.cache=\"cache\"";
    let run = |name: &str, changes: &[&str]| {
        train(&recipe, &place.at(name), &[&["training.updates=2", cache], changes].concat())
    };
    let cached = |said: &str| said.contains("using the cache of");
    assert!(!cached(&run("1", &[])));
    assert!(cached(&run("2", &["training.batch_sentences=9"])));
    assert!(!cached(&run("3", &["data.filters.max_length=7"])));
    assert!(!cached(&run("4", &["tokenizer.vocabulary_size=20"])));
    assert!(cached(&run("5", &[])));
    // Damage is seen and mended.
    let files: Vec<_> = fs::read_dir(place.at("cache")).unwrap().map(|entry| entry.unwrap().path()).collect();
    for file in &files {
        let file = if file.is_dir() { file.join("source.vocab.txt") } else { file.clone() };
        let mut bytes = fs::read(&file).unwrap();
        let place = bytes.len() / 2;
        bytes[place] ^= 1;
        fs::write(&file, bytes).unwrap();
    }
    let said = run("6", &[]);
    assert!(!cached(&said) && said.matches("cannot be used as a cache").count() == 2, "{said}");
    assert_same_run(&place.at("6"), &place.at("1"));
    assert!(cached(&run("7", &[])));
    // Other text, and a run that goes on with it is refused.
    let text = fs::read_to_string(place.at("train.en")).unwrap();
    place.write("train.en", text + "the cat\n");
    let target = fs::read_to_string(place.at("train.fr")).unwrap();
    place.write("train.fr", target + "le chat\n");
    assert!(!cached(&run("8", &[])));
    let resume = |run: &str, quiet: &[&str]| {
        let out = place.at(run);
        let args =
            ["train", &recipe, "--out", &out, "--resume", "--set", "training.updates=4", "--set", cache];
        regard(&[&args, quiet].concat())
    };
    resume("1", &["--quiet"]).fails_with(1, &["number of training pairs = 300, this run has 301"]);
    assert!(files.iter().all(|file| file.exists()));
    let ran = resume("8", &[]);
    assert!(cached(&ran.err), "{}", ran.err);
    ran.ok();
}

#[test]
fn text_is_cut_anew_in_each_epoch_and_resumed_as_it_was() {
    let place = Place::new();
    let recipe = place.recipe();
    let bpe = ["tokenizer.kind=bpe", "tokenizer.merges=60", "training.batch_sentences=16"];
    let run = |name: &str, more: &[&str]| {
        train(&recipe, &place.at(name), &[&bpe, more].concat());
        fs::read(Path::new(&place.at(name)).join("model.safetensors")).unwrap()
    };
    let plain = run("plain", &["training.updates=40"]);
    // An epoch has 19 updates.
    let dropped = ["tokenizer.dropout=0.3", "training.updates=40"];
    let whole = run("whole", &dropped);
    assert_ne!(plain.len(), whole.len(), "the vocabulary has pieces that only dropout makes");
    run("parts", &["tokenizer.dropout=0.3", "training.updates=25"]);
    let arguments = ["--resume", "--set", "tokenizer.dropout=0.3", "--set", "training.updates=40"];
    let settings: Vec<&str> = bpe.iter().flat_map(|setting| ["--set", setting]).collect();
    let out = place.at("parts");
    let call = [&["train", &recipe, "--out", &out][..], &settings, &arguments].concat();
    regard(&call).ok();
    assert!(fs::read(Path::new(&out).join("model.safetensors")).unwrap() == whole);
    let other = ["--resume", "--quiet", "--set", "tokenizer.dropout=0.2", "--set", "training.updates=50"];
    let message = regard(&[&["train", &recipe, "--out", &out][..], &settings, &other].concat()).fails(1);
    assert!(message.contains("resampling = Dropout(0.3), this run has Dropout(0.2)"), "{message}");
}
