//! Moses' tokenizer against sacremoses 0.2: see `tests/goldens/make_moses.py`.

#![allow(clippy::unwrap_used)]

use std::io::Read;

use flate2::read::GzDecoder;
use proptest::prelude::*;
use regard_text::{Moses, MosesLanguage, Preparation};
use serde::Deserialize;

const LANGUAGES: [MosesLanguage; 3] = [MosesLanguage::En, MosesLanguage::Fr, MosesLanguage::De];

/// All languages, each with and without escapes.
fn all() -> impl Iterator<Item = Moses> {
    LANGUAGES.into_iter().flat_map(|language| [true, false].map(|escape| Moses { language, escape }))
}

#[derive(Deserialize)]
struct Case {
    line: String,
    /// In the order of [`all`]: the tokens between spaces, the line they make, and the line that the line's words make.
    results: Vec<[String; 3]>,
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

#[test]
fn hard_lines_as_sacremoses_has_them() {
    let mut text = String::new();
    GzDecoder::new(&include_bytes!("data/moses.json.gz")[..]).read_to_string(&mut text).unwrap();
    let cases: Vec<Case> = serde_json::from_str(&text).unwrap();
    assert!(cases.len() > 250);
    for Case { line, results } in &cases {
        assert_eq!(results.len(), all().count());
        for (moses, [tokens, joined, line_joined]) in all().zip(results) {
            assert_eq!(&moses.tokenize(line).join(" "), tokens, "{moses:?} {line:?}");
            assert_eq!(&moses.detokenize(&words(tokens)), joined, "{moses:?} {tokens:?}");
            assert_eq!(&moses.detokenize(&words(line)), line_joined, "{moses:?} {line:?}");
        }
    }
}

#[test]
fn what_a_user_types_as_an_entity_is_text() {
    for moses in all() {
        let tokens = moses.tokenize("&apos;&lt;");
        assert_eq!(tokens[0], if moses.escape { "&amp;" } else { "&" });
        assert_eq!(visible(&moses.detokenize(&tokens)), "&apos;&lt;");
        assert_eq!(moses.detokenize(&["&amp;apos;"]), if moses.escape { "&apos;" } else { "&amp;apos;" });
    }
}

#[test]
fn settings_are_small_words() {
    let moses = Moses { language: MosesLanguage::De, escape: false };
    let text = r#"{"language":"de","escape":false}"#;
    assert_eq!(serde_json::to_string(&moses).unwrap(), text);
    assert_eq!(serde_json::from_str::<Moses>(text).unwrap(), moses);
}

#[test]
fn lowercase_as_python_has_it() {
    for (line, expected) in [
        ("ÀÉÎ ẞ Ǆ ǅ ℻ Ⅳ Ⓐ", "àéî ß ǆ ǆ ℻ ⅳ ⓐ"),
        ("İI ıi", "i̇i ıi"),
        ("ΟΔΟΣ ΟΔΟΣ. Σ ΣΣ Α.Σ Α.Σ.Α ΑΣ'Α", "οδος οδος. σ σς α.ς α.σ.α ασ'α"),
        ("Ა Ꭰ 𐐀 𞤀 Ɡ", "ა ꭰ 𐐨 𞤢 ɡ"),
    ] {
        let preparation = Preparation { lowercase: true, ..Preparation::default() };
        assert_eq!(preparation.prepare(line), expected);
    }
}

fn is_white(c: char) -> bool {
    c.is_whitespace() || c <= ' '
}

/// What the tokenizer keeps of a text.
fn visible(text: &str) -> String {
    text.chars().filter(|&c| !is_white(c)).collect()
}

/// Lines of what the rules look at, between any characters.
fn lines() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        any::<char>().prop_map(String::from),
        "[a-zA-Z0-9 ]{1,3}",
        "[ .,'\"`&|<>;@-]{1,4}",
        prop::sample::select(vec![
            "Mr.", "No. ", "z.B.", "l'", "&apos;", "½", "中", "\u{94d}", "\u{85}", "\0", "É", "$", "„"
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn spans_are_where_the_tokens_come_from(line in lines()) {
        for moses in all() {
            let mut end = 0;
            let mut seen = String::new();
            for (token, span) in moses.tokenize_with_spans(&line) {
                prop_assert!(end <= span.start && span.start < span.end);
                prop_assert!(!token.is_empty() && !token.contains(is_white));
                prop_assert_eq!(visible(&line[end..span.start]), "");
                end = span.end;
                seen.push_str(&line[span.clone()]);
                let plain = Moses { escape: false, ..moses }.tokenize_with_spans(&line);
                let (plain, _) = plain.iter().find(|(_, other)| *other == span).unwrap();
                prop_assert_eq!(plain, &visible(&line[span]));
                prop_assert_eq!(visible(&moses.detokenize(&[token])), plain.as_str());
            }
            prop_assert_eq!(visible(&seen), visible(&line));
        }
    }

    #[test]
    fn only_spaces_are_lost_on_the_way_back(line in lines()) {
        for moses in all() {
            prop_assert_eq!(visible(&moses.detokenize(&moses.tokenize(&line))), visible(&line));
        }
    }

    #[test]
    fn any_tokens_make_a_line(tokens in prop::collection::vec(lines(), 0..6)) {
        for moses in all() {
            let line = moses.detokenize(&tokens);
            prop_assert_eq!(line.trim_matches(' '), &line);
        }
    }
}
