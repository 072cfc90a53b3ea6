//! A training step allocates nothing once the steps before it have left their storage: counted for every kind of model.
//!
//! One test alone: the allocator counts what all threads of the process do.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::alloc::System;

use regard_model::{ModelConfig, Preset, RecurrentModel, Seq2Seq, TransformerModel};
use regard_tensor::Threads;
use regard_text::{Batch, Padded};
use regard_train::{Recipe, Trainer, TrainingConfig, TrainingPrecision};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const WORDS: usize = 101;

/// So many updates in a row must allocate nothing.
const QUIET: usize = 3;

#[test]
fn a_steady_step_allocates_nothing() {
    for preset in Preset::ALL {
        for precision in [TrainingPrecision::F32, TrainingPrecision::Bf16] {
            // A worker has storage of its own, and its first task of a kind may come late.
            for (threads, warm_up) in [(1, 5), (2, 40)] {
                let mut trainer = trainer(preset, precision, &Threads::new(threads));
                let counts = counts(&mut trainer, warm_up + QUIET);
                assert!(
                    counts.ends_with(&[0; QUIET]),
                    "{preset:?}, {precision:?}, {threads} threads: {counts:?} calls to the allocator"
                );
            }
        }
    }
}

/// The calls to the allocator of each update, until some in a row made none.
fn counts(trainer: &mut Trainer, updates: usize) -> Vec<usize> {
    let batch = Batch { source: sentences(17, 13), target: sentences(17, 11), indices: (0..17).collect() };
    let mut counts = Vec::with_capacity(updates);
    while counts.len() < updates && !counts.ends_with(&[0; QUIET]) {
        counts.push(calls(|| _ = trainer.update(std::slice::from_ref(&batch)).unwrap()));
    }
    counts
}

fn calls(work: impl FnOnce()) -> usize {
    let before = ALLOCATOR.stats();
    work();
    let after = ALLOCATOR.stats();
    (after.allocations - before.allocations) + (after.reallocations - before.reallocations)
}

fn trainer(preset: Preset, precision: TrainingPrecision, threads: &Threads) -> Trainer {
    let model: Box<dyn Seq2Seq> = match small(preset) {
        ModelConfig::Recurrent(config) => Box::new(RecurrentModel::new(&config, WORDS, WORDS, 1).unwrap()),
        ModelConfig::Transformer(config) => {
            Box::new(TransformerModel::new(&config, WORDS, WORDS, 1).unwrap())
        }
    };
    let recipe = "[data]\npairs = \"x\"\nvalid_pairs = \"x\"\n[training]\nupdates = 1";
    let config = TrainingConfig { precision, ema: 0.9, ..Recipe::parse(recipe, &[]).unwrap().training };
    Trainer::new(model, config, 1, threads).unwrap()
}

/// A preset of a size that a test has time for, with every kind of dropout that it can have.
fn small(preset: Preset) -> ModelConfig {
    let recurrent = r#"{"embedding": 32, "encoder": {"hidden": 32}, "decoder": {"hidden": 32, "readout_width": 32},
        "attention": {"width": 32}, "dropout": 0.2"#;
    let changes = match preset {
        Preset::TransformerReader => format!("{recurrent}}}"),
        Preset::TransformerTiny | Preset::TransformerBase => {
            r#"{"d_model": 64, "d_ff": 128, "dropout": 0.1, "attention_dropout": 0.1}"#.to_owned()
        }
        _ => format!(r#"{recurrent}, "recurrent_dropout": 0.1, "word_dropout": 0.1}}"#),
    };
    preset.config().with_changes(&serde_json::from_str(&changes).unwrap()).unwrap()
}

/// Sentences of different lengths, the longest of `width` tokens.
fn sentences(rows: usize, width: usize) -> Padded {
    let sentence =
        |row: usize| (0..width - row % 4).map(|at| (4 + (row * 7 + at * 3) % (WORDS - 4)) as u32).collect();
    Padded::from_rows(&(0..rows).map(sentence).collect::<Vec<_>>())
}
