//! Transformers: the same bits in any company and on any threads, and attention of every layer and head as an output.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Mutex;

use regard_model::{
    AttentionHook, AttentionSite, HookCall, Memory, ModelConfig, Noise, Positions, Preset, Result, Row, Run,
    Scored, Seq2Seq, SiteAttention, SiteKind, StepOutput, Temperature, Training,
};
use regard_tensor::{Tape, Tensor, Threads, Var};
use regard_text::{Batch, Padded, Pair};
use serde_json::json;

/// Every way to tell a place, under both normalisations, in both positions.
fn variants() -> Vec<ModelConfig> {
    let layers = json!({"encoder": {"layers": 2}, "decoder": {"layers": 1}});
    let base = Preset::TransformerTiny.config().with_changes(&layers).unwrap();
    let tiny = |changes| base.with_changes(&changes).unwrap();
    vec![
        tiny(json!({})),
        tiny(json!({"positions": "learned", "norm": "rms", "activation": "gelu", "max_positions": 50})),
        tiny(json!({"positions": "rotary", "norm_position": "pre", "activation": "swish", "gated": true})),
        tiny(json!({"positions": "sinusoidal_halves", "norm": "rms", "norm_position": "pre"})),
    ]
}

fn small() -> ModelConfig {
    let stack = json!({"layers": 2, "heads": 2});
    let changes = json!({"d_model": 8, "d_ff": 7, "encoder": stack, "decoder": {"layers": 2, "heads": 4}});
    Preset::TransformerTiny.config().with_changes(&changes).unwrap()
}

fn words(count: u32, key: u32) -> Vec<u32> {
    (0..count).map(|place| 4 + (place * place + key * 3 + place) % 7).collect()
}

fn rows(count: usize, position: usize) -> Vec<Row> {
    (0..count).map(|sentence| Row { sentence, hypothesis: 0, parent: 0, position }).collect()
}

fn bits(tensor: &Tensor) -> Vec<u32> {
    tensor.values().iter().map(|value| value.to_bits()).collect()
}

/// Log-probabilities of three steps for each sentence.
fn steps(model: &dyn Seq2Seq, source: &Padded, threads: &Threads) -> Vec<Tensor> {
    let tape = Tape::inference(threads);
    let run = Run::new(&tape);
    let memory = model.encode(&run, source).unwrap();
    let count = source.rows();
    let mut state = model.start(&run, &memory, &(0..count).collect::<Vec<_>>()).unwrap();
    let step = |position| {
        let tokens = vec![2 + 3 * position as u32; count];
        let output = model.step(&run, &memory, &state, &tokens, &rows(count, position)).unwrap();
        state = output.state;
        output.log_probs.to_tensor()
    };
    (0..3).map(step).collect()
}

#[test]
fn a_sentence_gives_the_same_bits_in_any_company() {
    // A sentence of the end symbol alone, one of one word, and one of 300.
    let sentences = [words(0, 1), words(1, 2), words(300, 3), words(12, 4)];
    let padded = |rows: &[Vec<u32>]| Padded::from_sentences(rows.iter().map(Vec::as_slice));
    for config in variants() {
        let model = config.build(11, 13, 3).unwrap();
        let together = steps(&*model, &padded(&sentences), &Threads::single());
        for (row, sentence) in sentences.iter().enumerate() {
            let alone = steps(&*model, &padded(std::slice::from_ref(sentence)), &Threads::new(2));
            for (together, alone) in together.iter().zip(&alone) {
                assert!(together.row(row).iter().all(|value| value.is_finite()));
                let together: Vec<u32> = together.row(row).iter().map(|value| value.to_bits()).collect();
                assert_eq!(together, bits(alone), "{config:?}, {} words", sentence.len());
            }
        }
    }
}

#[test]
fn training_gives_the_same_bits_on_any_threads() {
    let pairs: Vec<Pair> = (0..8)
        .map(|key| Pair { source: words(key * 3, key), target: words(45 - key * 2, key + 50) })
        .collect();
    let batch = Batch::collate(&pairs, &(0..pairs.len()).collect::<Vec<_>>());
    for config in variants() {
        let rates = json!({"attention_dropout": 0.1, "feed_forward_dropout": 0.2});
        let model = config.with_changes(&rates).unwrap().build(11, 13, 3).unwrap();
        let gradients = |threads: usize| {
            let tape = Tape::new(&Threads::new(threads));
            let weights = model.parameters().leaves(&tape);
            let noise = Some(Noise { key: 7, sampling: 0.0 });
            let training = Training {
                tape: &tape,
                weights: &weights,
                noise,
                label_smoothing: 0.1,
                scored: Scored::All,
                factor: 0.01,
                hook: None,
            };
            let output = model.loss(&training, &batch).unwrap();
            let gradients = tape.backward(&output.loss).unwrap();
            let all: Vec<Vec<u32>> = weights.iter().map(|leaf| bits(&gradients.get(leaf).unwrap())).collect();
            (output.loss.value().item().to_bits(), all)
        };
        let one = gradients(1);
        assert!(f32::from_bits(one.0).is_finite());
        assert!(one == gradients(2) && one == gradients(3), "{config:?}");
    }
}

/// What a model of two sentences of 4 and 2 positions looks at, in two steps.
fn look(
    config: &ModelConfig,
    hook: Option<&dyn AttentionHook>,
    attention: bool,
) -> (Memory, Vec<StepOutput>) {
    let model = config.build(11, 13, 3).unwrap();
    let tape = Tape::inference(&Threads::single());
    let run = Run { tape: &tape, hook, attention };
    let source = Padded::from_rows(&[vec![5, 6, 7, 3], vec![8, 3]]);
    let memory = model.encode(&run, &source).unwrap();
    let mut state = model.start(&run, &memory, &[0, 1]).unwrap();
    let step = |position| {
        let output = model.step(&run, &memory, &state, &[2, 5], &rows(2, position)).unwrap();
        state = output.state.clone();
        output
    };
    let outputs = (0..2).map(step).collect();
    (memory, outputs)
}

/// Weights are the softmax of the scores over the `length` positions of a row, and nothing behind them.
fn assert_softmax(seen: &SiteAttention, row: usize, length: usize) {
    let scores = &seen.scores.row(row)[..length];
    let sum: f32 = scores.iter().map(|score| score.exp()).sum();
    for (weight, score) in seen.weights.row(row).iter().zip(scores) {
        assert!((weight - score.exp() / sum).abs() < 1e-6, "{:?}", seen.site);
    }
    assert!(seen.weights.row(row)[length..].iter().all(|&weight| weight == 0.0), "{:?}", seen.site);
}

#[test]
fn every_layer_and_head_is_seen() {
    let (memory, outputs) = look(&small(), None, true);
    let sites = |seen: &[SiteAttention]| seen.iter().map(|seen| seen.site).collect::<Vec<_>>();
    let of = |kind, layers: usize, heads: usize| {
        let site = move |layer| (0..heads).map(move |head| AttentionSite { kind, layer, head });
        (0..layers).flat_map(site).collect::<Vec<_>>()
    };
    assert_eq!(sites(&memory.attention), of(SiteKind::EncoderSelf, 2, 2));
    for seen in &memory.attention {
        assert_eq!(seen.weights.shape().sizes(), [2, 4, 4]);
        (0..4).for_each(|row| assert_softmax(seen, row, 4));
        (4..8).for_each(|row| assert_softmax(seen, row, 2));
    }
    for (position, output) in outputs.iter().enumerate() {
        for (kind, lengths) in [(SiteKind::DecoderSelf, [position + 1; 2]), (SiteKind::Cross, [4, 2])] {
            let seen: Vec<_> =
                output.attention.iter().filter(|seen| seen.site.kind == kind).cloned().collect();
            assert_eq!(sites(&seen), of(kind, 2, 4));
            for (seen, row) in seen.iter().flat_map(|seen| [(seen, 0), (seen, 1)]) {
                assert_softmax(seen, row, lengths[row]);
            }
        }
    }
    let (memory, outputs) = look(&small(), None, false);
    assert!(memory.attention.is_empty() && outputs.iter().all(|output| output.attention.is_empty()));
}

/// Remembers who called, and silences one head.
struct Silence {
    head: AttentionSite,
    called: Mutex<Vec<(AttentionSite, usize)>>,
}

impl AttentionHook for Silence {
    fn wants(&self, _site: AttentionSite) -> bool {
        true
    }

    fn scores(&self, call: &HookCall, scores: Var) -> Result<Var> {
        assert_eq!(call.lengths, [4, 2]);
        assert_eq!(scores.shape().rows(), call.rows.len());
        self.called.lock().unwrap().push((call.site, call.rows.len()));
        Ok(scores)
    }

    fn context(&self, call: &HookCall, context: Var) -> Result<Var> {
        let silent = call.site == self.head;
        Ok(if silent { Var::constant(Tensor::zeros(context.shape())) } else { context })
    }
}

/// Is called for every other head, and changes nothing.
struct Nothing;

impl AttentionHook for Nothing {
    fn wants(&self, site: AttentionSite) -> bool {
        site.head.is_multiple_of(2)
    }
}

#[test]
fn a_hook_reaches_every_head() {
    let (plain_memory, plain) = look(&small(), None, true);
    let head = AttentionSite { kind: SiteKind::EncoderSelf, layer: 0, head: 1 };
    let hook = Silence { head, called: Mutex::default() };
    let (memory, _) = look(&small(), Some(&hook), true);
    let called = hook.called.into_inner().unwrap();
    let count = |kind, rows| called.iter().filter(|(site, n)| site.kind == kind && *n == rows).count();
    // 2 layers of 2 heads over 2 · 4 places; 2 steps of 2 layers of 4 heads for 2 rows.
    assert_eq!(count(SiteKind::EncoderSelf, 8), 4);
    assert_eq!((count(SiteKind::DecoderSelf, 2), count(SiteKind::Cross, 2), called.len()), (16, 16, 36));
    // The first layer's weights are what they were, the second layer reads something else.
    assert_eq!(bits(&memory.attention[0].weights), bits(&plain_memory.attention[0].weights));
    assert_ne!(bits(&memory.attention[2].weights), bits(&plain_memory.attention[2].weights));

    for (kind, layer) in [(SiteKind::DecoderSelf, 1), (SiteKind::Cross, 0)] {
        let hook = Silence { head: AttentionSite { kind, layer, head: 3 }, called: Mutex::default() };
        let (_, outputs) = look(&small(), Some(&hook), true);
        assert_ne!(
            bits(&outputs[0].log_probs.to_tensor()),
            bits(&plain[0].log_probs.to_tensor()),
            "{kind:?}"
        );
    }
    // A hook that changes nothing changes no bit.
    let (_, outputs) = look(&small(), Some(&Nothing), false);
    assert_eq!(bits(&outputs[1].log_probs.to_tensor()), bits(&plain[1].log_probs.to_tensor()));
}

#[test]
fn temperature_is_of_the_look_at_the_source() {
    let (plain_memory, plain) = look(&small(), None, true);
    let (memory, hot) = look(&small(), Some(&Temperature::new(3.0).unwrap()), true);
    assert_eq!(bits(&memory.attention[3].weights), bits(&plain_memory.attention[3].weights));
    let site = |kind: SiteKind| plain[0].attention.iter().position(|seen| seen.site.kind == kind).unwrap();
    let (before, after) =
        (&plain[0].attention[site(SiteKind::Cross)], &hot[0].attention[site(SiteKind::Cross)]);
    for (before, after) in before.scores.row(0).iter().zip(after.scores.row(0)) {
        assert!((before / 3.0 - after).abs() < 1e-6);
    }
}

/// A hook may put other scores in training too, and the gradient goes where it should.
#[test]
fn a_hook_sees_training_on_the_tape() {
    let model = small().build(11, 13, 3).unwrap();
    let pairs = [Pair { source: words(3, 1), target: words(2, 2) }, Pair { source: vec![], target: vec![] }];
    let batch = Batch::collate(&pairs, &[0, 1]);
    let loss = |hook: Option<&dyn AttentionHook>| {
        let tape = Tape::new(&Threads::single());
        let weights = model.parameters().leaves(&tape);
        let training = Training {
            tape: &tape,
            weights: &weights,
            noise: None,
            label_smoothing: 0.0,
            scored: Scored::All,
            factor: 1.0,
            hook,
        };
        let output = model.loss(&training, &batch).unwrap();
        let gradients = tape.backward(&output.loss).unwrap();
        let key =
            model.parameters().names().iter().position(|name| name == "decoder.0.cross_attention.key.weight");
        (output.negative_log_likelihood, bits(&gradients.get(&weights[key.unwrap()]).unwrap()))
    };
    assert_eq!(loss(None), loss(Some(&Nothing)));
    assert_ne!(loss(None), loss(Some(&Temperature::new(2.0).unwrap())));
}

#[test]
fn places_past_a_learned_table_share_its_last_row() {
    let config = small().with_changes(&json!({"positions": "learned", "max_positions": 3})).unwrap();
    let ModelConfig::Transformer(transformer) = &config else { panic!("a Transformer") };
    assert_eq!(transformer.positions, Positions::Learned);
    let model = config.build(11, 13, 3).unwrap();
    let found = steps(&*model, &Padded::from_rows(&[words(40, 1)]), &Threads::single());
    assert!(found.iter().all(|step| step.values().iter().all(|value| value.is_finite())));
}

#[test]
fn what_belongs_to_another_model_or_row_is_refused() {
    let model = small().build(11, 13, 3).unwrap();
    let other = Preset::Bahdanau.config().build(11, 13, 3).unwrap();
    let tape = Tape::inference(&Threads::single());
    let run = Run::new(&tape);
    let source = Padded::from_rows(&[vec![5, 3]]);
    let (memory, foreign) = (model.encode(&run, &source).unwrap(), other.encode(&run, &source).unwrap());
    let state = model.start(&run, &memory, &[0]).unwrap();
    assert!(model.start(&run, &memory, &[1]).is_err());
    assert!(model.step(&run, &foreign, &state, &[2], &rows(1, 0)).is_err());
    assert!(model.step(&run, &memory, &state, &[2, 2], &rows(1, 0)).is_err());
    assert!(model.step(&run, &memory, &state, &[99], &rows(1, 0)).is_err());
    assert!(model.step(&run, &memory, &state, &[2, 2], &rows(2, 0)).is_err(), "sentence 1 is not there");
    let next = model.step(&run, &memory, &state, &[2], &rows(1, 0)).unwrap().state;
    assert!(next.select(&[1]).is_err());
    assert!(model.step(&run, &memory, &next.select(&[0, 0]).unwrap(), &[4], &rows(1, 1)).is_err());
}
