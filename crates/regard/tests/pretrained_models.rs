//! Two models that others trained give what their own programs give: the same symbols, log-probabilities to the printed
//! digits, and for the one with attention the same strongest positions. The code is that of the example `pretrained`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../examples/pretrained/foreign.rs"]
mod foreign;
#[path = "../examples/pretrained/g2p_en.rs"]
mod g2p_en;
#[path = "../examples/pretrained/netra.rs"]
mod netra;

use std::path::{Path, PathBuf};

use g2p_en::G2p;
use netra::Netra;
use regard::look::Heatmap;
use regard::tensor::Threads;

/// The expected log-probabilities are sums in another order of f32, printed with five decimals.
const TOLERANCE: f64 = 1e-4;

#[test]
fn a_model_without_attention_pronounces_as_its_own_program() {
    let Some(directory) = data("g2p_en", "a_model_without_attention_pronounces_as_its_own_program") else {
        return;
    };
    let expected = expected(&directory);
    let words: Vec<&str> = expected.iter().map(|fields| fields[0].as_str()).collect();
    let found = G2p::load(&directory).unwrap().pronounce(&Threads::all(), &words).unwrap();
    assert_eq!((found.len(), expected.len()), (2006, 2006));
    for (found, fields) in found.iter().zip(&expected) {
        assert_eq!(found.phonemes, fields[1], "{}", fields[0]);
        assert_close(found.log_prob, &fields[2], &fields[0]);
    }
}

#[test]
fn a_model_with_attention_writes_and_looks_as_its_own_program() {
    let Some(directory) =
        data("netra_transliterate", "a_model_with_attention_writes_and_looks_as_its_own_program")
    else {
        return;
    };
    let expected = expected(&directory);
    let words: Vec<&str> = expected.iter().map(|fields| fields[0].as_str()).collect();
    let found = Netra::load(&directory).unwrap().transliterate(&Threads::all(), &words).unwrap();
    assert_eq!((found.len(), expected.len()), (300, 300));
    for (found, fields) in found.iter().zip(&expected) {
        assert_eq!(found.text, fields[1], "{}", fields[0]);
        assert_close(found.log_prob, &fields[3], &fields[0]);
        assert_eq!(positions(&found.look), fields[4], "{}", fields[0]);
    }
}

/// The strongest position of each step, the end symbol's included.
fn positions(look: &Heatmap) -> String {
    let positions = look.strongest().into_iter().map(|strongest| strongest.unwrap().source.to_string());
    positions.collect::<Vec<_>>().join(" ")
}

fn assert_close(found: f64, expected: &str, word: &str) {
    let expected: f64 = expected.parse().unwrap();
    assert!((found - expected).abs() <= TOLERANCE, "{word}: log p = {found}, expected {expected}");
}

/// The fields of each line of `expected_greedy.tsv`.
fn expected(directory: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(directory.join("expected_greedy.tsv")).unwrap();
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// The directory of a model, or nothing and a line that says so.
fn data(model: &str, test: &str) -> Option<PathBuf> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let data = std::env::var_os("REGARD_DATA").map_or(shared, PathBuf::from);
    let directory = data.join("models").join(model);
    if !directory.is_dir() {
        println!("skipped: no data ({test})");
        return None;
    }
    Some(directory)
}
