//! Lines through small models, and tokens that they have to score: source, then tokens, a tab between.
#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use regard_decode::{Look, MaxLength, SearchOptions, TranslateOptions, Translator};
use regard_fuzz::model;
use regard_model::{Predictor, Preset};
use regard_tensor::Threads;
use regard_text::special_tokens::UNK;

static TRANSLATORS: LazyLock<[Translator; 2]> = LazyLock::new(|| {
    [Preset::Bahdanau, Preset::TransformerTiny].map(|preset| {
        let info = model::info(preset);
        let network: Box<dyn Predictor> = model::network(preset);
        Translator::new(Arc::from(network), info.source, info.target, Threads::single())
            .unwrap()
    })
});

fuzz_target!(|text: &str| {
    let lines: Vec<(&str, &str)> =
        text.split('\n').map(|line| line.split_once('\t').unwrap_or((line, ""))).collect();
    let sources: Vec<&str> = lines.iter().map(|line| line.0).collect();
    let search = SearchOptions {
        beam_size: 2,
        max_length: MaxLength::Fixed(6),
        attention: Some(Look::default()),
        ..SearchOptions::default()
    };
    let options = TranslateOptions { search, replace_unk: true, ..TranslateOptions::default() };
    for translator in &*TRANSLATORS {
        assert_eq!(translator.translate(&sources, &options).unwrap().len(), sources.len());
        let id = |token: &str| translator.target().vocabulary.id(token).unwrap_or(UNK);
        let rows: Vec<Vec<u32>> =
            lines.iter().map(|line| line.1.split_whitespace().map(id).collect()).collect();
        let scores = translator.score_rows(&sources, &rows, 3, Some(Look::default())).unwrap();
        assert!(scores.iter().all(|score| score.log_prob <= 0.0));
    }
});
