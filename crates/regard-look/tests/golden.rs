//! Small pictures, byte for byte. After a wanted change: `REGARD_UPDATE_GOLDEN=1 cargo test -p regard-look`, and look at
//! what `cargo run -p regard-look --example gallery` makes before the new files are kept.

#![allow(clippy::unwrap_used)] // helpers of tests

mod common;

use common::{awkward, crossing, terminal, titled, words};
use regard_decode::{Considered, Fate, SearchStep};
use regard_look::{
    BeamTree, Colour, Heatmap, HeatmapOptions, Links, ShadedWords, TerminalOptions, Theme, heatmap_svg,
    heatmap_terminal,
};
use std::path::Path;

fn assert_golden(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("REGARD_UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, actual).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == actual, "{} differs; now it is:\n{actual}", path.display());
}

#[test]
fn svg() {
    let weights = vec![vec![0.9, 0.1, 0.0], vec![0.0, 0.25, 0.75]];
    let small = Heatmap::new(words("red chair ."), words("chaise rouge"), weights).unwrap();
    assert_golden("small.svg", &heatmap_svg(&small, &titled("red chair")));
    assert_golden("awkward.svg", &heatmap_svg(&awkward(), &titled("<awkward> & odd")));
}

#[test]
fn plain_terminal() {
    assert_golden("crossing-100.txt", &terminal(&crossing(), 100, Colour::Plain));
    assert_golden("crossing-60.txt", &terminal(&crossing(), 60, Colour::Plain));
    assert_golden("crossing-30.txt", &terminal(&crossing(), 30, Colour::Plain));
    assert_golden("awkward-60.txt", &terminal(&awkward(), 60, Colour::Plain));
}

/// A source of four words of which one is skipped and one is repeated.
fn repeating() -> Heatmap {
    let weights = vec![
        vec![0.9, 0.05, 0.05, 0.0],
        vec![0.0, 0.0, 0.95, 0.05],
        vec![0.0, 0.1, 0.9, 0.0],
        vec![0.05, 0.05, 0.0, 0.9],
    ];
    Heatmap::new(words("the red chair </s>"), words("la chaise chaise </s>"), weights).unwrap()
}

#[test]
fn sums() {
    let options = HeatmapOptions { sums: true, ..HeatmapOptions::default() };
    assert_golden("sums.svg", &heatmap_svg(&repeating(), &options));
    for width in [30, 80] {
        let options = TerminalOptions { width, colour: Colour::Plain, sums: true };
        assert_golden(&format!("sums-{width}.txt"), &heatmap_terminal(&repeating(), options));
    }
}

#[test]
fn links() {
    let links = Links { title: Some("<crossing>".into()), heatmap: repeating(), threshold: 0.1 };
    assert_golden("links.svg", &links.picture().svg(Theme::Light));
    let links = Links { title: None, heatmap: awkward(), threshold: 0.1 };
    assert_golden("links-awkward.svg", &links.picture().svg(Theme::Dark));
}

#[test]
fn shaded_words() {
    let words = words("le chat <unk> </s>");
    let shaded = ShadedWords::from_log_probs("le chat", &words, &[-0.01, -0.5, -3.0, f32::NEG_INFINITY]);
    assert_golden("shaded_words.svg", &shaded.picture().svg(Theme::Light));
}

#[test]
fn beam_tree() {
    let considered = |parent, token, log_prob, sum, fate| Considered { parent, token, log_prob, sum, fate };
    let first = vec![
        considered(0, 0, -0.2, -0.2, Fate::Lives),
        considered(0, 1, -1.5, -1.5, Fate::Lives),
        considered(0, 2, -4.0, -4.0, Fate::Dropped),
    ];
    let second = vec![
        considered(0, 3, -0.3, -0.5, Fate::Ended),
        considered(1, 2, -0.5, -2.0, Fate::Cut),
        considered(0, 1, -5.0, -5.2, Fate::Dropped),
    ];
    let steps = [
        SearchStep { sentence: 0, position: 0, candidates: first, living: vec![vec![0], vec![1]] },
        SearchStep { sentence: 0, position: 1, candidates: second, living: vec![] },
    ];
    let names = words("chat <unk> Donaudampfschifffahrtsgesellschaft </s>");
    let tree = BeamTree::new("beam of 2", &steps, &[0, 3], |id| names[id as usize].clone());
    assert_golden("beam_tree.svg", &tree.picture().svg(Theme::Light));
}
