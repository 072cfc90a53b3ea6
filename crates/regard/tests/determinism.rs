//! Same seed, same bytes: whatever the threads, the pauses, the batches and the order of the lines.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::process::Child;
use std::time::{Duration, Instant};

use common::{
    Place, assert_same_run, attention_model, corpus, json, json_lines, program, regard, strings, train,
    translate,
};
use regard::demo::grammar;

/// Everything that a checkpoint must remember: noise of every kind, a moving average, a schedule that waits for better
/// scores, two batches an update, a best score by BLEU, and words of the model's own. 300 pairs make 19 updates an epoch.
const CHANGES: [&str; 18] = [
    "tokenizer.kind=bpe",
    "tokenizer.merges=60",
    "data.valid_source=valid.en",
    "data.valid_target=valid.fr",
    "model.dropout=0.2",
    "model.recurrent_dropout=0.1",
    "model.word_dropout=0.1",
    "training.batch_sentences=8",
    "training.accumulate=2",
    "training.ema=0.9",
    "training.validate_every=40",
    "training.checkpoint_every=30",
    "training.schedule={kind=\"plateau\", learning_rate=0.01, patience=1}",
    "training.sampling={kind=\"linear\", slope=0.002}",
    "validation.metric=bleu",
    "validation.beam_size=2",
    "validation.max_lines=4",
    "data.max_length=60",
];

/// The arguments of a run of so many updates.
fn arguments<'a>(recipe: &'a str, out: &'a str, updates: &'a str) -> Vec<&'a str> {
    let mut args = vec!["train", recipe, "--out", out, "--quiet", "--set", updates];
    args.extend(CHANGES.iter().flat_map(|change| ["--set", change]));
    args
}

fn run(recipe: &str, out: &str, updates: &str, more: &[&str]) {
    regard(&[arguments(recipe, out, updates).as_slice(), more].concat()).ok();
}

fn recipe(place: &Place) -> String {
    let [source, target] = corpus(2, 6, (3, 8));
    place.write("valid.en", source);
    place.write("valid.fr", target);
    place.recipe()
}

#[test]
fn training_in_one_go_or_in_two_or_on_two_threads() {
    let place = Place::new();
    let recipe = recipe(&place);
    let [whole, halves, threads] = ["whole", "halves", "threads"].map(|name| place.at(name));
    run(&recipe, &whole, "training.updates=200", &["--threads", "1"]);

    run(&recipe, &halves, "training.updates=100", &["--threads", "1"]);
    let state = fs::read_to_string(format!("{halves}/checkpoints/step-100/training_state.json")).unwrap();
    let progress = &json(&state)["state"]["progress"];
    assert_eq!(progress["step"], 100);
    assert_ne!(progress["batch"], 0, "the pause is in the middle of an epoch");
    run(&recipe, &halves, "training.updates=200", &["--threads", "1", "--resume"]);
    assert_same_run(&halves, &whole);
    // What has been finished is left as it is.
    run(&recipe, &halves, "training.updates=200", &["--threads", "1", "--resume"]);
    assert_same_run(&halves, &whole);

    run(&recipe, &threads, "training.updates=200", &["--threads", "2"]);
    assert_same_run(&threads, &whole);

    let other = place.at("other");
    run(&recipe, &other, "training.updates=30", &["--threads", "1", "--seed", "4"]);
    let weights = |out: &str| fs::read(format!("{out}/model.safetensors")).unwrap();
    assert_ne!(weights(&other), weights(&whole));
}

/// Waits for the first report of a run, at most a minute.
fn wait_for_report(child: &mut Child, out: &str, records: usize) {
    let begin = Instant::now();
    let count =
        || fs::read_to_string(format!("{out}/training_log.jsonl")).map_or(0, |log| log.lines().count());
    while count() < records {
        assert!(begin.elapsed() < Duration::from_mins(1) && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The number of updates in the newest checkpoint.
fn newest_step(out: &str) -> u64 {
    let names = fs::read_dir(format!("{out}/checkpoints")).unwrap().map(|entry| entry.unwrap().file_name());
    names.map(|name| name.to_str().unwrap().strip_prefix("step-").unwrap().parse().unwrap()).max().unwrap()
}

#[test]
fn signals_save_and_end_and_the_run_goes_on_to_the_same_bytes() {
    let place = Place::new();
    let recipe = recipe(&place);
    let out = place.at("stopped");
    let mut done = 0;
    for signal in ["INT", "TERM"] {
        // A run without an end, which goes on where it was stopped.
        let mut args = arguments(&recipe, &out, "training.updates=1000000");
        args.retain(|arg| *arg != "--quiet");
        args.extend(["--resume", "--threads", "1"]);
        let mut child = program(&args).spawn().unwrap();
        wait_for_report(&mut child, &out, done as usize / 10 + 2);
        std::process::Command::new("kill")
            .args([format!("-{signal}"), child.id().to_string()])
            .status()
            .unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let step = newest_step(&out);
        assert!(step > done);
        let message = format!("interrupted after {step} updates; continue with --resume --out {out}\n");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.ends_with(&message), "{said}");
        done = step;
    }
    // Far enough that the checkpoints of the interruptions are older than those that stay.
    let updates = format!("training.updates={}", (done / 30 + 2) * 30);
    run(&recipe, &out, &updates, &["--threads", "1", "--resume"]);
    let whole = place.at("whole");
    run(&recipe, &whole, &updates, &["--threads", "1"]);
    assert_same_run(&out, &whole);
}

/// 50 lines of 1 to 60 words.
fn lines() -> Vec<String> {
    let line = |index: usize| {
        let words = 1 + index * 59 / 49;
        grammar::generate(9, index as u64, words, words).source[..words].join(" ")
    };
    (0..50).map(line).collect()
}

#[test]
fn a_line_gives_the_same_bytes_whatever_surrounds_it() {
    let model = attention_model();
    let lines = lines();
    let text = lines.join("\n") + "\n";
    let all = ["--format", "jsonl", "--attention", "--beam-size", "3", "--n-best", "3"];
    let with = |more: &[&str], input: &str| {
        let args = [&["translate", model], all.as_slice(), more].concat();
        common::regard_reading(&args, input).ok()
    };
    let reference = with(&["--threads", "1"], &text);
    let records = json_lines(&reference);
    assert_eq!(records.len(), 50);
    for (batch, threads) in [("1", "1"), ("2", "2"), ("7", "1"), ("7", "2"), ("50", "2"), ("50", "1")] {
        let found = with(&["--batch-size", batch, "--threads", threads], &text);
        assert!(found == reference, "batches of {batch} on {threads} threads");
    }
    assert_eq!(with(&["--threads", "1"], &text), reference, "the same call twice");

    // In another order, and then back; 37 has no factor in common with 50.
    let place = |index: usize| index * 37 % 50;
    let shuffled: String = (0..50).map(|index| lines[place(index)].clone() + "\n").collect();
    let found = with(&["--batch-size", "7", "--threads", "2"], &shuffled);
    let without_id = |line: &str| line.split_once(',').unwrap().1.to_owned();
    let reference: Vec<String> = reference.lines().map(without_id).collect();
    for (index, line) in found.lines().enumerate() {
        assert_eq!(without_id(line), reference[place(index)]);
    }

    // Text alone is the first of the list.
    let best =
        |record: &serde_json::Value| record["translations"][0]["text"].as_str().unwrap().to_owned() + "\n";
    let expected: String = records.iter().map(best).collect();
    assert_eq!(translate(model, &["--beam-size", "3", "--batch-size", "50"], &text), expected);
    let lengths = |record: &serde_json::Value| strings(&record["translations"][0]["tokens"]).len();
    assert!(records.iter().map(lengths).max().unwrap() > 10, "long lines have long translations");
}

#[test]
fn training_again_gives_the_same_bytes() {
    let place = Place::new();
    let recipe = place.recipe();
    let [one, two] = ["one", "two"].map(|name| place.at(name));
    for out in [&one, &two] {
        train(&recipe, out, &["training.updates=12", "tokenizer.kind=character"]);
    }
    assert_same_run(&one, &two);
}

#[test]
fn translations_in_8_bits_have_the_same_bytes_whatever_surrounds_a_line() {
    let text = lines().join("\n") + "\n";
    for model in [attention_model(), common::transformer_model()] {
        let with = |more: &[&str]| {
            let args = [&["translate", model, "--format", "jsonl", "--beam-size", "3"], more].concat();
            common::regard_reading(&args, &text).ok()
        };
        let int8 = with(&["--int8", "--threads", "1"]);
        for (batch, threads) in [("1", "1"), ("7", "2"), ("50", "1")] {
            let found = with(&["--int8", "--batch-size", batch, "--threads", threads]);
            assert!(found == int8, "{model}: batches of {batch} on {threads} threads");
        }
        // Forced decoding in 8 bits gives the very scores.
        let place = Place::new();
        let file = place.write("translations.jsonl", &int8);
        let scored = json(&regard(&["score", model, "--translations", &file, "--int8", "--json"]).ok());
        for (line, record) in scored["lines"].as_array().unwrap().iter().zip(json_lines(&int8)) {
            assert_eq!(line["log_prob"], record["translations"][0]["log_prob"], "{model}");
        }
        // Nearly what f32 gives: the probability of the same words changes a little.
        let (int8, exact) = (json_lines(&int8), json_lines(&with(&[])));
        let best = |record: &serde_json::Value, what: &str| record["translations"][0][what].clone();
        let same: Vec<f64> = int8
            .iter()
            .zip(&exact)
            .filter(|(a, b)| best(a, "text") == best(b, "text"))
            .map(|(a, b)| {
                let length = best(b, "length").as_f64().unwrap();
                let [a, b] = [a, b].map(|record| best(record, "log_prob").as_f64().unwrap());
                (a - b).abs() / length
            })
            .collect();
        assert!(same.len() >= 40, "{model}: {} of 50 lines are the same", same.len());
        let mean = same.iter().sum::<f64>() / same.len() as f64;
        assert!(mean > 1e-5 && mean < 0.05, "{model}: {mean}");
    }
}

#[test]
fn training_in_bf16_in_one_go_or_in_two_or_on_two_threads() {
    let place = Place::new();
    let recipe = recipe(&place);
    let [whole, halves, threads, exact] = ["whole", "halves", "threads", "exact"].map(|name| place.at(name));
    let bf16 = ["--set", "training.precision=bf16"];
    let with = |more: &[&'static str]| [more, bf16.as_slice()].concat();
    run(&recipe, &whole, "training.updates=60", &with(&["--threads", "1"]));
    run(&recipe, &halves, "training.updates=30", &with(&["--threads", "2"]));
    run(&recipe, &halves, "training.updates=60", &with(&["--threads", "1", "--resume"]));
    assert_same_run(&halves, &whole);
    run(&recipe, &threads, "training.updates=60", &with(&["--threads", "2"]));
    assert_same_run(&threads, &whole);

    run(&recipe, &exact, "training.updates=60", &[]);
    let loss = |out: &str| {
        let log = fs::read_to_string(format!("{out}/training_log.jsonl")).unwrap();
        json_lines(&log).last().unwrap()["loss"].as_f64().unwrap()
    };
    let (rounded, exact_loss) = (loss(&whole), loss(&exact));
    assert!(rounded.to_bits() != exact_loss.to_bits() && (rounded - exact_loss).abs() < 0.05 * exact_loss);

    let other = [arguments(&recipe, &whole, "training.updates=90").as_slice(), &["--resume"]].concat();
    regard(&other).fails_with(1, &["precision = bf16", "has f32"]);
}
