//! A run that stops and resumes leaves the bytes of one that does not.
#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

mod common;

use std::fs;
use std::path::Path;

use common::{bits, files, pairs, train, train_in_memory, training_config};
use regard_tensor::Threads;
use regard_train::{Checkpoint, Outcome, Silent, TrainError, Trainer, TrainingConfig, checkpoints};

fn steps(directory: &Path) -> Vec<u64> {
    checkpoints(directory).unwrap().into_iter().map(|(step, _)| step).collect()
}

#[test]
fn p10_resume_means_continue() {
    let [whole, parts] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [whole, parts] = [whole.path(), parts.path()];
    // An epoch has six updates: 7 and 13 are in the middle of one, 10 is a checkpoint, 8 a validation, 9 a report.
    assert_eq!(train(whole, training_config(20), 1, 0), Outcome::Finished);
    for stop in [7, 8, 9, 10, 13] {
        assert_eq!(train(parts, training_config(20), 1, stop), Outcome::Interrupted);
        assert_eq!(steps(parts).last(), Some(&stop));
    }
    assert_eq!(train(parts, training_config(20), 1, 0), Outcome::Finished);
    assert_eq!(steps(whole), [15, 20]);
    assert_eq!(files(whole), files(parts));
    // A finished run that is resumed does nothing.
    let log = fs::read(parts.join("training_log.jsonl")).unwrap();
    assert_eq!(train(parts, training_config(20), 1, 0), Outcome::Finished);
    assert_eq!(fs::read(parts.join("training_log.jsonl")).unwrap(), log);
}

#[test]
fn p10_a_larger_limit_continues_a_finished_run() {
    let [whole, parts] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [whole, parts] = [whole.path(), parts.path()];
    train(whole, training_config(20), 2, 0);
    // 10 is no validation step: the run ends with one that the longer run does not have.
    train(parts, training_config(10), 1, 0);
    let ended = files(parts);
    train(parts, training_config(10), 1, 0);
    assert_eq!(files(parts), ended);
    train(parts, training_config(20), 1, 0);
    assert_eq!(files(whole), files(parts));
}

#[test]
fn the_last_validation_is_made_up_for() {
    let [whole, killed] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [whole, killed] = [whole.path(), killed.path()];
    train(whole, training_config(10), 1, 0);
    train(killed, training_config(10), 1, 0);
    // As if killed between the last checkpoint and the last record.
    let log = killed.join("training_log.jsonl");
    let text = fs::read_to_string(&log).unwrap();
    let (kept, _) = text.trim_end().rsplit_once('\n').unwrap();
    fs::write(&log, format!("{kept}\n{{\"step\":")).unwrap();
    train(killed, training_config(10), 1, 0);
    assert_eq!(files(whole), files(killed));
}

#[test]
fn a_last_validation_has_the_speed_of_the_record_before() {
    let directory = tempfile::tempdir().unwrap();
    let config = || TrainingConfig { report_every: 5, ..training_config(10) };
    let log = directory.path().join("training_log.jsonl");
    let records = || -> Vec<serde_json::Value> {
        let text = fs::read_to_string(&log).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    train(directory.path(), config(), 1, 0);
    let found = records();
    let [.., before, last] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((&before["step"], &last["step"]), (&10.into(), &10.into()));
    assert!(before.get("valid").is_none() && last.get("valid").is_some());
    assert_eq!(before["tokens_per_s"], last["tokens_per_s"]);
    assert!(last["tokens_per_s"].as_f64().unwrap() > 0.0);
    // The same where it is made up for by another process.
    let text = fs::read_to_string(&log).unwrap();
    let (kept, _) = text.trim_end().rsplit_once('\n').unwrap();
    fs::write(&log, format!("{kept}\n")).unwrap();
    train(directory.path(), config(), 1, 0);
    assert_eq!(records().last().unwrap()["tokens_per_s"], before["tokens_per_s"]);
}

#[test]
fn threads_change_nothing() {
    let [one, two] = [1, 2].map(|threads| train_in_memory(training_config(9), threads));
    assert_eq!(bits(&*one), bits(&*two));
    let other = train_in_memory(TrainingConfig { label_smoothing: 0.2, ..training_config(9) }, 1);
    assert_ne!(bits(&*one), bits(&*other));
}

#[test]
fn epochs_are_counted_in_whole_passes() {
    let directory = tempfile::tempdir().unwrap();
    let config = TrainingConfig { updates: None, epochs: Some(2), ..training_config(1) };
    assert_eq!(train(directory.path(), config, 1, 0), Outcome::Finished);
    let state = Checkpoint::newest(directory.path()).unwrap().state;
    assert_eq!((state.progress.step, state.progress.epoch, state.progress.batch), (12, 2, 0));
    let tokens: usize = pairs(47).iter().map(|pair| pair.lengths().1).sum();
    assert_eq!(state.progress.tokens, 2 * tokens as u64);
}

#[test]
fn p11_damage_falls_back_and_is_named() {
    for (file, damage) in [
        ("model.safetensors", "cut"),
        ("model.safetensors", "flip"),
        ("training_state.safetensors", "cut"),
        ("training_state.safetensors", "flip"),
        ("training_state.json", "flip"),
        ("training_state.json", "cut"),
        ("config.json", "remove"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        train(directory, training_config(10), 1, 0);
        let whole = files(directory);
        let path = directory.join("checkpoints/step-10").join(file);
        let mut bytes = fs::read(&path).unwrap();
        match damage {
            "cut" => bytes.truncate(bytes.len() / 2),
            "remove" => fs::remove_file(&path).unwrap(),
            _ => {
                // A digit in the JSON, a bit in the tensors.
                let digit = bytes.windows(8).position(|part| part == b"\"step\": ").map(|place| place + 8);
                let place = digit.unwrap_or(bytes.len() - 3);
                bytes[place] ^= 1;
            }
        }
        if damage != "remove" {
            fs::write(&path, bytes).unwrap();
        }
        let found = Checkpoint::newest(directory).unwrap();
        assert_eq!(found.state.progress.step, 5, "{file} {damage}");
        let [(skipped, error)] = &found.skipped[..] else { panic!("{file} {damage}") };
        assert!(skipped.ends_with("checkpoints/step-10"));
        assert!(error.to_string().contains(file), "{error}");
        // Going on from there gives what was there before the damage.
        train(directory, training_config(10), 1, 0);
        assert_eq!(files(directory), whole, "{file} {damage}");
    }
}

#[test]
fn p11_an_interrupted_write_is_tidied() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    train(directory, training_config(10), 1, 7);
    let left = directory.join("checkpoints/.step-10.tmp");
    fs::create_dir(&left).unwrap();
    fs::write(left.join("model.safetensors"), "half").unwrap();
    fs::write(directory.join(".model.safetensors.tmp"), "half").unwrap();
    assert_eq!(Checkpoint::newest(directory).unwrap().state.progress.step, 7);
    train(directory, training_config(10), 1, 0);
    assert!(files(directory).keys().all(|path| !path.to_string_lossy().contains(".tmp")));
    assert!(!left.exists());
}

#[test]
fn another_run_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    assert!(matches!(Checkpoint::newest(directory), Err(TrainError::NoCheckpoint { .. })));
    train(directory, training_config(5), 1, 0);
    let resume = |config: TrainingConfig, seed, count| {
        let checkpoint = Checkpoint::newest(directory).unwrap();
        let mut trainer = Trainer::resume(checkpoint, config, seed, &Threads::single()).unwrap();
        trainer.run(&pairs(count), None, &mut Silent, &false.into()).unwrap_err().to_string()
    };
    let message = resume(training_config(9), 6, 47);
    assert_eq!(
        message,
        "the checkpoint was trained with seed = 5, this run has 6: resume with what it began with"
    );
    assert!(resume(training_config(9), 5, 46).contains("number of training pairs = 47, this run has 46"));
    let batch = TrainingConfig { batch_sentences: Some(8), ..training_config(9) };
    assert!(resume(batch, 5, 47).contains("batch size = 4 sentences, this run has 8 sentences"));

    let fresh =
        Trainer::new(common::model(&common::small_config()), training_config(5), 5, &Threads::single());
    let place = regard_train::RunDirectory::new(directory, common::info(&common::small_config()));
    let error =
        fresh.unwrap().in_directory(place).run(&pairs(47), None, &mut Silent, &false.into()).unwrap_err();
    assert!(error.to_string().contains("already holds a run"), "{error}");
}
