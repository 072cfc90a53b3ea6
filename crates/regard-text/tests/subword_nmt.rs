//! BPE against subword-nmt 0.2: the published merges and segmentations of Multi30k.

#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::path::Path;

use common::data;
use regard_text::{Bpe, Lines};

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
                    // subword-nmt also copies the spaces at both ends of a line.
                    assert_eq!(
                        bpe.segment(line).join(" "),
                        expected.trim_matches(' '),
                        "en-{language}.{name}.{side}"
                    );
                }
            }
        }
    }
}
