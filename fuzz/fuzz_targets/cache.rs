//! A cache of ids; checksums are made to fit.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regard_fuzz::file;
use regard_text::{CachedCorpus, PairSource};

fuzz_target!(|data: &[u8]| {
    let mut bytes = data.to_vec();
    if let Some((header, body)) = bytes.split_at_mut_checked(64) {
        header[40..44].copy_from_slice(&crc32c::crc32c(body).to_le_bytes());
        let crc = crc32c::crc32c(&header[..60]);
        header[60..].copy_from_slice(&crc.to_le_bytes());
    }
    let Ok(corpus) = CachedCorpus::open(&file("pairs.cache", &bytes), "key") else { return };
    for index in 0..corpus.len() {
        let pair = corpus.get(index).unwrap();
        assert_eq!(corpus.lengths(index), pair.lengths());
    }
    assert_eq!(corpus.parts().iter().map(|part| part.pairs).sum::<usize>(), corpus.len());
});
