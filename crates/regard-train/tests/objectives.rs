//! Losses on attention: guided alignment and adversaries.
#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

mod common;

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use common::{SEED, bits, info, pairs, small_config};
use regard_model::{
    AttentionHook, AttentionSite, HookCall, ModelConfig, ModelError, Preset, Row, Scored, Seq2Seq, Training,
    checkpoint,
};
use regard_tensor::{Gradient, Tape, Tensor, Threads, Var};
use regard_text::{Batch, Pair, PairSource};
use regard_train::{
    Adversary, Frozen, GradientInput, GuidedAlignment, GuidedAlignmentConfig, GuidedStep, Objective, Recipe,
    SamplingConfig, ScheduleConfig, Silent, TrainError, Trainer, TrainingConfig, TrainingPrecision,
    UpdateGradients,
};
use serde_json::json;

const NO_DROPOUT: &str = r#"{"dropout": 0, "recurrent_dropout": 0, "word_dropout": 0}"#;

fn recurrent(changes: &str) -> ModelConfig {
    small_config().with_changes(&serde_json::from_str(changes).unwrap()).unwrap()
}

fn transformer(dropout: f64) -> ModelConfig {
    let stack = json!({"layers": 2, "heads": 2});
    let changes = json!({"d_model": 12, "d_ff": 20, "encoder": stack, "decoder": stack, "dropout": dropout,
        "attention_dropout": dropout, "tied_embeddings": "none"});
    Preset::TransformerTiny.config().with_changes(&changes).unwrap()
}

fn config(updates: u64) -> TrainingConfig {
    TrainingConfig {
        accumulate: 1,
        ema: 0.0,
        sampling: SamplingConfig::None,
        schedule: ScheduleConfig::Constant { learning_rate: 0.01, warmup: 0 },
        ..common::training_config(updates)
    }
}

fn guide_config(weight: f64) -> GuidedAlignmentConfig {
    GuidedAlignmentConfig { file: "links".into(), weight, layer: None, head: None, step: GuidedStep::Current }
}

/// Each target token is linked with the token at the same distance from the other end; every third one with its neighbour
/// too, and the first of every other pair with none.
fn links(pairs: &[Pair]) -> Vec<Pair> {
    let of_pair = |(index, pair): (usize, &Pair)| {
        let mut links = Pair { source: vec![], target: vec![] };
        let length = pair.source.len();
        for target in index % 2..length {
            let neighbour = (target % 3 == 2).then(|| length - target);
            for source in [Some(length - 1 - target), neighbour].into_iter().flatten() {
                links.source.push(source as u32);
                links.target.push(target as u32);
            }
        }
        links
    };
    pairs.iter().enumerate().map(of_pair).collect()
}

fn guided(model: &dyn Seq2Seq, pairs: &[Pair], weight: f64, step: GuidedStep) -> Objective {
    let config = GuidedAlignmentConfig { step, ..guide_config(weight) };
    Objective::Guided(GuidedAlignment::new(&config, Box::new(links(pairs)), model).unwrap())
}

fn compute(
    model: &dyn Seq2Seq,
    config: &TrainingConfig,
    objective: &Objective,
    threads: usize,
    batches: &[Batch],
) -> UpdateGradients {
    let (threads, frozen) = (Threads::new(threads), Frozen::default());
    let input =
        GradientInput { model, config, seed: 1, step: 1, threads: &threads, frozen: &frozen, objective };
    input.compute(batches).unwrap()
}

/// Keeps values of weights.
#[derive(Default)]
struct Seen(Mutex<Vec<(AttentionSite, Vec<Row>, Var)>>);

impl AttentionHook for Seen {
    fn weights(&self, call: &HookCall, weights: Var) -> Result<Var, ModelError> {
        self.0.lock().unwrap().push((call.site, call.rows.to_vec(), weights.clone()));
        Ok(weights)
    }
}

impl Seen {
    /// The weights of a target position.
    fn row(&self, site: AttentionSite, sentence: usize, position: usize) -> Vec<f64> {
        let seen = self.0.lock().unwrap();
        let mut found = seen.iter().filter(|(of, ..)| *of == site).flat_map(|(_, rows, weights)| {
            rows.iter().enumerate().map(move |(place, row)| (row, weights.value().row(place)))
        });
        let (_, weights) =
            found.find(|(row, _)| (row.sentence, row.position) == (sentence, position)).unwrap();
        weights.iter().map(|&weight| f64::from(weight)).collect()
    }
}

/// Log-probabilities by sentence and position.
type ByPlace = Vec<((usize, usize), Vec<f64>)>;

/// Without dropout: what the model looks at, and its log-probabilities.
fn looked(model: &dyn Seq2Seq, batch: &Batch) -> (Seen, ByPlace) {
    let (tape, seen) = (Tape::inference(&Threads::single()), Seen::default());
    let weights = model.parameters().constants();
    let training = Training {
        tape: &tape,
        weights: &weights,
        noise: None,
        label_smoothing: 0.0,
        factor: 1.0,
        scored: Scored::All,
        hook: Some(&seen),
    };
    let found = model.distributions(&training, batch).unwrap();
    let row = |(place, row): (usize, &Row)| {
        let log_probs = found.log_probs.value().row(place).iter().map(|&log_prob| f64::from(log_prob));
        ((row.sentence, row.position), log_probs.collect())
    };
    let log_probs = found.rows.iter().enumerate().map(row).collect();
    (seen, log_probs)
}

fn copy_of(config: &ModelConfig, model: &dyn Seq2Seq) -> Box<dyn Seq2Seq> {
    info(config).restore(checkpoint::named(model.parameters())).unwrap()
}

#[test]
fn the_loss_of_links_is_marians() {
    let pairs = pairs(9);
    let batch = Batch::collate(&pairs, &[8, 4, 0, 5]);
    let steps = [GuidedStep::Current, GuidedStep::Next];
    for (model_config, step) in
        [recurrent(NO_DROPOUT), transformer(0.0)].iter().flat_map(|c| steps.map(|s| (c, s)))
    {
        let model = info(model_config).build(SEED).unwrap();
        let site = model.cross_sites().into_iter().rev().find(|site| site.head == 0).unwrap();
        let (seen, _) = looked(&*model, &batch);
        let later = usize::from(step == GuidedStep::Next);
        let mut expected = 0.0;
        for (sentence, &index) in batch.indices.iter().enumerate() {
            let of_pair = &links(&pairs)[index];
            let end = |lengths: &[usize]| lengths[sentence] - 1;
            let (source_end, target_end) = (end(&batch.source.lengths), end(&batch.target.lengths));
            if step == GuidedStep::Current {
                expected -= (seen.row(site, sentence, target_end)[source_end] + 1e-6).ln();
            }
            for target in 0..target_end {
                let sources: Vec<u32> = of_pair
                    .source
                    .iter()
                    .zip(&of_pair.target)
                    .filter(|(_, of)| **of as usize == target)
                    .map(|(&source, _)| source)
                    .collect();
                for source in &sources {
                    let weight = seen.row(site, sentence, target + later)[*source as usize];
                    expected -= (weight + 1e-6).ln() / sources.len() as f64;
                }
            }
        }
        let batches = [batch.clone()];
        let plain = compute(&*model, &config(1), &Objective::Likelihood, 1, &batches);
        let guided = compute(&*model, &config(1), &guided(&*model, &pairs, 0.7, step), 1, &batches);
        let found = guided.losses[0] - plain.losses[0];
        let expected = 0.7 * expected / batch.target.tokens() as f64;
        assert!(expected > 0.5 && (found - expected).abs() < 1e-5, "{found} {expected}");
        assert_eq!(guided.tokens, plain.tokens);
        assert!((guided.negative_log_likelihood - plain.negative_log_likelihood).abs() < 1e-6);
    }
}

/// The slope along the gradient is the gradient's norm, by central differences.
fn check_slope(model_config: &ModelConfig, objective: &dyn Fn(&dyn Seq2Seq) -> Objective, batches: &[Batch]) {
    let model = info(model_config).build(SEED).unwrap();
    let found = compute(&*model, &config(1), &objective(&*model), 1, batches);
    let square = |gradient: &Gradient| {
        gradient.to_dense().values().iter().map(|&value| f64::from(value).powi(2)).sum::<f64>()
    };
    let norm = found.gradients.iter().flatten().map(square).sum::<f64>().sqrt();
    let at = |step: f64| {
        let mut moved = copy_of(model_config, &*model);
        let weights = moved.parameters_mut().values_mut().iter_mut().zip(&found.gradients);
        for (weight, gradient) in weights {
            let Some(gradient) = gradient else { continue };
            for (weight, &slope) in weight.values_mut().iter_mut().zip(gradient.to_dense().values()) {
                *weight += (step / norm * f64::from(slope)) as f32;
            }
        }
        compute(&*moved, &config(1), &objective(&*model), 1, batches).losses.iter().sum::<f64>()
    };
    // A small step: distances have kinks, where the two distributions are equal.
    let slope = (at(0.001) - at(-0.001)) / 0.002;
    assert!((slope - norm).abs() < 2e-3 * norm, "{slope} is not {norm}");
}

#[test]
fn gradients_are_slopes() {
    let pairs = pairs(9);
    // Two batches in an update, and dropout, whose masks stay.
    let batches = [Batch::collate(&pairs, &[8, 4, 0]), Batch::collate(&pairs, &[5, 3])];
    for model_config in [small_config(), transformer(0.1)] {
        check_slope(&model_config, &|model| guided(model, &pairs, 2.0, GuidedStep::Current), &batches);
        let base = |_: &dyn Seq2Seq| info(&model_config).build(SEED + 1).unwrap();
        let adversary =
            |model: &dyn Seq2Seq| Objective::Adversary(Adversary::new(base(model), 0.3, model).unwrap());
        check_slope(&model_config, &adversary, &batches);
    }
}

#[test]
fn an_adversary_is_as_near_as_its_words_and_as_far_as_its_weights() {
    let pairs = pairs(9);
    let batch = Batch::collate(&pairs, &[8, 4, 0, 5]);
    for model_config in [recurrent(NO_DROPOUT), transformer(0.0)] {
        let [model, base] = [SEED, SEED + 1].map(|seed| info(&model_config).build(seed).unwrap());
        let ((own, own_log_probs), (other, other_log_probs)) =
            (looked(&*model, &batch), looked(&*base, &batch));
        let (mut distance, mut divergence) = (0.0, 0.0);
        let sites = model.cross_sites();
        for (((sentence, position), p), (place, q)) in own_log_probs.iter().zip(&other_log_probs) {
            assert_eq!((*sentence, *position), *place);
            if *position >= batch.target.lengths[*sentence] {
                continue;
            }
            distance += p.iter().zip(q).map(|(p, q)| (p.exp() - q.exp()).abs()).sum::<f64>() / 2.0;
            for &site in &sites {
                let (a, b) = (own.row(site, *sentence, *position), other.row(site, *sentence, *position));
                let terms = a.iter().zip(&b).filter(|(a, _)| **a > 0.0).map(|(a, b)| a * (a / b).ln());
                divergence += terms.sum::<f64>() / sites.len() as f64;
            }
        }
        let expected = (distance - 0.3 * divergence) / batch.target.tokens() as f64;
        assert!(distance > 0.0 && divergence > 0.0);
        let adversary =
            |of: Box<dyn Seq2Seq>| Objective::Adversary(Adversary::new(of, 0.3, &*model).unwrap());
        let same = compute(
            &*model,
            &config(1),
            &adversary(copy_of(&model_config, &*model)),
            1,
            std::slice::from_ref(&batch),
        );
        assert!(same.losses[0].abs() < 1e-7, "{}", same.losses[0]);
        let found = compute(&*model, &config(1), &adversary(base), 1, std::slice::from_ref(&batch));
        assert!((found.losses[0] - expected).abs() < 1e-6, "{} {expected}", found.losses[0]);
        let plain = compute(&*model, &config(1), &Objective::Likelihood, 1, std::slice::from_ref(&batch));
        assert!((found.negative_log_likelihood - plain.negative_log_likelihood).abs() < 1e-4);
    }
}

#[test]
fn bits_are_the_same_on_any_threads_and_in_parts() {
    let pairs = pairs(12);
    let wide = r#"{"embedding": 96, "encoder": {"hidden": 64}, "decoder": {"hidden": 80, "readout_width": 64},
        "attention": {"width": 128}}"#;
    let batches =
        [Batch::collate(&pairs, &[0, 1, 2, 3, 4, 6, 8]), Batch::collate(&pairs, &[5, 7, 9, 10, 11])];
    for model_config in [recurrent(wide), transformer(0.1)] {
        let model = info(&model_config).build(SEED).unwrap();
        let base = info(&model_config).build(SEED + 1).unwrap();
        let adversary = Objective::Adversary(Adversary::new(base, 0.3, &*model).unwrap());
        for objective in [guided(&*model, &pairs, 0.5, GuidedStep::Current), adversary] {
            for precision in [TrainingPrecision::F32, TrainingPrecision::Bf16] {
                let config = TrainingConfig { precision, ..config(1) };
                let gradients = |threads: usize| {
                    let found = compute(&*model, &config, &objective, threads, &batches);
                    let dense = found.gradients.iter().flatten().map(Gradient::to_dense);
                    let bits = |values: Tensor| values.values().iter().map(|value| value.to_bits()).collect();
                    let bits: Vec<Vec<u32>> = dense.map(bits).collect();
                    (found.losses, bits)
                };
                let one = gradients(1);
                assert!(one.0.iter().all(|loss| loss.is_finite()));
                assert!(one == gradients(2) && one == gradients(3), "{precision}");
            }
        }
    }
    // Parts of a batch are the batch.
    let model = info(&recurrent(NO_DROPOUT)).build(SEED).unwrap();
    let objective = guided(&*model, &pairs, 0.5, GuidedStep::Current);
    let whole = [Batch::collate(&pairs, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])];
    let [whole, parts] =
        [&whole[..], &batches].map(|batches| compute(&*model, &config(1), &objective, 1, batches));
    assert!((whole.losses[0] - parts.losses.iter().sum::<f64>()).abs() < 1e-6);
    for (whole, parts) in whole.gradients.iter().flatten().zip(parts.gradients.iter().flatten()) {
        let (whole, parts) = (whole.to_dense(), parts.to_dense());
        assert!(whole.values().iter().zip(parts.values()).all(|(x, y)| (x - y).abs() < 1e-6));
    }
}

/// A word and its number in the other language, last to first: the links are known.
fn reversed(count: u32) -> (Vec<Pair>, Vec<Pair>) {
    let pair = |i: u32| {
        let source: Vec<u32> = (0..3 + i % 4).map(|j| 4 + (i * 7 + j * 5 + i * j) % 7).collect();
        let length = source.len() as u32;
        let links = Pair { source: (0..length).rev().collect(), target: (0..length).collect() };
        (Pair { target: source.iter().rev().copied().collect(), source }, links)
    };
    (0..count).map(pair).unzip()
}

/// Slow and long enough for what these tests want to be learned.
fn learning(updates: u64) -> TrainingConfig {
    let schedule = ScheduleConfig::Constant { learning_rate: 0.003, warmup: 100 };
    TrainingConfig { label_smoothing: 0.0, schedule, ..config(updates) }
}

/// The share of target tokens that look most at the token that they translate.
fn linked(model: &dyn Seq2Seq, pairs: &[Pair]) -> f64 {
    let site = model.cross_sites().into_iter().rev().find(|site| site.head == 0).unwrap();
    let batch = Batch::collate(pairs, &(0..pairs.len()).collect::<Vec<_>>());
    let (seen, _) = looked(model, &batch);
    let (mut right, mut all) = (0.0, 0.0);
    for (sentence, pair) in pairs.iter().enumerate() {
        for target in 0..pair.target.len() {
            let weights = seen.row(site, sentence, target);
            let largest = weights.iter().copied().fold(0.0, f64::max);
            right += f64::from(u8::from(weights[pair.source.len() - 1 - target] >= largest));
            all += 1.0;
        }
    }
    right / all
}

#[test]
fn guided_attention_learns_the_links() {
    let (pairs, links) = reversed(48);
    let training = learning(1200);
    let wider = r#"{"dropout": 0.1, "recurrent_dropout": 0, "word_dropout": 0, "embedding": 16, "encoder": {"hidden": 16},
        "decoder": {"hidden": 16, "readout_width": 16}, "attention": {"width": 16}}"#;
    for model_config in [recurrent(wider), transformer(0.1)] {
        let train = |is_guided: bool| {
            let model = info(&model_config).build(SEED).unwrap();
            let guide = GuidedAlignment::new(&guide_config(0.1), Box::new(links.clone()), &*model).unwrap();
            let objective = if is_guided { Objective::Guided(guide) } else { Objective::Likelihood };
            let trainer = Trainer::new(model, training.clone(), SEED, &Threads::single()).unwrap();
            let mut trainer = trainer.with_objective(objective);
            trainer.run(&pairs, None, &mut Silent, &AtomicBool::new(false)).unwrap();
            linked(trainer.model(), &pairs)
        };
        let (guided, plain) = (train(true), train(false));
        println!("guided {guided:.3}, plain {plain:.3}");
        assert!(guided > 0.8 && guided > plain + 0.3, "{guided} {plain}");
    }
}

#[test]
fn an_adversary_says_the_same_and_looks_elsewhere() {
    let (pairs, _) = reversed(24);
    let model_config = recurrent(
        r#"{"dropout": 0, "recurrent_dropout": 0, "word_dropout": 0, "embedding": 16, "encoder": {"hidden": 16},
        "decoder": {"hidden": 16, "readout_width": 16}, "attention": {"width": 16}}"#,
    );
    let training = learning(2000);
    let train = |seed: u64, objective: &dyn Fn(&dyn Seq2Seq) -> Objective| {
        let model = info(&model_config).build(seed).unwrap();
        let objective = objective(&*model);
        let trainer = Trainer::new(model, training.clone(), SEED, &Threads::single()).unwrap();
        let mut trainer = trainer.with_objective(objective);
        trainer.run(&pairs, None, &mut Silent, &AtomicBool::new(false)).unwrap();
        trainer.into_model()
    };
    let base = train(SEED, &|_| Objective::Likelihood);
    let weights = bits(&*base);
    let batch = Batch::collate(&pairs, &(0..pairs.len()).collect::<Vec<_>>());
    // The mean distance of the words and the mean divergence of the attention.
    let apart = |model: &dyn Seq2Seq| {
        let loss = |lambda: f64| {
            let adversary = Adversary::new(copy_of(&model_config, &*base), lambda, model).unwrap();
            compute(model, &config(1), &Objective::Adversary(adversary), 1, std::slice::from_ref(&batch))
                .losses[0]
        };
        let (near, far) = (loss(1e-9), loss(1.0));
        (near, near - far)
    };
    let adversary = |lambda: f64| {
        train(SEED + 1, &|model| {
            let base = copy_of(&model_config, &*base);
            Objective::Adversary(Adversary::new(base, lambda, model).unwrap())
        })
    };
    let (faithful, strong) = (apart(&*adversary(1e-6)), apart(&*adversary(0.001)));
    println!("distance and divergence: {faithful:?} with lambda 1e-6, {strong:?} with 0.001");
    assert!(faithful.0 < 0.15 && strong.0 < 0.2, "the words stay");
    assert!(strong.1 > 1.7 * faithful.1 && strong.1 > 1.2, "the attention goes");
    assert_eq!(weights, bits(&*base));
}

#[test]
fn what_does_not_fit_is_refused() {
    let model = info(&transformer(0.0)).build(1).unwrap();
    let message = |config: GuidedAlignmentConfig, model: &dyn Seq2Seq| {
        let links: Box<dyn PairSource> = Box::new(Vec::<Pair>::new());
        GuidedAlignment::new(&config, links, model).err().unwrap().to_string()
    };
    let layer = message(GuidedAlignmentConfig { layer: Some(2), ..guide_config(0.1) }, &*model);
    assert_eq!(layer, "training.guided_alignment.layer: 2: the model has layers 0 to 1");
    let head = message(GuidedAlignmentConfig { head: Some(2), ..guide_config(0.1) }, &*model);
    assert_eq!(head, "training.guided_alignment.head: 2: the layer has heads 0 to 1");
    let changes =
        json!({"embedding": 5, "encoder": {"hidden": 4}, "decoder": {"hidden": 6, "readout_width": 3}});
    let blind = info(&Preset::Cho.config().with_changes(&changes).unwrap()).build(1).unwrap();
    let message = message(guide_config(0.1), &*blind);
    assert_eq!(message, "training.guided_alignment.file: this model does not look at the source");

    let other = info(&small_config()).build(1).unwrap();
    let error = Adversary::new(other, 0.1, &*model).err().unwrap().to_string();
    let wanted =
        "training.adversary_of: it looks at the source with 1 heads, and this one with 4; train an adversary";
    assert!(error.starts_with(wanted), "{error}");
    let error = Adversary::new(blind, 0.1, &*model).err().unwrap().to_string();
    assert!(error.starts_with("training.adversary_of: it does not look at the source"), "{error}");

    let pairs = pairs(5);
    let objective = guided(&*model, &pairs[..4], 0.1, GuidedStep::Current);
    let mut trainer =
        Trainer::new(model, config(1), SEED, &Threads::single()).unwrap().with_objective(objective);
    let error = trainer.run(&pairs, None, &mut Silent, &AtomicBool::new(false)).unwrap_err();
    assert!(matches!(error, TrainError::Unguided { pairs: 5, links: 4 }), "{error}");
}

#[test]
fn recipes_say_what_does_not_go_together() {
    let parse = |rest: &str| {
        let text = format!("[data]\npairs = \"x\"\n[training]\nupdates = 1\n{rest}");
        Recipe::parse(&text, &[]).map_err(|error| error.to_string())
    };
    let recipe = parse("[training.guided_alignment]\nfile = \"x.links\"\nhead = 3\nstep = \"next\"").unwrap();
    let (file, head, step) = ("x.links".into(), Some(3), GuidedStep::Next);
    let expected = GuidedAlignmentConfig { file, head, step, ..guide_config(0.1) };
    assert_eq!(recipe.training.guided_alignment, Some(expected));
    assert_eq!(Recipe::parse(&recipe.to_toml().unwrap(), &[]).unwrap(), recipe);
    let mut moved = parse("adversary_of = \"base\"").unwrap();
    moved.resolve_paths("there".as_ref());
    assert_eq!(moved.training.adversary_of, Some("there/base".into()));
    assert!((moved.training.adversary_lambda - 1e-3).abs() < 1e-12);
    let uniform = parse("attention = \"uniform\"").unwrap().model_config().unwrap();
    assert_eq!(uniform.cross_attention(), regard_model::CrossAttention::Uniform);

    let guide = "[training.guided_alignment]\nfile = \"x\"";
    for (rest, wanted) in [
        (format!("{guide}\nweight = 0"), "line 7: training.guided_alignment.weight: 0 must be"),
        (format!("attention = \"uniform\"\n{guide}"), "training.guided_alignment: uniform attention cannot"),
        (
            format!("adversary_of = \"x\"\n{guide}"),
            "line 5: training.adversary_of: an adversary looks elsewhere",
        ),
        (
            format!("{guide}\n[tokenizer]\ndropout = 0.1"),
            "training.guided_alignment: links are between tokens",
        ),
        (
            "adversary_of = \"x\"\nattention = \"uniform\"".to_owned(),
            "training.adversary_of: uniform attention",
        ),
        ("adversary_lambda = 0".to_owned(), "line 5: training.adversary_lambda: 0 must be"),
        (
            "adversary_of = \"x\"\nsampling = { kind = \"exponential\", k = 0.9 }".to_owned(),
            "line 5: training.adversary_of: an adversary reads",
        ),
    ] {
        let message = parse(&rest).unwrap_err();
        assert!(message.contains(wanted), "{message}");
    }
}
