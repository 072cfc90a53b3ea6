//! `regard look`: gold links and words on pictures, as users call them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;

use common::{Place, attention_model, fixed_vector_model, regard};

const SENTENCE: &str = "the black cat sleeps";

/// The cells that a picture outlines, as `(column, row)`.
fn outlined(svg: &str) -> Vec<(usize, usize)> {
    let number = |tag: &str, name: &str| -> f64 {
        let (_, rest) = tag.split_once(&format!(" {name}=\"")).unwrap();
        rest.split_once('"').unwrap().0.parse().unwrap()
    };
    let boxes: Vec<&str> = svg.split("<rect").skip(1).map(|rest| rest.split_once('>').unwrap().0).collect();
    let ground = boxes.iter().find(|tag| number(tag, "width") > 100.0 && number(tag, "x") > 10.0).unwrap();
    let (left, top, width) = (number(ground, "x"), number(ground, "y"), number(ground, "width"));
    // Four words and the end symbol.
    let cell = width / 5.0;
    let place = |from: f64, at: f64| ((at - from) / cell).floor() as usize;
    let gold = boxes.iter().filter(|tag| tag.contains("fill=\"none\" stroke=\"#e66101\" stroke-width=\"2\""));
    gold.map(|tag| (place(left, number(tag, "x")), place(top, number(tag, "y")))).collect()
}

#[test]
fn gold_links_are_outlined() {
    let place = Place::new();
    let svg = place.at("look.svg");
    let look = |more: &[&str]| {
        let base = ["look", attention_model(), SENTENCE, "--tgt", "le chat noir dort", "--svg", &svg];
        regard(&[&base[..], more].concat())
    };
    for words in [&[][..], &["--words"]] {
        look(&[&["--gold", "0-0 1-2 2p1 3-3"], words].concat()).ok();
        let drawn = fs::read_to_string(&svg).unwrap();
        assert_eq!(outlined(&drawn), [(0, 0), (1, 2), (2, 1), (3, 3)]);
        assert!(drawn.contains("gold link"));
    }
    look(&[]).ok();
    assert!(!fs::read_to_string(&svg).unwrap().contains("gold link"));
    look(&["--gold", "0-4"])
        .fails_with(2, &["--gold 0-4: there is no word 4, the target has 4, counted from 0"]);
    look(&["--gold", "0=4"]).fails_with(2, &["--gold", "\"0=4\" is no link"]);
    look(&["--gold", " "]).fails_with(2, &["--gold: there is no link in it"]);
    let blind = ["look", fixed_vector_model(), SENTENCE, "--tgt", "le chat", "--gold", "0-0", "--svg", &svg];
    regard(&blind).fails_with(2, &["--gold", "no attention"]);
    look(&["--words", "--view", "words"]).fails_with(2, &["--words joins pieces"]);
    look(&["--gold", "0-0", "--view", "links"]).fails_with(2, &["--gold is drawn in a matrix"]);
}

#[test]
fn a_picture_has_the_name_of_its_kind() {
    let place = Place::new();
    let png = place.at("look.png");
    regard(&["look", attention_model(), SENTENCE, "--svg", &png])
        .fails_with(2, &["--svg would write a file that is named as if it were .png"]);
    assert!(!fs::exists(&png).unwrap());
    let svg = place.at("LOOK.SVG");
    regard(&["look", attention_model(), SENTENCE, "--csv", &svg])
        .fails_with(2, &["--csv would write", ".svg"]);
    let both = place.at("look");
    regard(&["look", attention_model(), SENTENCE, "--svg", &both, "--html", &both])
        .fails_with(2, &["--html", "another file of this call has that name"]);
}
