//! BPE against subword-nmt 0.2: the published merges and segmentations of Multi30k.

#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::path::Path;

use common::data;
use regard_text::{Bpe, Lines};
use serde::Deserialize;

/// What `tests/goldens/make_subword_nmt.py` wrote.
#[derive(Deserialize)]
struct Golden {
    text: Vec<String>,
    codes: String,
    dictionary: String,
    dictionary_codes: String,
    counts: String,
    threshold: u64,
    glossaries: Vec<String>,
    lines: Vec<String>,
    plain: Vec<String>,
    restricted: Vec<String>,
    isolated: Vec<String>,
    both: Vec<String>,
}

fn codes(bpe: &Bpe, dir: &Path) -> String {
    let path = dir.join("codes");
    bpe.write(&path).unwrap();
    fs::read_to_string(path).unwrap()
}

#[test]
fn dictionaries_vocabularies_and_glossaries() {
    let golden: Golden = serde_json::from_str(include_str!("data/subword_nmt.json")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let learned = Bpe::learn(&golden.text, 90, 2);
    assert_eq!(codes(&learned, dir.path()), golden.codes);

    let dictionary = dir.path().join("dictionary");
    fs::write(&dictionary, &golden.dictionary).unwrap();
    let words = Bpe::read_word_counts(&dictionary).unwrap();
    assert_eq!(words, Bpe::count_words(&golden.text, 2));
    assert_eq!(
        codes(&Bpe::learn_from_counts(words, 60, 2, &mut |_| {}), dir.path()),
        golden.dictionary_codes
    );

    let counts = learned.count_pieces(golden.text.iter().filter(|line| !line.contains("@@")));
    let file = dir.path().join("counts");
    Bpe::write_vocabulary(&file, &counts).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), golden.counts);

    let vocabulary = || Bpe::read_vocabulary(&file, golden.threshold).unwrap();
    let restricted = learned.clone().with_vocabulary(vocabulary());
    let isolated = learned.clone().with_glossaries(golden.glossaries.clone()).unwrap();
    let both = isolated.clone().with_vocabulary(vocabulary());
    let cases = [
        (learned, golden.plain),
        (restricted, golden.restricted),
        (isolated, golden.isolated),
        (both, golden.both),
    ];
    let mut compared = 0;
    for (bpe, expected) in cases {
        for (line, expected) in golden.lines.iter().zip(expected).filter(|(line, _)| !line.contains("@@")) {
            assert_eq!(bpe.segment(line).join(" "), expected);
            compared += 1;
        }
    }
    assert!(compared > 80, "{compared}");
}

fn lines(path: impl AsRef<Path>) -> Vec<String> {
    Lines::open(path).unwrap().collect::<Result<_, _>>().unwrap()
}

fn learns_the_published_merges(language: &str) {
    let Some(data) = data(&format!("learns_the_published_merges en-{language}")) else { return };
    let train =
        ["en", language].map(|side| lines(data.join(format!("multi30k/tok/train.lc.norm.tok.{side}.gz"))));
    let dir = tempfile::tempdir().unwrap();
    let written = dir.path().join("codes");
    Bpe::learn(train.iter().flatten(), 10_000, 2).write(&written).unwrap();
    let expected = fs::read(data.join(format!("multi30k_bpe10k/en-{language}.code"))).unwrap();
    assert!(fs::read(&written).unwrap() == expected, "the codes differ from en-{language}.code");
}

#[test]
fn learns_the_published_merges_en_de() {
    learns_the_published_merges("de");
}

#[test]
fn learns_the_published_merges_en_fr() {
    learns_the_published_merges("fr");
}

#[test]
fn applies_as_published() {
    let Some(data) = data("applies_as_published") else { return };
    let texts = [
        ("train.lc.norm.tok", "train", ".gz"),
        ("val.lc.norm.tok", "valid", ""),
        ("test_2016_flickr.lc.norm.tok", "test.2016", ""),
        ("test_2017_flickr.lc.norm.tok", "test.2017", ""),
        ("test_2017_mscoco.lc.norm.tok", "test.coco", ""),
    ];
    for language in ["de", "fr"] {
        let bpe = Bpe::read(data.join(format!("multi30k_bpe10k/en-{language}.code"))).unwrap();
        for (tok, name, end) in texts {
            for side in ["en", language] {
                let text = lines(data.join(format!("multi30k/tok/{tok}.{side}{end}")));
                let expected = lines(data.join(format!("multi30k_bpe10k/en-{language}.{name}.{side}{end}")));
                assert_eq!(text.len(), expected.len());
                for (line, expected) in text.iter().zip(&expected) {
                    assert_eq!(&bpe.apply(line), expected, "en-{language}.{name}.{side}");
                }
            }
        }
    }
}
