//! Text → ids → text, for any text and every tokenizer whose vocabulary is counted.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use regard_text::special_tokens::UNK;
use regard_text::{Bpe, Normalizer, Pipeline, Preparation, Tokenizer, is_blank};

/// Words forget how many spaces stood between them.
fn single_spaced(line: &str) -> String {
    line.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn tokenizers(line: &str) -> [Tokenizer; 4] {
    let bpe = Bpe::learn([line, line, "@@ a@@b </s> <2fr>"], 30, 1);
    let restricted = bpe.clone().with_vocabulary(["a".to_owned(), "@@@@".to_owned()]);
    [Tokenizer::Word, Tokenizer::Character, Tokenizer::Bpe(bpe), Tokenizer::Bpe(restricted)]
}

proptest! {
    #[test]
    fn decoding_undoes_encoding(line in "[a@▁</s>|\\\\ \u{301}é]{0,16}|\\PC{0,24}") {
        for normalizer in [Normalizer::None, Normalizer::Nfc, Normalizer::Nfkc] {
            for lowercase in [false, true] {
                for tokenizer in tokenizers(&line) {
                    let characters = matches!(tokenizer, Tokenizer::Character);
                    let preparation = Preparation { lowercase, ..normalizer.into() };
                    let pipeline = Pipeline::build(preparation, tokenizer, [line.as_str()], None, 1);
                    let ids = pipeline.encode(&line);
                    prop_assert!(ids.iter().all(|&id| id > UNK));
                    let prepared = preparation.prepare(&line);
                    let expected = match () {
                        () if is_blank(&line) => String::new(),
                        () if characters => prepared.into_owned(),
                        () => single_spaced(&prepared),
                    };
                    prop_assert_eq!(pipeline.detokenize(&pipeline.tokens_of(&ids)), expected);
                }
            }
        }
    }
}

/// P22: what the user typed comes back, and no mark is left over or added.
#[test]
fn p22_undoing_subwords() {
    let lines = ["mail me @@ home", "foo@@", "▁under", "a@@b", "</s> <pad> ||| x", "\\</s>"];
    for line in lines {
        for tokenizer in tokenizers(&lines.join(" ")) {
            let pipeline = Pipeline::build(Normalizer::None, tokenizer, lines, None, 1);
            let ids = pipeline.encode(line);
            assert!(!ids.contains(&UNK));
            assert_eq!(pipeline.detokenize(&pipeline.tokens_of(&ids)), line);
        }
    }
    // An output that was cut inside a word.
    let bpe = Tokenizer::Bpe(Bpe::from_merges(Vec::new()));
    let pipeline = Pipeline::build(Normalizer::None, bpe, ["home"], None, 1);
    let ids = pipeline.encode("home");
    assert_eq!(pipeline.tokens_of(&ids[..2]), ["h@@", "o@@"]);
    assert_eq!(pipeline.detokenize(&pipeline.tokens_of(&ids[..2])), "ho");
}
