//! Search and forced decoding over real networks.

mod common;

use std::sync::Arc;

use common::target_row;
use regard_decode::{Decoding, MaxLength, SearchOptions, TranslateOptions, Translator};
use regard_model::{Preset, Seq2Seq};
use regard_tensor::Threads;
use regard_text::{Normalizer, Padded, Pipeline, Tokenizer};

fn model(preset: Preset) -> Box<dyn Seq2Seq> {
    preset.config().build(13, 11, 7).expect("presets are possible")
}

fn words(count: u32, key: u32) -> Vec<u32> {
    (0..count).map(|i| 4 + (i * i + key) % 9).collect()
}

fn sources() -> Vec<Vec<u32>> {
    (1..12_u32).map(|n| words(n * 5 % 13, n)).collect()
}

fn options(model: &dyn Seq2Seq) -> SearchOptions {
    SearchOptions {
        n_best: 5,
        max_length: MaxLength::Fixed(14),
        attention: model.has_attention(),
        ..SearchOptions::default()
    }
}

#[test]
fn forced_decoding_and_batches_agree_to_the_bit() {
    let recurrent = [Preset::Bahdanau, Preset::Luong, Preset::Cho, Preset::Sutskever];
    for preset in recurrent.into_iter().chain([Preset::TransformerTiny]) {
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
    for preset in [Preset::Bahdanau, Preset::TransformerTiny] {
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
    let model: Arc<dyn Seq2Seq> = Arc::from(model(Preset::Bahdanau));
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
