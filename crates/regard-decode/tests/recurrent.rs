//! Search and forced decoding over real networks.

mod common;

use std::sync::Arc;

use common::target_row;
use regard_decode::{Decoding, MaxLength, SearchOptions, TranslateOptions, Translator};
use regard_model::{Preset, RecurrentModel, Seq2Seq};
use regard_tensor::Threads;
use regard_text::{Normalizer, Padded, Pipeline, Tokenizer};

fn model(preset: Preset) -> RecurrentModel {
    RecurrentModel::new(&preset.config(), 13, 11, 7).expect("presets are possible")
}

fn sources() -> Vec<Vec<u32>> {
    (1..12_u32).map(|n| (0..n * 5 % 13).map(|i| 4 + (i * i + n) % 9).collect()).collect()
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
    for preset in [Preset::Bahdanau, Preset::Luong, Preset::Cho, Preset::Sutskever] {
        let model = model(preset);
        let (single, two) = (Threads::single(), Threads::new(2));
        let options = options(&model);
        let rows = Padded::from_sentences(sources().iter().map(Vec::as_slice));
        let together = Decoding::new(&model, &single).search(&rows, &options).unwrap();
        assert_eq!(Decoding::new(&model, &two).search(&rows, &options).unwrap(), together, "{preset:?}");
        for (source, list) in sources().iter().zip(&together) {
            let alone = Padded::from_sentences([source.as_slice()].into_iter());
            let found = Decoding::new(&model, &single).search(&alone, &options).unwrap().remove(0);
            assert_eq!(&found, list, "{preset:?}, {} words", source.len());
            let copies = Padded::from_sentences(list.iter().map(|_| source.as_slice()));
            let targets = Padded::from_rows(&list.iter().map(target_row).collect::<Vec<_>>());
            let scores = Decoding::new(&model, &single).score(&copies, &targets, options.attention).unwrap();
            for (score, hypothesis) in scores.iter().zip(list) {
                assert_eq!(score.log_prob.to_bits(), hypothesis.log_prob.to_bits());
                assert_eq!(score.attention, hypothesis.attention);
                assert_eq!(score.attention_scores, hypothesis.attention_scores);
            }
        }
    }
}

#[test]
fn a_translator_is_shared_between_threads() {
    let words = |line: &str| Pipeline::build(Normalizer::None, Tokenizer::Word, [line], None, 1);
    let model: Arc<dyn Seq2Seq> = Arc::new(model(Preset::Bahdanau));
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
