//! The demonstration, run short: what it prints for scripts, what it leaves, and that it shows what it is there to show.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::path::Path;

use common::{Place, json, regard, translate};
use serde_json::Value;

fn scores(model: &Value) -> Vec<f64> {
    let buckets = model["by_length"].as_array().unwrap();
    assert!(buckets.iter().all(|bucket| bucket["lines"] == 20));
    buckets.iter().map(|bucket| bucket["score"].as_f64().unwrap()).collect()
}

#[test]
fn attention_carries_long_sentences_and_a_fixed_vector_does_not() {
    let place = Place::new();
    let out = place.at("demo");
    let document = json(&regard(&["demo", "--quick", "--quiet", "--json", "--out", &out]).ok());
    let [fixed, attention, transformer] = document["models"].as_array().unwrap().as_slice() else {
        panic!("three models: {document}");
    };
    let kinds = [fixed, attention, transformer].map(|model| model["kind"].as_str().unwrap());
    assert_eq!(kinds, ["fixed_vector", "attention", "transformer"]);
    let size = |model: &Value| model["parameters"].as_f64().unwrap();
    assert!((size(fixed) / size(attention) - 1.0).abs() < 0.1, "of equal size");
    assert!((size(transformer) / size(attention) - 1.0).abs() < 0.2, "of about equal size");
    let (fixed, attention, transformer) = (scores(fixed), scores(attention), scores(transformer));
    assert!(transformer[..3].iter().all(|&score| score > 80.0), "{transformer:?}");
    assert!(attention.iter().all(|&score| score > 80.0), "{attention:?}");
    assert!(fixed[0] > 60.0 && fixed[5] < 20.0, "{fixed:?}");
    let words = &document["content_words"];
    assert!(words["hits"].as_f64().unwrap() >= 0.85 * words["words"].as_f64().unwrap(), "{words}");

    let map = &document["heatmap"];
    let (rows, columns) =
        (map["target_tokens"].as_array().unwrap(), map["source_tokens"].as_array().unwrap());
    assert_eq!(columns.len(), 9, "the black cat sleeps on the red chair and its end");
    let weights = map["weights"].as_array().unwrap();
    assert_eq!(weights.len(), rows.len());
    for row in weights {
        let row: Vec<f64> = row.as_array().unwrap().iter().map(|weight| weight.as_f64().unwrap()).collect();
        assert!(row.len() == 9 && (row.iter().sum::<f64>() - 1.0).abs() < 1e-4);
    }

    for file in document["files"].as_array().unwrap() {
        assert!(Path::new(file.as_str().unwrap()).exists(), "{file}");
    }
    let report = fs::read_to_string(format!("{out}/report.html")).unwrap();
    assert!(
        report.matches("<svg").count() >= 2 && !report.contains("src=\"http") && !report.contains("<link")
    );
    let said = translate(&format!("{out}/attention"), &[], "the black cat sleeps on the red chair\n");
    assert_eq!(said, "le chat noir dort sur la chaise rouge\n");
    the_strongest_column_matters(&out);
}

/// Removing it changes a content word at least five times as often as removing a random one.
fn the_strongest_column_matters(out: &str) {
    let (model, src, tgt) = (format!("{out}/attention"), format!("{out}/test.en"), format!("{out}/test.fr"));
    let call = ["audit", &model, "--src", &src, "--tgt", &tgt, "--json", "--quiet"];
    let document = json(&regard(&call).ok());
    let flips = document["tests"]
        .as_array()
        .unwrap()
        .iter()
        .find(|test| test["name"] == "flips-strongest-removed" && test["site"] == "content words")
        .unwrap();
    let of = |what: &str| flips[what].as_f64().unwrap();
    assert!(of("value") > 0.5 && of("value") > 5.0 * of("baseline"), "{flips}");
}
