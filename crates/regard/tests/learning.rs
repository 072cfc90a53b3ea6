//! Systems that must learn: copying and reversing sequences of random symbols, and memorising a handful of pairs. What an
//! encoder-decoder promises shows here first, and so does a mistake that no single part's own test can see.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use regard_decode::{Decoding, SearchOptions};
use regard_model::{ModelConfig, Preset, Seq2Seq, Window};
use regard_tensor::{Threads, random};
use regard_text::special_tokens::SPECIAL_TOKENS;
use regard_text::{Batch, BatchSize, Padded, Pair};
use regard_train::{LossValidator, SamplingConfig, ScheduleConfig, Trainer, TrainingConfig};
use serde_json::json;

/// Decides weights, training pairs and fresh pairs.
const SEED: u64 = 1;
const SYMBOLS: usize = 10;
const VOCABULARY: usize = SPECIAL_TOKENS.len() + SYMBOLS;
const BATCH: usize = 32;

/// Endless pairs of random symbols and the same, or the same backwards.
#[derive(Clone, Copy)]
struct Task {
    reverse: bool,
    shortest: usize,
    longest: usize,
}

const COPY: Task = Task { reverse: false, shortest: 14, longest: 20 };
const REVERSE: Task = Task { reverse: true, ..COPY };

impl Task {
    fn pair(self, key: u64) -> Pair {
        let draw = |counter, n: usize| (random::unit(key, counter) * n as f64) as usize;
        let length = self.shortest + draw(0, self.longest - self.shortest + 1);
        let symbol = |place: usize| (SPECIAL_TOKENS.len() + draw(1 + place as u64, SYMBOLS)) as u32;
        let source: Vec<u32> = (0..length).map(symbol).collect();
        let mut target = source.clone();
        if self.reverse {
            target.reverse();
        }
        Pair { source, target }
    }

    /// Pairs number 0 to `count - 1` of a stream.
    fn pairs(self, stream: u64, count: usize) -> Vec<Pair> {
        (0..count as u64).map(|number| self.pair(random::mix(stream, number))).collect()
    }

    /// Pairs of the longest length that no training has seen.
    fn fresh(self, count: usize) -> Vec<Pair> {
        Self { shortest: self.longest, ..self }.pairs(random::mix(SEED, u64::MAX), count)
    }
}

/// A one-layer GRU of about 86,000 weights with additive attention.
fn attention() -> ModelConfig {
    let changes = json!({
        "cell": "gru_reset_after", "embedding": 32, "dropout": 0.0,
        "encoder": {"hidden": 48},
        "decoder": {
            "hidden": 96, "initial_state": "last",
            "readout": "tanh", "readout_state": "current", "readout_width": 64,
        },
        "attention": {"query": "current", "width": 48},
    });
    Preset::Bahdanau.config().with_changes(&changes).unwrap()
}

/// The same with one vector for the whole source, which is read forward.
fn fixed_vector() -> ModelConfig {
    let changes = json!({"context": "once", "encoder": {"hidden": 96, "bidirectional": "none"}});
    attention().with_changes(&changes).unwrap()
}

fn model(config: &ModelConfig) -> Box<dyn Seq2Seq> {
    config.build(VOCABULARY, VOCABULARY, SEED).unwrap()
}

/// A Transformer of about 110,000 weights. Sines keep apart the places of symbols that look alike.
fn transformer() -> ModelConfig {
    let stack = json!({"layers": 2, "heads": 4});
    let changes = json!({
        "d_model": 64, "d_ff": 128, "encoder": stack, "decoder": {"layers": 1, "heads": 4},
        "norm_position": "pre", "dropout": 0.0,
    });
    Preset::TransformerTiny.config().with_changes(&changes).unwrap()
}

fn training(updates: u64) -> TrainingConfig {
    let schedule =
        ScheduleConfig::Cosine { learning_rate: 0.005, warmup: 50, minimum: 0.0001, updates: None };
    TrainingConfig { updates: Some(updates), label_smoothing: 0.0, schedule, ..TrainingConfig::default() }
}

fn batch(pairs: &[Pair]) -> Batch {
    Batch::collate(pairs, &(0..pairs.len()).collect::<Vec<_>>())
}

/// A model after `training`, each update on pairs of its own.
fn learn(config: &ModelConfig, task: Task, training: TrainingConfig) -> Box<dyn Seq2Seq> {
    let updates = training.updates.unwrap();
    let mut trainer = Trainer::new(model(config), training, SEED, &Threads::single()).unwrap();
    for update in 0..updates {
        let pairs = task.pairs(random::mix(SEED, update), BATCH);
        let update = trainer.update(&[batch(&pairs)]).unwrap();
        assert!(update.loss.is_finite() && update.gradient_norm.is_finite());
    }
    trainer.into_model()
}

/// What a model makes of pairs.
#[derive(Debug)]
struct Learnt {
    /// The part of the pairs whose target greedy search writes to the last symbol.
    exact: f64,
    /// -log p per token, under teacher forcing.
    loss: f64,
    /// The part of the tokens with the largest probability, under teacher forcing.
    accuracy: f64,
    /// `accuracy` less the part of the tokens that greedy search gets right, the end included.
    exposure_gap: f64,
}

impl Learnt {
    fn measure(model: &dyn Seq2Seq, pairs: &[Pair]) -> Self {
        let threads = Threads::single();
        let validator = LossValidator::new(pairs, BatchSize::Sentences(50), &threads).unwrap();
        let rows = Padded::from_sentences(pairs.iter().map(|pair| pair.source.as_slice()));
        let found = Decoding::new(model, &threads).search(&rows, &SearchOptions::greedy()).unwrap();
        let (mut exact, mut right) = (0, 0);
        for (pair, hypotheses) in pairs.iter().zip(&found) {
            let written = &hypotheses[0].tokens;
            exact += usize::from(*written == pair.target);
            right += written.iter().zip(&pair.target).filter(|(found, wanted)| found == wanted).count();
            right += usize::from(written.len() == pair.target.len());
        }
        let tokens: usize = pairs.iter().map(|pair| pair.target.len() + 1).sum();
        let accuracy = validator.accuracy(model).unwrap();
        Self {
            exact: f64::from(exact as u32) / pairs.len() as f64,
            loss: validator.loss(model).unwrap(),
            accuracy,
            exposure_gap: accuracy - right as f64 / tokens as f64,
        }
    }
}

/// Updates of the models that are compared at length 20.
const UPDATES: u64 = 1000;

fn at_length_20(config: &ModelConfig, task: Task) -> Learnt {
    Learnt::measure(&*learn(config, task, training(UPDATES)), &task.fresh(200))
}

#[test]
fn attention_copies_20_symbols() {
    let learnt = at_length_20(&attention(), COPY);
    assert!(learnt.exact >= 0.99 && learnt.loss < 0.02, "{learnt:?}");
}

#[test]
fn attention_reverses_20_symbols() {
    let learnt = at_length_20(&attention(), REVERSE);
    assert!(learnt.exact >= 0.99 && learnt.loss < 0.02, "{learnt:?}");
}

#[test]
fn a_transformer_copies_and_reverses_20_symbols() {
    for task in [COPY, REVERSE] {
        let learnt = at_length_20(&transformer(), task);
        assert!(learnt.exact >= 0.99 && learnt.loss < 0.02, "{learnt:?}");
    }
}

/// The last symbol read is the first to be written: the short distances at the start are what is learnt first
/// (Sutskever et al. 2014, section 3.3).
#[test]
fn a_fixed_vector_reverses_sooner_than_it_copies() {
    let [fixed, free] =
        [fixed_vector(), attention()].map(|config| model(&config).parameters().count() as f64);
    assert!((fixed / free - 1.0).abs() < 0.1, "{fixed} and {free} weights");
    let copying = at_length_20(&fixed_vector(), COPY);
    let reversing = at_length_20(&fixed_vector(), REVERSE);
    assert!(copying.exact < 0.5, "{copying:?}");
    assert!(reversing.loss < 0.8 * copying.loss, "{reversing:?} and {copying:?}");
    assert!(reversing.accuracy > copying.accuracy + 0.08, "{reversing:?} and {copying:?}");
}

/// Sutskever's switch is the same trick: read backwards, copying is reversing.
#[test]
fn a_reversed_source_turns_copying_into_reversing() {
    let backwards = fixed_vector().with_changes(&json!({"encoder": {"reverse_source": true}})).unwrap();
    let reversing = REVERSE.pairs(SEED, 20);
    let copying: Vec<Pair> =
        reversing.iter().map(|pair| Pair { source: pair.target.clone(), ..pair.clone() }).collect();
    let [left, right] = [(backwards, copying), (fixed_vector(), reversing)]
        .map(|(config, pairs)| Learnt::measure(&*model(&config), &pairs).loss);
    assert_eq!(left.to_bits(), right.to_bits());
}

/// From the 300th update on the decoder reads its own words three times of four, right or wrong.
#[test]
fn scheduled_sampling_learns_to_copy() {
    let task = Task { shortest: 4, longest: 10, ..COPY };
    let sampling = SamplingConfig::Linear { slope: 0.0025, minimum: 0.25 };
    let training = TrainingConfig { sampling, ..training(500) };
    assert!((training.sampling.probability(300) - 0.75).abs() < 1e-12);
    let learnt = Learnt::measure(&*learn(&attention(), task, training), &task.fresh(200));
    assert!(learnt.exact >= 0.95 && learnt.loss < 0.05, "{learnt:?}");
    assert!(learnt.exposure_gap.abs() < 0.01, "{learnt:?}");
}

/// A preset at a width that trains in seconds.
fn small(preset: Preset, changes: &serde_json::Value) -> ModelConfig {
    let narrow = match preset.config() {
        ModelConfig::Recurrent(_) => json!({
            "embedding": 32, "dropout": 0.0,
            "encoder": {"hidden": 32},
            "decoder": {"hidden": 32, "readout_width": 32},
            "attention": {"width": 32},
        }),
        ModelConfig::Transformer(_) => json!({"d_model": 32, "d_ff": 32, "dropout": 0.0}),
    };
    preset.config().with_changes(&narrow).unwrap().with_changes(changes).unwrap()
}

/// Eight sources and targets of other words and other lengths: nothing to understand, all to remember.
fn memorises(name: &str, config: &ModelConfig) {
    let updates = 250;
    let task = Task { reverse: false, shortest: 3, longest: 8 };
    let targets = task.pairs(SEED + 1, 8);
    let pairs: Vec<Pair> = task
        .pairs(SEED, 8)
        .into_iter()
        .zip(targets)
        .map(|(pair, other)| Pair { target: other.target, ..pair })
        .collect();
    let mut trainer = Trainer::new(model(config), training(updates), SEED, &Threads::single()).unwrap();
    for _ in 0..updates {
        trainer.update(&[batch(&pairs)]).unwrap();
    }
    let learnt = Learnt::measure(trainer.model(), &pairs);
    assert!(learnt.loss < 0.1, "{name}: {learnt:?}");
    assert!(learnt.exact > 0.99, "{name}: {learnt:?}");
}

#[test]
fn every_preset_memorises_eight_pairs() {
    for preset in Preset::ALL {
        let config = small(preset, &json!({}));
        memorises(&format!("{preset:?}"), &config);
    }
}

#[test]
fn local_attention_memorises_eight_pairs() {
    for window in [Window::LocalM, Window::LocalP] {
        let config = small(Preset::Luong, &json!({"attention": {"window": window, "radius": 2}}));
        memorises(&format!("{window:?}"), &config);
    }
}
