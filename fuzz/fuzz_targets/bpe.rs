//! subword-nmt's files: codes, a vocabulary of pieces, counts of words; then a line is cut and joined.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regard_fuzz::{file, parts};
use regard_text::{Bpe, Tokenizer};

fuzz_target!(|data: &[u8]| {
    let [codes, pieces, counts, glossary, line] = parts(data);
    let line = String::from_utf8_lossy(line).replace('\n', " ");
    let glossary = String::from_utf8_lossy(glossary).into_owned();
    let pieces = Bpe::read_vocabulary(file("pieces", pieces), 2);
    let mut found = Vec::new();
    if let Ok(bpe) = Bpe::read(file("codes", codes)) {
        found.extend(bpe.clone().with_glossaries(vec![glossary]));
        found.extend(pieces.map(|pieces| bpe.clone().with_vocabulary(pieces)));
        found.push(bpe);
    }
    if let Ok(counts) = Bpe::read_word_counts(file("counts", counts)) {
        found.push(Bpe::learn_from_counts(counts, 20, 2, &mut |_| {}));
    }
    let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
    for bpe in found {
        let _ = bpe.sample(&line, 0.5, 1);
        let tokens = bpe.segment(&line);
        assert_eq!(Tokenizer::Bpe(bpe).detokenize(&tokens), words.join(" "));
    }
});
