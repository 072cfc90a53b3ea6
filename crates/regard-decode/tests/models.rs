//! Search and forced decoding over real networks.

mod common;

use std::sync::{Arc, Mutex};

use common::target_row;
use regard_decode::{Controls, Decoding, Look, MaxLength, SearchOptions, TranslateOptions, Translator};
use regard_model::{AttentionHook, AttentionSite, HookCall, Predictor, Preset, SiteKind};
use regard_tensor::{Threads, Var};
use regard_text::{Normalizer, Padded, Pipeline, Tokenizer};

fn model(preset: Preset) -> Box<dyn Predictor> {
    preset.config().build(13, 11, 7).expect("presets are possible")
}

fn words(count: u32, key: u32) -> Vec<u32> {
    (0..count).map(|i| 4 + (i * i + key) % 9).collect()
}

fn sources() -> Vec<Vec<u32>> {
    (1..12_u32).map(|n| words(n * 5 % 13, n)).collect()
}

fn options(model: &dyn Predictor) -> SearchOptions {
    SearchOptions {
        n_best: 5,
        max_length: MaxLength::Fixed(14),
        attention: model.has_attention().then(Look::default),
        ..SearchOptions::default()
    }
}

#[test]
fn forced_decoding_and_batches_agree_to_the_bit() {
    let recurrent = [Preset::Bahdanau, Preset::Luong, Preset::Cho, Preset::Sutskever];
    for preset in recurrent.into_iter().chain([Preset::TransformerTiny, Preset::TransformerReader]) {
        let model = &*model(preset);
        let (single, two) = (Threads::single(), Threads::new(2));
        let options = options(model);
        let rows = Padded::from_sentences(sources().iter().map(Vec::as_slice));
        let together = Decoding::new(model, &single).search(&rows, &options).unwrap();
        assert_eq!(Decoding::new(model, &two).search(&rows, &options).unwrap(), together, "{preset:?}");
        for (source, list) in sources().iter().zip(&together) {
            let alone = Padded::from_sentences([source.as_slice()].into_iter());
            let found = Decoding::new(model, &single).search(&alone, &options).unwrap().remove(0);
            assert_eq!(&found, list, "{preset:?}, {} words", source.len());
            let copies = Padded::from_sentences(list.iter().map(|_| source.as_slice()));
            let targets = Padded::from_rows(&list.iter().map(target_row).collect::<Vec<_>>());
            let scores = Decoding::new(model, &single).score(&copies, &targets, options.attention).unwrap();
            for (score, hypothesis) in scores.iter().zip(list) {
                assert_eq!(score.log_prob.to_bits(), hypothesis.log_prob.to_bits());
                assert_eq!(score.attention, hypothesis.attention);
                assert_eq!(score.attention_scores, hypothesis.attention_scores);
            }
        }
    }
}

/// A line of nothing, one of a word and one of 300 words keep their translations in one batch.
#[test]
fn lengths_that_differ_by_far_agree_to_the_bit() {
    let sentences = [words(0, 1), words(1, 2), words(300, 3)];
    for preset in [Preset::Bahdanau, Preset::TransformerTiny, Preset::TransformerReader] {
        let model = &*model(preset);
        let (single, options) = (Threads::single(), options(model));
        let rows = Padded::from_sentences(sentences.iter().map(Vec::as_slice));
        let together = Decoding::new(model, &single).search(&rows, &options).unwrap();
        for (source, list) in sentences.iter().zip(&together) {
            assert!(list.iter().all(|hypothesis| hypothesis.log_prob.is_finite()));
            let alone = Padded::from_sentences([source.as_slice()].into_iter());
            let found = Decoding::new(model, &single).search(&alone, &options).unwrap().remove(0);
            assert_eq!(&found, list, "{preset:?}, {} words", source.len());
        }
    }
}

#[test]
fn a_translator_is_shared_between_threads() {
    let words = |line: &str| Pipeline::build(Normalizer::None, Tokenizer::Word, [line], None, 1);
    let model: Arc<dyn Predictor> = Arc::from(model(Preset::Bahdanau));
    let (source, target) = (words("a b c d e f g h i"), words("t u v w x y z"));
    let translator = Translator::new(model, source, target, Threads::new(2)).unwrap();
    let options = TranslateOptions::default();
    let expected = translator.translate(&["a b c", "d e"], &options).unwrap();
    std::thread::scope(|scope| {
        let work = || translator.translate(&["a b c", "d e"], &options).unwrap();
        let others = [scope.spawn(work), scope.spawn(work)];
        for other in others {
            assert_eq!(other.join().unwrap(), expected);
        }
    });
}

/// Keeps the weights that one head computes.
struct Head(AttentionSite, Mutex<Vec<Vec<f32>>>);

impl AttentionHook for Head {
    fn weights(&self, call: &HookCall, weights: Var) -> regard_model::Result<Var> {
        if call.site == self.0 {
            self.1
                .lock()
                .expect("nobody panicked")
                .extend(weights.value().values().chunks(4).map(<[f32]>::to_vec));
        }
        Ok(weights)
    }
}

#[test]
fn a_chosen_layer_and_head_are_returned() {
    let model = &*model(Preset::TransformerTiny);
    let (source, target) =
        (Padded::from_sentences([[4_u32, 5, 6].as_slice()].into_iter()), Padded::from_rows(&[vec![5, 7, 2]]));
    let threads = Threads::single();
    let plain = Decoding::new(model, &threads);
    let seen = |look: Look| plain.score(&source, &target, Some(look)).unwrap().remove(0);
    let mut heads = Vec::new();
    for head in 0..4 {
        let keeper = Head(AttentionSite { kind: SiteKind::Cross, layer: 1, head }, Mutex::default());
        let controls = Controls { hook: Some(&keeper), ..Controls::default() };
        Decoding { controls, ..plain }.score(&source, &target, None).unwrap();
        heads.push(keeper.1.into_inner().unwrap());
        let chosen = seen(Look { layer: Some(1), head: Some(head) });
        assert_eq!(chosen.attention.as_ref(), heads.last());
    }
    assert!(heads[0] != heads[1]);
    let layer = seen(Look { layer: Some(1), head: None });
    for (step, row) in layer.attention.unwrap().iter().enumerate() {
        for (at, weight) in row.iter().enumerate() {
            let mean = heads.iter().map(|head| head[step][at]).sum::<f32>() / 4.0;
            assert!((weight - mean).abs() < 1e-6);
        }
    }
    assert_eq!(seen(Look::default()).attention, seen(Look { layer: Some(3), head: None }).attention);
    let refused = |look| plain.score(&source, &target, Some(look)).unwrap_err().to_string();
    assert_eq!(
        refused(Look { layer: Some(4), head: None }),
        "search options: layer 4 of the attention: the model has layers 0 to 3"
    );
    assert_eq!(
        refused(Look { layer: None, head: Some(4) }),
        "search options: head 4 of the attention: the model has heads 0 to 3"
    );
}

#[test]
fn coverage_counts_by_the_last_layer_whatever_is_returned() {
    let model = &*model(Preset::TransformerTiny);
    let rows = Padded::from_sentences(sources().iter().map(Vec::as_slice));
    let threads = Threads::single();
    let search = |attention| {
        let options = SearchOptions { coverage_penalty: 0.5, attention, ..options(model) };
        let lists = Decoding::new(model, &threads).search(&rows, &options).unwrap();
        lists.into_iter().flatten().map(|found| (found.tokens, found.score.to_bits())).collect::<Vec<_>>()
    };
    let none = search(None);
    assert_eq!(search(Some(Look::default())), none);
    assert_eq!(search(Some(Look { layer: Some(0), head: Some(2) })), none);
}
