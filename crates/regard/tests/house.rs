//! Which crate may know which: the arrows of ARCHITECTURE.md.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Each crate, and all that it may depend on within the workspace.
const ARROWS: [(&str, &[&str]); 9] = [
    ("regard-tensor", &[]),
    ("regard-text", &[]),
    ("regard-eval", &[]),
    ("regard-model", &["regard-tensor", "regard-text"]),
    ("regard-train", &["regard-tensor", "regard-text", "regard-model"]),
    ("regard-look", &["regard-tensor", "regard-text", "regard-model", "regard-decode", "regard-eval"]),
    ("regard-decode", &["regard-tensor", "regard-text", "regard-model", "regard-eval"]),
    ("regard-serve", &["regard-tensor", "regard-text", "regard-model", "regard-decode", "regard-look"]),
    (
        "regard",
        &[
            "regard-tensor",
            "regard-text",
            "regard-eval",
            "regard-look",
            "regard-model",
            "regard-train",
            "regard-decode",
            "regard-serve",
        ],
    ),
];

#[test]
fn crates_know_only_those_before_them() {
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&cargo.stdout).unwrap();
    let mut found = BTreeMap::new();
    for package in metadata["packages"].as_array().unwrap() {
        let normal =
            package["dependencies"].as_array().unwrap().iter().filter(|known| known["kind"].is_null());
        let names =
            normal.map(|known| known["name"].as_str().unwrap()).filter(|name| name.starts_with("regard"));
        found.insert(package["name"].as_str().unwrap(), names.collect::<BTreeSet<_>>());
    }
    let allowed: BTreeMap<_, _> = ARROWS.into_iter().collect();
    assert_eq!(found.keys().collect::<Vec<_>>(), allowed.keys().collect::<Vec<_>>());
    for (name, known) in found {
        for other in known {
            assert!(allowed[name].contains(&other), "{name} knows {other}");
        }
    }
}
