//! Moses' tokenizer and detokenizer on any line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regard_text::{Moses, MosesLanguage};

fuzz_target!(|line: &str| {
    for language in [MosesLanguage::En, MosesLanguage::Fr, MosesLanguage::De] {
        for escape in [false, true] {
            let moses = Moses { language, escape };
            let mut end = 0;
            for (token, range) in moses.tokenize_with_spans(line) {
                assert!(!token.is_empty() && range.start >= end && line.get(range.clone()).is_some());
                end = range.end;
            }
            let _ = moses.detokenize(&moses.tokenize(line));
            let _ = moses.detokenize(&line.split(' ').collect::<Vec<_>>());
        }
    }
});
