//! The parts of an update, and the ends of a run.
#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

mod common;

use std::sync::atomic::AtomicBool;

use common::{SEED, bits, info, model, pairs, small_config, training_config};
use regard_model::{
    Distributions, LossOutput, Memory, ModelError, Parameters, Predictor, Row, Run, Seq2Seq, State,
    StepOutput, Training,
};
use regard_tensor::ops::{Targets, linear_cross_entropy};
use regard_tensor::{Gradient, Tensor, Threads, Var};
use regard_text::{Batch, BatchSize, Padded, Pair};
use regard_train::{
    Event, Frozen, GradientInput, LossValidator, Objective, Observer, Outcome, Record, SamplingConfig,
    Silent, TrainError, Trainer, TrainingConfig, Validation, Validator, average,
};

#[test]
fn accumulated_batches_are_the_big_batch() {
    let changes = r#"{"dropout": 0, "recurrent_dropout": 0, "word_dropout": 0}"#;
    let config = small_config().with_changes(&serde_json::from_str(changes).unwrap()).unwrap();
    let (model, pairs, threads) = (model(&config), pairs(12), Threads::single());
    let config = TrainingConfig { sampling: SamplingConfig::None, ..training_config(1) };
    let gradients = |parts: &[&[usize]]| {
        let batches: Vec<_> = parts.iter().map(|indices| Batch::collate(&pairs, indices)).collect();
        let input = GradientInput {
            model: &*model,
            config: &config,
            seed: 1,
            step: 1,
            threads: &threads,
            frozen: &Frozen::default(),
            objective: &Objective::Likelihood,
        };
        input.compute(&batches).unwrap()
    };
    let big = gradients(&[&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]]);
    // Parts of different sizes: a mean of means would differ.
    let parts = gradients(&[&[4], &[0, 1, 2, 3, 5, 6], &[7, 8, 9, 10, 11]]);
    assert_eq!(big.tokens, parts.tokens);
    assert!((big.losses[0] - parts.losses.iter().sum::<f64>()).abs() < 1e-6);
    assert!((big.negative_log_likelihood - parts.negative_log_likelihood).abs() < 1e-4);
    let mut seen = 0;
    for (big, parts) in big.gradients.iter().zip(&parts.gradients) {
        let (big, parts) = (big.as_ref().unwrap().to_dense(), parts.as_ref().unwrap().to_dense());
        for (x, y) in big.values().iter().zip(parts.values()) {
            assert!((x - y).abs() < 1e-6, "{x} {y}");
            seen += usize::from(*x != 0.0);
        }
    }
    assert!(seen > 300, "{seen}");
    // The tables of words are not the output layer: of them, rows are kept.
    let rows = |gradient: &&Gradient| matches!(gradient, Gradient::Rows(_));
    assert_eq!(parts.gradients.iter().flatten().filter(rows).count(), 2);
}

/// A model whose probabilities are those of P19: a bias and nothing else.
struct Fixed(Parameters);

impl Fixed {
    fn new() -> Self {
        // The smallest real model lends its parameters a shape; only the output bias is used.
        let mut parameters = model(&small_config()).parameters().clone();
        let mut logits = Tensor::new([11], vec![f32::NEG_INFINITY; 11]).unwrap();
        logits.values_mut()[4..8].copy_from_slice(&[0.7_f32.ln(), 0.1_f32.ln(), 0.1_f32.ln(), 0.1_f32.ln()]);
        parameters.set("output.bias", logits).unwrap();
        Self(parameters)
    }
}

impl Predictor for Fixed {
    fn target_vocabulary(&self) -> usize {
        4
    }
    fn has_attention(&self) -> bool {
        false
    }
    fn encode(&self, _: &Run, _: &Padded) -> Result<Memory, ModelError> {
        unreachable!("only the loss is used")
    }
    fn start(&self, _: &Run, _: &Memory, _: &[usize]) -> Result<State, ModelError> {
        unreachable!("only the loss is used")
    }
    fn step(&self, _: &Run, _: &Memory, _: &State, _: &[u32], _: &[Row]) -> Result<StepOutput, ModelError> {
        unreachable!("only the loss is used")
    }
}

impl Seq2Seq for Fixed {
    fn loss(&self, training: &Training, batch: &Batch) -> Result<LossOutput, ModelError> {
        let bias = Tensor::new([4], self.0.get("output.bias").unwrap().values()[4..8].to_vec())?;
        let bias = training.tape.leaf(bias);
        let (rows, zero) = (batch.target.rows(), Tensor::zeros([4, 1]));
        // One target token a row, the first of four; a second row is padding.
        let ids: Vec<u32> = vec![0; 2 * rows];
        let counts: Vec<bool> = (0..2 * rows).map(|i| i % 2 == 0).collect();
        let targets = Targets {
            ids: &ids,
            counts: &counts,
            label_smoothing: training.label_smoothing,
            factor: training.factor,
        };
        let x = Var::constant(Tensor::zeros([2 * rows, 1]));
        let out = linear_cross_entropy(training.tape, &x, &Var::constant(zero), Some(&bias), targets)?;
        let (negative_log_likelihood, tokens, correct) =
            (out.negative_log_likelihood, out.tokens, out.correct);
        Ok(LossOutput { loss: out.loss, negative_log_likelihood, tokens, correct })
    }
    fn distributions(&self, _: &Training, _: &Batch) -> Result<Distributions, ModelError> {
        unreachable!("only the loss is used")
    }
    fn parameters(&self) -> &Parameters {
        &self.0
    }
    fn parameters_mut(&mut self) -> &mut Parameters {
        &mut self.0
    }
}

#[derive(Default)]
struct Records(Vec<Record>);

impl Observer for Records {
    fn seconds(&mut self) -> f64 {
        0.0
    }
    fn event(&mut self, event: &Event) {
        if let Event::Reported(record) = event {
            self.0.push(record.clone());
        }
    }
}

#[test]
fn p19_perplexity_is_about_the_true_words_only() {
    // An empty target: its end symbol is the one target token.
    let pairs = [Pair { source: vec![4], target: vec![] }];
    let config = TrainingConfig {
        updates: Some(1),
        label_smoothing: 0.1,
        report_every: 1,
        ..TrainingConfig::default()
    };
    let mut trainer = Trainer::new(Box::new(Fixed::new()), config, SEED, &Threads::single()).unwrap();
    let mut records = Records::default();
    let mut validator = LossValidator::new(&pairs, BatchSize::Sentences(1), &Threads::single()).unwrap();
    trainer.run(&pairs, Some(&mut validator), &mut records, &AtomicBool::new(false)).unwrap();
    let [report, last] = &records.0[..] else { panic!("{records:?}", records = records.0) };
    assert!((report.loss - 0.5026).abs() < 5e-5, "{}", report.loss);
    assert!((report.perplexity - 1.4286).abs() < 5e-5, "{}", report.perplexity);
    let valid = last.valid.unwrap().validation;
    assert!((valid.loss - 0.3567).abs() < 5e-5 && (valid.perplexity - 1.4286).abs() < 5e-5, "{valid:?}");
}

#[test]
fn a_loss_that_is_not_finite_stops_and_names_the_pairs() {
    let mut broken = model(&small_config());
    broken.parameters_mut().values_mut()[0].values_mut().fill(f32::NAN);
    let config = TrainingConfig { batch_sentences: Some(2), accumulate: 1, ..training_config(9) };
    let mut trainer = Trainer::new(broken, config, SEED, &Threads::single()).unwrap();
    let before = bits(trainer.model());
    let error = trainer.run(&pairs(2), None, &mut Silent, &AtomicBool::new(false)).unwrap_err();
    let message = error.to_string();
    assert!(message.starts_with("the loss is NaN at step 1, epoch 1, batch 1 (pairs "), "{message}");
    let TrainError::NotFinite { mut pairs, .. } = error else { panic!("{message}") };
    pairs.sort_unstable();
    assert_eq!(pairs, [1, 2]);
    assert_eq!(bits(trainer.model()), before);
}

/// Scores that are given.
struct Scores(Vec<f64>);

impl Validator for Scores {
    fn validate(
        &mut self,
        _: &dyn Seq2Seq,
        _: u64,
    ) -> Result<Validation, Box<dyn std::error::Error + Send + Sync>> {
        if self.0.is_empty() {
            Err("no scores left".into())
        } else {
            Ok(Validation::by_loss(self.0.remove(0)))
        }
    }
}

#[test]
fn patience_ends_a_run() {
    let config = TrainingConfig { validate_every: 2, ..training_config(100) };
    let trainer = Trainer::new(model(&small_config()), config, SEED, &Threads::single()).unwrap();
    let mut trainer = trainer.with_patience(2);
    let mut scores = Scores(vec![3.0, 2.0, 2.5, 1.0, 1.5, 1.0, 9.0]);
    let outcome = trainer.run(&pairs(47), Some(&mut scores), &mut Silent, &AtomicBool::new(false)).unwrap();
    assert_eq!(outcome, Outcome::StoppedEarly);
    assert_eq!((trainer.progress().step, trainer.progress().best.best), (12, Some((1.0, 8))));
    assert_eq!(scores.0, [9.0]);
}

#[test]
fn a_failed_validation_is_named_and_leaves_the_weights() {
    let config = TrainingConfig { validate_every: 1, ..training_config(100) };
    let mut trainer = Trainer::new(model(&small_config()), config, SEED, &Threads::single()).unwrap();
    let error = trainer.run(&pairs(47), Some(&mut Scores(vec![])), &mut Silent, &AtomicBool::new(false));
    assert_eq!(error.unwrap_err().to_string(), "validation at step 1: no scores left");
    // The weights in training are back in place of their moving average, which after one update lags behind.
    let now = bits(trainer.model());
    assert_ne!(now, bits(&*trainer.into_model()));
}

#[test]
fn the_mean_of_checkpoints() {
    let config = small_config();
    let (one, other) = (info(&config).build(1).unwrap(), info(&config).build(2).unwrap());
    let mean = average(&[one.parameters(), other.parameters()]).unwrap();
    let all = [&mean, one.parameters(), other.parameters()];
    let [mean, one, other] = all.map(|parameters| parameters.values()[0].values()[3]);
    assert!((mean - f32::midpoint(one, other)).abs() < 1e-7);
    assert!(average(&[]).is_err());
    let wider = config.with_changes(&serde_json::json!({"embedding": 6})).unwrap();
    let wider = info(&wider).build(1).unwrap();
    let error = average(&[info(&config).build(1).unwrap().parameters(), wider.parameters()]).unwrap_err();
    assert_eq!(error.to_string(), "cannot average: model 2 has other weights than model 1");
}

#[test]
fn training_learns() {
    let changes = r#"{"dropout": 0, "recurrent_dropout": 0, "word_dropout": 0, "embedding": 16,
        "encoder": {"hidden": 16}, "decoder": {"hidden": 16, "readout_width": 16}, "attention": {"width": 16}}"#;
    let config = small_config().with_changes(&serde_json::from_str(changes).unwrap()).unwrap();
    let (pairs, threads) = (pairs(47), Threads::single());
    let training = TrainingConfig {
        label_smoothing: 0.0,
        accumulate: 1,
        ema: 0.0,
        sampling: SamplingConfig::None,
        schedule: regard_train::ScheduleConfig::Constant { learning_rate: 0.01, warmup: 0 },
        ..training_config(240)
    };
    let mut trainer = Trainer::new(model(&config), training, SEED, &threads).unwrap();
    let judge = LossValidator::new(&pairs, BatchSize::Sentences(8), &threads).unwrap();
    let before = judge.loss(trainer.model()).unwrap();
    trainer.run(&pairs, None, &mut Silent, &AtomicBool::new(false)).unwrap();
    let after = judge.loss(trainer.model()).unwrap();
    assert!(before > 2.0 && after < 0.3, "{before} {after}");
}
