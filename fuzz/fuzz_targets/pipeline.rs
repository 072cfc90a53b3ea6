//! The files of one side of a model; then a line goes through and back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regard_fuzz::{SCRATCH, file, parts};
use regard_text::{Pipeline, SampleOptions};

fuzz_target!(|data: &[u8]| {
    let [settings, vocabulary, codes, pieces, line] = parts(data);
    file("side.tokenizer.json", settings);
    file("side.vocab.txt", vocabulary);
    file("side.bpe", codes);
    file("side.pieces.txt", pieces);
    let Ok(pipeline) = Pipeline::load(&*SCRATCH, "side") else { return };
    let line = String::from_utf8_lossy(line);
    let ids = pipeline.encode_tagged(pipeline.tags(), &line).unwrap();
    assert!(ids.iter().all(|&id| pipeline.vocabulary.token(id).is_some()));
    let _ = pipeline.detokenize(&pipeline.tokens_of(&ids));
    let _ = pipeline.resample(&ids, SampleOptions::Dropout(0.5), 1);
    for token in pipeline.tokenize_with_ranges(&line) {
        assert!(line.get(token.range).is_some());
    }
});
