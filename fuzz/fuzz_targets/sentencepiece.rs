//! A SentencePiece model; then a line is cut in all ways and joined.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regard_fuzz::with_line;
use regard_text::{SampleOptions, SentencePiece};

fuzz_target!(|data: &[u8]| {
    let (model, line) = with_line(data);
    let Ok(model) = SentencePiece::from_bytes(model.to_vec(), "fuzz") else { return };
    let ids = model.encode(&line);
    let _ = model.decode(&ids);
    let tokens = model.segment(&line);
    assert!(ids.iter().eq(tokens.iter().map(|token| &token.id)));
    assert!(tokens.iter().all(|token| line.get(token.range.clone()).is_some()));
    let _ = model.join(&tokens.iter().map(|token| token.piece.as_str()).collect::<Vec<_>>());
    if let Ok(found) = model.nbest(&line, 3) {
        assert!((1..=3).contains(&found.len()));
    }
    for options in [
        SampleOptions::All { alpha: 0.5 },
        SampleOptions::Best { count: 3, alpha: 0.5 },
        SampleOptions::Dropout(0.5),
    ] {
        let _ = model.sample(&line, options, 1);
    }
});
