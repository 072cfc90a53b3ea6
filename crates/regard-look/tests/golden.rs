//! Small pictures, byte for byte. After a wanted change: `REGARD_UPDATE_GOLDEN=1 cargo test -p regard-look`, and look at
//! what `cargo run -p regard-look --example gallery` makes before the new files are kept.

#![allow(clippy::unwrap_used)] // helpers of tests

mod common;

use common::{awkward, crossing, titled, words};
use regard_look::{Colour, Heatmap, heatmap_svg, heatmap_terminal};
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
    assert_golden("crossing-100.txt", &heatmap_terminal(&crossing(), 100, Colour::Plain));
    assert_golden("crossing-60.txt", &heatmap_terminal(&crossing(), 60, Colour::Plain));
    assert_golden("crossing-30.txt", &heatmap_terminal(&crossing(), 30, Colour::Plain));
    assert_golden("awkward-60.txt", &heatmap_terminal(&awkward(), 60, Colour::Plain));
}
