//! Tokenizers of Hugging Face against their own library: `tests/goldens/make_hugging_face.py` wrote models and tokens.

#![allow(clippy::unwrap_used)]
#![cfg(feature = "huggingface")]

use std::path::Path;

use regard_text::special_tokens::UNK;
use regard_text::{HuggingFace, Normalizer, Pipeline, Tokenizer};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    line: String,
    tokens: Vec<String>,
    ranges: Vec<[usize; 2]>,
    text: String,
}

fn golden(name: &str) -> (HuggingFace, Vec<Case>) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/hugging_face");
    let cases = std::fs::read_to_string(dir.join(format!("{name}.lines.json"))).unwrap();
    (HuggingFace::read(dir.join(format!("{name}.json"))).unwrap(), serde_json::from_str(&cases).unwrap())
}

#[test]
fn tokens_and_ranges_are_the_librarys() {
    for name in ["byte_level", "word_piece", "unigram"] {
        let (model, cases) = golden(name);
        let own: Vec<String> = model.tokens().to_vec();
        let tokenizer = Tokenizer::HuggingFace(model);
        for case in cases {
            let tokens = tokenizer.tokenize_with_ranges(&case.line);
            assert_eq!(tokens.len(), case.tokens.len(), "{name}: {}", case.line);
            for ((token, expected), [start, end]) in tokens.iter().zip(&case.tokens).zip(case.ranges) {
                assert_eq!(token.range, start..end, "{name}: {}", case.line);
                // What is unknown, or a control symbol, stands for the text.
                let text = if own.contains(expected) { expected } else { &case.line[start..end] };
                assert_eq!(token.text, text, "{name}: {}", case.line);
            }
        }
    }
}

#[test]
fn lines_come_back() {
    let (model, cases) = golden("byte_level");
    let pipeline = Pipeline::from_model(Normalizer::None, Tokenizer::HuggingFace(model)).unwrap();
    for case in cases {
        assert_eq!(case.text, case.line);
        let ids = pipeline.encode(&case.line);
        assert!(ids.iter().all(|&id| id > UNK), "{}", case.line);
        assert_eq!(pipeline.detokenize(&pipeline.tokens_of(&ids)), case.line);
    }
    for name in ["word_piece", "unigram"] {
        let (model, cases) = golden(name);
        let pipeline = Pipeline::from_model(Normalizer::None, Tokenizer::HuggingFace(model)).unwrap();
        let known = pipeline.encode(&cases[0].line);
        assert!(known.iter().all(|&id| id > UNK));
        assert_eq!(pipeline.detokenize(&pipeline.tokens_of(&known)), cases[0].text);
        assert!(pipeline.encode("</s> [CLS] 日").iter().all(|&id| id == UNK || id > 3));
    }
}

#[test]
fn saved_with_the_pipeline() {
    let dir = tempfile::tempdir().unwrap();
    let (model, cases) = golden("unigram");
    let pipeline = Pipeline::from_model(Normalizer::Nfc, Tokenizer::HuggingFace(model)).unwrap();
    let files = pipeline.save(dir.path(), "source").unwrap();
    assert_eq!(files, ["source.tokenizer.json", "source.vocab.txt", "source.huggingface.json"]);
    let loaded = Pipeline::load(dir.path(), "source").unwrap();
    for case in cases {
        assert_eq!(loaded.encode(&case.line), pipeline.encode(&case.line));
    }
}

#[test]
fn what_is_no_tokenizer_is_refused_by_name() {
    let control = "{\"decoder\": {\"type\": \"\u{1}\"}}";
    for json in
        ["", "{}", "[1]", control, r#"{"model": {"type": "BPE", "vocab": {}, "merges": [["a", "b"]]}}"#]
    {
        let message = HuggingFace::from_json(json.to_owned(), "x.json").unwrap_err().to_string();
        assert!(message.starts_with("x.json: no tokenizer.json of Hugging Face"), "{message}");
    }
}
