//! A tokenizer.json of Hugging Face; then a line is cut and joined.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regard_fuzz::with_line;
use regard_text::{HuggingFace, Tokenizer};

fuzz_target!(|data: &[u8]| {
    let (json, line) = with_line(data);
    let Ok(json) = String::from_utf8(json.to_vec()) else { return };
    let Ok(model) = HuggingFace::from_json(json, "fuzz") else { return };
    let tokenizer = Tokenizer::HuggingFace(model);
    let tokens = tokenizer.tokenize(&line);
    let _ = tokenizer.detokenize(&tokens);
    assert!(
        tokenizer.tokenize_with_ranges(&line).iter().all(|token| line.get(token.range.clone()).is_some())
    );
});
