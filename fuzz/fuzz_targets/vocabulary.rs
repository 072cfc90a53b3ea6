//! A vocabulary file: what is read is written again byte for byte.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regard_fuzz::file;
use regard_text::Vocabulary;

fuzz_target!(|data: &[u8]| {
    let path = file("vocabulary", data);
    let Ok(vocabulary) = Vocabulary::read(&path) else { return };
    for (id, token) in (0..).zip(vocabulary.tokens()) {
        assert_eq!(vocabulary.id(token), Some(id));
    }
    vocabulary.write(&path).unwrap();
    let written = std::fs::read(&path).unwrap();
    assert_eq!(written.strip_suffix(b"\n").unwrap(), data.strip_suffix(b"\n").unwrap_or(data));
});
