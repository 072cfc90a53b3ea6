//! P26: pipes.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::common::{Place, attention_model, corpus, json, program, regard_reading, translate};

/// How long a program that should answer at once may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// Someone who sends lines and waits for each answer.
struct Dialogue {
    child: Child,
    input: ChildStdin,
    answers: Receiver<String>,
}

impl Dialogue {
    fn with(args: &[&str]) -> Self {
        let mut child = program(args).spawn().unwrap();
        let (sender, answers) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || output.lines().try_for_each(|line| sender.send(line.unwrap())));
        let input = child.stdin.take().unwrap();
        Self { child, input, answers }
    }

    fn send(&mut self, bytes: &[u8]) {
        self.input.write_all(bytes).unwrap();
    }

    fn answer(&self) -> String {
        self.answers.recv_timeout(PATIENCE).unwrap()
    }

    fn end(mut self) {
        drop(self.input);
        assert!(self.answers.recv_timeout(PATIENCE).is_err(), "no line too many");
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn p26_each_line_is_answered_before_the_next_is_sent() {
    let [source, _] = corpus(5, 5, (3, 8));
    let place = Place::new();
    let codes = place.write("codes", "#version: 0.2\nt h\n");
    let model = attention_model();
    let calls: [&[&str]; 3] = [
        &["translate", model, "--threads", "1"],
        &["translate", model, "--threads", "1", "-i", "-", "-o", "-", "--batch-size", "64"],
        &["tokenizer", "encode", "--codes", &codes],
    ];
    for args in calls {
        let expected = crate::common::regard_reading(args, &source).ok();
        let mut dialogue = Dialogue::with(args);
        for (line, expected) in source.lines().zip(expected.lines()) {
            dialogue.send(format!("{line}\n").as_bytes());
            assert_eq!(dialogue.answer(), expected);
        }
        dialogue.end();
    }
}

#[test]
fn p26_half_a_character_waits_for_the_other_half() {
    let line = "the café cat\n";
    let expected = translate(attention_model(), &["--format", "jsonl"], line);
    let (first, rest) = line.as_bytes().split_at("the caf".len() + 1);
    let mut dialogue = Dialogue::with(&["translate", attention_model(), "--format", "jsonl"]);
    dialogue.send(first);
    std::thread::sleep(Duration::from_millis(100));
    assert!(dialogue.answers.try_recv().is_err());
    dialogue.send(rest);
    assert_eq!(dialogue.answer() + "\n", expected);
    dialogue.end();
}

#[test]
fn p26_a_fifo_is_a_file() {
    let place = Place::new();
    let [source, _] = corpus(6, 200, (3, 8));
    let file = place.write("file", &source);
    let fifo = place.at("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let model = attention_model();
    let (greedy, out) = (["--beam-size", "1"], place.at("out"));
    let expected = translate(model, &[&greedy, ["-i", &file].as_slice()].concat(), "");
    assert_eq!(expected.lines().count(), 200);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut fifo = File::options().write(true).open(&fifo).unwrap();
            // Pieces that end anywhere, with pauses in between.
            for piece in source.as_bytes().chunks(1501) {
                fifo.write_all(piece).unwrap();
                std::thread::sleep(Duration::from_millis(3));
            }
        });
        let options = [greedy.as_slice(), &["-i", &fifo, "-o", &out]].concat();
        assert_eq!(translate(model, &options, ""), "");
    });
    assert_eq!(fs::read_to_string(&out).unwrap(), expected);
}

#[test]
fn p26_translations_to_be_judged_may_come_from_a_pipe() {
    let place = Place::new();
    let [text, _] = corpus(6, 50, (3, 8));
    let file = place.write("file", &text);
    for command in [["evaluate", "-"].as_slice(), &["curve", "-", "--src", &file]] {
        let args = [command, &["--ref", &file, "--json"]].concat();
        let found = json(&regard_reading(&args, &text).ok());
        let score = found[0].get("score").unwrap_or(&found[0]["by_length"][0]["score"]);
        assert!((score.as_f64().unwrap() - 100.0).abs() < 1e-9, "{found}");
    }
}

/// Waits for the end of a program, and ends it where it works on.
fn wait_for_end(mut child: Child) -> (Option<i32>, String) {
    let begin = std::time::Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begin.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("it works on");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let mut said = String::new();
    if let Some(mut err) = child.stderr {
        err.read_to_string(&mut said).unwrap();
    }
    (status.code(), said)
}

#[test]
fn p26_a_closed_output_ends_the_work() {
    let mut child = program(&["translate", attention_model(), "--beam-size", "1"]).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    // An endless file: whoever does not notice that nobody reads would work for ever.
    let writer = std::thread::spawn(move || while input.write_all(b"the cat sleeps\n").is_ok() {});
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert!(line.ends_with('\n'));
    drop(output);
    assert_eq!(wait_for_end(child), (Some(0), String::new()));
    writer.join().unwrap();
}

#[test]
fn p26_messages_that_nobody_reads_cost_nothing() {
    let place = Place::new();
    let recipe = place.recipe();
    let out = place.at("run");
    let args = ["train", &recipe, "--out", &out, "--set", "training.updates=20"];
    let mut child = program(&args).spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(wait_for_end(child).0, Some(0));
    assert!(fs::exists(format!("{out}/checkpoints/step-20/config.json")).unwrap());
    // An error is still an error.
    let mut child = program(&args).spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(wait_for_end(child).0, Some(1));
}
