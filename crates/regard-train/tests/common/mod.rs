//! A small corpus and a small model of each test's choice.
#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use regard_model::checkpoint::ModelInfo;
use regard_model::{ModelConfig, Preset, Seq2Seq};
use regard_tensor::Threads;
use regard_text::{BatchSize, Normalizer, Pair, Pipeline, Tokenizer};
use regard_train::{
    Checkpoint, Event, LossValidator, Observer, OptimizerConfig, Outcome, Recipe, RunDirectory, Silent,
    Trainer, TrainingConfig,
};

pub(crate) const SEED: u64 = 5;

/// Eleven source and seven target words, besides the special tokens.
pub(crate) fn info(config: &ModelConfig) -> ModelInfo {
    let pipeline = |words: &str| Pipeline::build(Normalizer::None, Tokenizer::Word, [words], None, 1);
    ModelInfo {
        config: config.clone(),
        source_language: "en".to_owned(),
        target_language: "fr".to_owned(),
        source: pipeline("a b c d e f g h i j k"),
        target: pipeline("A B C D E F G"),
    }
}

/// An attention model of a few hundred weights, with every kind of dropout.
pub(crate) fn small_config() -> ModelConfig {
    let changes = r#"{"embedding": 5, "encoder": {"hidden": 4}, "decoder": {"hidden": 6, "readout_width": 3},
        "attention": {"width": 5}, "dropout": 0.2, "recurrent_dropout": 0.1, "word_dropout": 0.1}"#;
    Preset::Bahdanau.config().with_changes(&serde_json::from_str(changes).unwrap()).unwrap()
}

pub(crate) fn model(config: &ModelConfig) -> Box<dyn Seq2Seq> {
    info(config).build(SEED).unwrap()
}

/// Pairs of one to five words; the target is a function of the source.
pub(crate) fn pairs(count: u32) -> Vec<Pair> {
    (0..count)
        .map(|i| {
            let source: Vec<u32> = (0..=i % 5).map(|j| 4 + (i * 7 + j * 3) % 11).collect();
            let target = source.iter().map(|word| 4 + word % 7).collect();
            Pair { source, target }
        })
        .collect()
}

/// 47 pairs make 12 batches of 4; two batches an update.
pub(crate) fn training_config(updates: u64) -> TrainingConfig {
    TrainingConfig {
        updates: Some(updates),
        batch_sentences: Some(4),
        accumulate: 2,
        report_every: 3,
        validate_every: 4,
        checkpoint_every: 5,
        ema: 0.9,
        optimizer: OptimizerConfig::default(),
        ..Recipe::parse(
            "[data]\npairs = \"x\"\nvalid_pairs = \"x\"\n[training]\nupdates = 1\n[training.schedule]\nkind = \"plateau\"\n\
             learning_rate = 0.01\npatience = 1\n[training.sampling]\nkind = \"linear\"\nslope = 0.02",
            &[],
        )
        .unwrap()
        .training
    }
}

/// Sets a flag after an update, as a signal would.
pub(crate) struct StopAfter<'a> {
    pub step: u64,
    pub stop: &'a AtomicBool,
    pub clock: f64,
}

impl Observer for StopAfter<'_> {
    fn seconds(&mut self) -> f64 {
        self.clock += 0.25;
        self.clock
    }

    fn event(&mut self, event: &Event) {
        if let Event::Updated(update) = event
            && update.step == self.step
        {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// Trains in a directory, from the start or from its newest checkpoint.
pub(crate) fn train(directory: &Path, config: TrainingConfig, threads: usize, stop_after: u64) -> Outcome {
    let threads = Threads::new(threads);
    let resumed = RunDirectory::holds_run(directory);
    let mut trainer = if resumed {
        Trainer::resume(Checkpoint::newest(directory).unwrap(), config, SEED, &threads).unwrap()
    } else {
        let model = model(&small_config());
        let directory = RunDirectory::new(directory, info(&small_config()));
        Trainer::new(model, config, SEED, &threads).unwrap().in_directory(directory)
    };
    let mut validator = LossValidator::new(&pairs(7), BatchSize::Sentences(3), &threads).unwrap();
    let stop = AtomicBool::new(false);
    let mut observer = StopAfter { step: stop_after, stop: &stop, clock: 100.0 };
    trainer.run(&pairs(47), Some(&mut validator), &mut observer, &stop).unwrap()
}

/// Trains a model that is large enough for its products to be shared between threads, in memory.
pub(crate) fn train_in_memory(config: TrainingConfig, threads: usize) -> Box<dyn Seq2Seq> {
    let changes = r#"{"embedding": 96, "encoder": {"hidden": 128}, "decoder": {"hidden": 160, "readout_width": 64},
        "attention": {"width": 128}}"#;
    let large = small_config().with_changes(&serde_json::from_str(changes).unwrap()).unwrap();
    let mut trainer = Trainer::new(model(&large), config, SEED, &Threads::new(threads)).unwrap();
    trainer.run(&pairs(47), None, &mut Silent, &AtomicBool::new(false)).unwrap();
    trainer.into_model()
}

/// All files below a directory by their path, the time fields of the log taken out.
pub(crate) fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let mut bytes = fs::read(&path).unwrap();
            if path.ends_with("training_log.jsonl") {
                bytes = without_time(&String::from_utf8(bytes).unwrap()).into_bytes();
            }
            found.insert(path.strip_prefix(directory).unwrap().to_owned(), bytes);
        }
    }
    found
}

fn without_time(log: &str) -> String {
    let line = |line: &str| {
        let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
        for field in ["seconds", "tokens_per_s"] {
            assert!(record.as_object_mut().unwrap().remove(field).is_some());
        }
        record.to_string() + "\n"
    };
    log.lines().map(line).collect()
}

/// The weights as bits.
pub(crate) fn bits(model: &dyn Seq2Seq) -> Vec<u32> {
    model
        .parameters()
        .values()
        .iter()
        .flat_map(regard_tensor::Tensor::values)
        .map(|value| value.to_bits())
        .collect()
}
