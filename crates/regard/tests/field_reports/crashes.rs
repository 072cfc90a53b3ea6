//! P11: a killed or failed write never costs the last good state.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use regard::model::checkpoint;
use regard::train::{Checkpoint, checkpoints};

use crate::common::{
    Place, assert_same_run, attention_model, corpus, finish, program, regard, regard_reading, train,
    translate, tree,
};

/// A checkpoint after each update, so that the program is nearly always writing.
const BUSY: [&str; 2] = ["--set", "training.checkpoint_every=1"];

/// The newest whole checkpoint of a run that was killed; none may be damaged, and the best model can be used.
fn newest_after_a_kill(run: &Path) -> u64 {
    if run.join("config.json").exists() {
        checkpoint::load(run).unwrap();
    }
    let Ok(checkpoint) = Checkpoint::newest(run) else { return 0 };
    assert!(checkpoint.skipped.is_empty(), "{:?}", checkpoint.skipped);
    checkpoint.state.progress.step
}

#[test]
fn p11_kill_in_the_middle_of_saves() {
    let place = Place::new();
    let recipe = place.recipe();
    let out = place.at("killed");
    let args = ["train", &recipe, "--out", &out, "--threads", "1", "--quiet", "--resume"];
    let endless = [args.as_slice(), &BUSY, &["--set", "training.updates=1000000"]].concat();
    let mut newest = 0;
    for kill in 0..30 {
        let mut child = program(&endless).spawn().unwrap();
        // At a moment of the start, or while the next checkpoints are written.
        let is_ahead = || checkpoints(Path::new(&out)).unwrap().iter().any(|(step, _)| *step > newest);
        let begin = Instant::now();
        while kill % 6 != 5 && !is_ahead() {
            assert!(begin.elapsed() < Duration::from_mins(1), "no checkpoint is written");
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(kill * 7 % 31));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = newest_after_a_kill(Path::new(&out));
        assert!(found > newest || (found == newest && kill % 6 == 5), "kill {kill}: {found} after {newest}");
        newest = found;
    }
    // What is left over is tidied, and the end is that of a run that nobody killed.
    let updates = format!("training.updates={}", newest + 3);
    regard(&[args.as_slice(), &BUSY, &["--set", &updates]].concat()).ok();
    let whole = place.at("whole");
    train(&recipe, &whole, &[&updates, BUSY[1]]);
    assert_same_run(&out, &whole);
}

#[test]
fn p11_left_over_files_are_ignored_and_tidied() {
    let place = Place::new();
    let recipe = place.recipe();
    let out = place.at("run");
    train(&recipe, &out, &["training.updates=10"]);
    for left in [".config.json.tmp", ".model.safetensors.tmp", ".training_log.jsonl.tmp"] {
        fs::write(format!("{out}/{left}"), "half").unwrap();
    }
    fs::create_dir(format!("{out}/checkpoints/.step-20.tmp")).unwrap();
    fs::write(format!("{out}/checkpoints/.step-20.tmp/model.safetensors"), "half").unwrap();
    translate(&out, &[], "the cat sleeps\n");
    regard(&["train", &recipe, "--out", &out, "--resume", "--quiet", "--set", "training.updates=20"]).ok();
    let whole = place.at("whole");
    train(&recipe, &whole, &["training.updates=20"]);
    // The step of the pause has a checkpoint that the run without a pause has not.
    fs::remove_dir_all(format!("{out}/checkpoints/step-10")).unwrap();
    assert_same_run(&out, &whole);
}

/// A file as a bad disk or a broken copy leaves it.
fn damage(path: &str, how: &str) {
    let mut bytes = fs::read(path).unwrap();
    match how {
        "half" => bytes.truncate(bytes.len() / 2),
        "empty" => bytes.clear(),
        _ => {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
        }
    }
    fs::write(path, bytes).unwrap();
}

#[test]
fn p11_a_damaged_checkpoint_is_named_and_the_one_before_it_taken() {
    let place = Place::new();
    let recipe = place.recipe();
    let whole = place.at("whole");
    let changes = ["training.updates=20", "training.checkpoint_every=10"];
    train(&recipe, &whole, &changes);
    for (file, how) in [
        ("model.safetensors", "half"),
        ("model.safetensors", "flip"),
        ("training_state.safetensors", "flip"),
        ("training_state.json", "empty"),
        ("config.json", "half"),
        ("source.vocab.txt", "flip"),
    ] {
        let out = place.at(&format!("{file}-{how}"));
        train(&recipe, &out, &changes);
        let newest = format!("{out}/checkpoints/step-20");
        damage(&format!("{newest}/{file}"), how);
        let args = ["train", &recipe, "--out", &out, "--resume", "--threads", "1"];
        let sets = changes.map(|change| ["--set", change]).concat();
        let ran = regard(&[args.as_slice(), &sets].concat());
        let first = ran.err.lines().next().unwrap().to_owned();
        assert!(first.starts_with(&newest) && first.contains("is damaged and left out: "), "{first}");
        assert!(first.contains(file), "{first}");
        assert!(ran.err.contains("continuing after update 10\n"), "{}", ran.err);
        ran.ok();
        assert_same_run(&out, &whole);
    }
    // None is left.
    for step in [10, 20] {
        damage(&format!("{whole}/checkpoints/step-{step}/model.safetensors"), "half");
    }
    let message = regard(&["train", &recipe, "--out", &whole, "--resume"]).fails(1);
    assert!(
        message.contains("no undamaged checkpoint") && message.contains("step-20/model.safetensors"),
        "{message}"
    );
    // The best model is a file of its own, and still there.
    translate(&whole, &[], "the cat sleeps\n");
}

#[test]
fn p11_a_full_disk_ends_with_an_error() {
    if !Path::new("/dev/full").exists() {
        println!("skipped: no /dev/full (p11_a_full_disk_ends_with_an_error)");
        return;
    }
    let place = Place::new();
    let [source, _] = corpus(3, 40, (3, 6));
    let file = place.write("source", &source);
    let codes = place.write("codes", "#version: 0.2\nt h\n");
    let model = attention_model();
    let full = ["/dev/full", "cannot", "No space left on device"];
    for input in ["the cat sleeps\n", &source] {
        regard_reading(&["translate", model, "-o", "/dev/full"], input).fails_with(1, &full);
    }
    regard(&["tokenizer", "train", &file, "-o", "/dev/full"]).fails_with(1, &full);
    regard(&["tokenizer", "encode", "--codes", &codes, "-i", &file, "-o", "/dev/full"]).fails_with(1, &full);
    regard(&["look", model, "the cat", "--svg", "/dev/full"]).fails_with(1, &full);
    // Standard output too: a list that is cut must not look like a whole one.
    let calls: [&[&str]; 5] = [
        &["translate", model, "-i", &file],
        &["score", model, "--src", &file, "--tgt", &file, "--json"],
        &["evaluate", &file, "--ref", &file],
        &["info", model],
        &["look", model, "the cat"],
    ];
    for args in calls {
        let mut command = program(args);
        command.stdout(File::options().write(true).open("/dev/full").unwrap());
        finish(command, b"").fails_with(1, &["standard output", "No space left on device"]);
    }
}

/// A file of a training run is larger than the system allows: what a full disk does, without one.
#[test]
fn p11_a_checkpoint_that_cannot_be_written_leaves_the_one_before() {
    let place = Place::new();
    let recipe = place.recipe();
    let out = place.at("run");
    train(&recipe, &out, &["training.updates=20"]);
    let before = tree(&out);
    let resume = |prefix: &str| {
        let program = env!("CARGO_BIN_EXE_regard");
        let script = format!(
            "{prefix} exec {program} train {recipe} --out {out} --resume --quiet --set training.updates=40"
        );
        let mut command = Command::new("sh");
        command.args(["-c", &script]);
        command.stdin(std::process::Stdio::piped());
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        finish(command, b"")
    };
    // 64 blocks of 512 bytes, or of 1024 in some shells; the weights need more.
    let message = resume("ulimit -f 64; trap '' XFSZ;").fails(1);
    assert!(message.contains(&out) && message.contains("File too large"), "{message}");
    let weights = |files: &std::collections::BTreeMap<_, Vec<u8>>| {
        let mut files = files.clone();
        files.retain(|path: &std::path::PathBuf, _| !path.ends_with("training_log.jsonl"));
        files
    };
    assert!(weights(&tree(&out)) == weights(&before), "the last good state is as it was");
    translate(&out, &[], "the cat sleeps\n");
    // With room again, it goes on.
    resume("").ok();
    let whole = place.at("whole");
    train(&recipe, &whole, &["training.updates=40"]);
    fs::remove_dir_all(format!("{out}/checkpoints/step-20")).unwrap();
    assert_same_run(&out, &whole);
}
