//! A model's directory with one file exchanged. The first byte says which, and of which model; digests are made to fit.
#![no_main]

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use regard_decode::{MaxLength, SearchOptions, TranslateOptions, Translator};
use regard_fuzz::{SCRATCH, model};
use regard_model::{Predictor, Preset, checkpoint};
use regard_tensor::Threads;

const PRESETS: [Preset; 2] = [Preset::Bahdanau, Preset::TransformerTiny];

/// The directories of both models, and what their `config.json` is.
static MODELS: LazyLock<[(PathBuf, Vec<u8>); 2]> = LazyLock::new(|| {
    PRESETS.map(|preset| {
        let dir = SCRATCH.join(format!("{preset:?}"));
        model::save(&dir, preset);
        let config = std::fs::read(dir.join("config.json")).unwrap();
        (dir, config)
    })
});

fuzz_target!(|data: &[u8]| {
    let Some((which, bytes)) = data.split_first() else { return };
    let (dir, config) = &MODELS[usize::from(which / 8 % 2)];
    let name = ["model.safetensors", "source.vocab.txt", "source.tokenizer.json"].get(usize::from(which % 8));
    let original = name.map(|name| (name, std::fs::read(dir.join(name)).unwrap()));
    match name {
        Some(name) => model::exchange(dir, name, bytes),
        None => model::exchange_config(dir, bytes),
    }
    if let Ok((info, network)) = checkpoint::load(dir) {
        let network: Box<dyn Predictor> = network;
        let translator =
            Translator::new(Arc::from(network), info.source, info.target, Threads::single()).unwrap();
        let search =
            SearchOptions { beam_size: 2, max_length: MaxLength::Fixed(5), ..SearchOptions::default() };
        let options = TranslateOptions { search, ..TranslateOptions::default() };
        let _ = translator.translate(&["the cat", ""], &options);
    }
    if let Some((name, original)) = original {
        std::fs::write(dir.join(name), original).unwrap();
    }
    std::fs::write(dir.join("config.json"), config).unwrap();
});
