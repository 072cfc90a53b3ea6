//! `regard evaluate-alignment`, as its users call it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::path::Path;

use common::{Place, assert_close, json, regard, regard_reading};

/// Three sentences: S has 4 links and P 5, A has 5 links, of which 3 are in S and 4 in P.
const GOLD: &str = "1-1 2-2 3p2\n\n1-3 2-1\n";
const HYPOTHESIS: &str = "0-0 2-1 1-2\n\n1-0 0-2\r\n";

#[test]
fn scores_are_fractions() {
    let place = Place::new();
    let (hyp, gold) = (place.write("hyp", HYPOTHESIS), place.write("gold", GOLD));
    let args = ["evaluate-alignment", &hyp, "--gold", &gold, "--gold-base", "1"];
    let report = json(&regard(&[args.as_slice(), &["--json"]].concat()).ok());
    let keys: Vec<_> = report.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys.len(), 7, "{keys:?}");
    assert_eq!([&report["links"], &report["sure"], &report["possible"]], [5, 4, 5]);
    let (precision, recall) = (4.0 / 5.0, 3.0 / 4.0);
    for (key, expected) in [
        ("aer", 1.0 - 7.0 / 9.0),
        ("precision", precision),
        ("recall", recall),
        ("f1", 2.0 * precision * recall / (precision + recall)),
    ] {
        assert_close(report[key].as_f64().unwrap(), expected, 1e-12);
    }
    let said = regard(&args).ok();
    assert!(said.starts_with("AER       0.2222 = 1 - ("), "{said}");
    assert!(said.ends_with("\n3 lines, 5 links (A), 4 sure (S), 5 sure or possible (P)\n"), "{said}");
    // The same gold in NAACL's format, whose sentences without links are left out; the hypothesis from a pipe.
    let naacl = place.write("naacl", "0001 1 1 S\n0001 2 2\n0001 3 2 P\n0003 1 3 S\n0003 2 1 S\n");
    let args = ["evaluate-alignment", "-", "--gold", &naacl, "--json"];
    assert_eq!(json(&regard_reading(&args, HYPOTHESIS).ok()), report);
    assert_eq!(json(&regard_reading(&args, "0-0 2-1 1-2\n\n1-0 0-2\n\n").ok()), report);
}

#[test]
fn two_directions_become_one() {
    let place = Place::new();
    let forward = place.write("forward", "1-1 2-1 5-1\n\n");
    let reverse = place.write("reverse", "1-1 2-2 6-4\n\n");
    let (gold, out) = (place.write("gold", "1-1 2-2\n\n"), place.at("out"));
    for (method, expected) in [
        ("intersection", "1-1"),
        ("union", "1-1 2-1 2-2 4-6 5-1"),
        ("grow-diag", "1-1 2-1 2-2"),
        ("grow-diag-final", "1-1 2-1 2-2 4-6 5-1"),
        ("grow-diag-final-and", "1-1 2-1 2-2 4-6"),
        ("grow-diagonal", "1-1 2-2"),
        ("grow-diagonal-final", "1-1 2-2 4-6"),
    ] {
        let sources = ["evaluate-alignment", &forward, "--reverse", &reverse, "--gold", &gold];
        let report = regard(&[sources.as_slice(), &["--symmetrize", method, "--json", "-o", &out]].concat());
        let links = expected.split(' ').count();
        assert_eq!(json(&report.ok())["links"], links, "{method}");
        assert_eq!(fs::read_to_string(&out).unwrap(), format!("{expected}\n\n"), "{method}");
    }
    // Bases are those of the files; what is written counts from 0.
    let shifted = ["--hyp-base", "1", "--gold-base", "1", "--symmetrize", "grow-diagonal", "-o", &out];
    let sources = ["evaluate-alignment", &forward, "--reverse", &reverse, "--gold", &gold, "--json"];
    assert_eq!(json(&regard(&[sources.as_slice(), &shifted].concat()).ok())["aer"], 0.0);
    assert_eq!(fs::read_to_string(&out).unwrap(), "0-0 1-1\n\n");
}

#[test]
fn mistakes_are_named() {
    let place = Place::new();
    let (two, three) = (place.write("two", "0-0\n1-1\n"), place.write("three", "0-0\n1-1\n2-2\n"));
    let (bad, empty, gone) =
        (place.write("bad", "0-0\n0-1 1=1\n"), place.write("empty", ""), place.at("gone"));
    let naacl = place.write("naacl", "1 1 1 S\n5 1 1 S\n");
    let out = place.at("out");
    let both = ["two has 2 sentences", "three has 3"];
    let cases: [(&[&str], &[&str]); 8] = [
        (&[&two, "--gold", &three], &both),
        (&[&two, "--gold", &two, "--reverse", &three, "--symmetrize", "union", "-o", &out], &both),
        (&[&two, "--gold", &naacl], &["two has 2 sentences", "naacl has 5"]),
        (&[&bad, "--gold", &two], &["bad:2: \"1=1\" is no link", "0-0 or 3p4"]),
        (&[&two, "--gold", &bad], &["bad:2: \"1=1\" is no link"]),
        (&[&two, "--gold", &two, "--gold-base", "1"], &["two:1: \"0-0\" has a position below 1"]),
        (&[&empty, "--gold", &empty], &["empty: ", "at least one line"]),
        (&[&two, "--gold", &gone], &[&gone, "No such file or directory"]),
    ];
    for (args, parts) in cases {
        regard(&[["evaluate-alignment"].as_slice(), args].concat()).fails_with(1, parts);
    }
    assert!(!fs::exists(&out).unwrap());
    let call = ["evaluate-alignment", &two, "--gold", &two];
    let to_stdout = ["--reverse", &two, "--symmetrize", "union", "-o", "-"];
    regard(&[call.as_slice(), &to_stdout].concat()).fails_with(2, &["-o -", "name a file"]);
    let parsed: [&[&str]; 5] = [
        &["--reverse", &two],
        &["--symmetrize", "union"],
        &["-o", &out],
        &["--gold-base", "2"],
        &["--reverse", &two, "--symmetrize", "grow"],
    ];
    for more in parsed {
        let ran = regard(&[call.as_slice(), more].concat());
        assert_eq!((ran.status, ran.err.starts_with("error: ")), (Some(2), true), "{}", ran.err);
    }
}

#[test]
fn the_published_symmetrisation() {
    let root = std::env::var("REGARD_DATA")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data").to_owned());
    if !Path::new(&root).join("alignment").is_dir() {
        println!("skipped: no data (the_published_symmetrisation)");
        return;
    }
    let file = |name: &str| format!("{root}/alignment/{name}");
    let (forward, reverse) = (file("lilt_giza/test.enfr.talp"), file("lilt_giza/test.enfr.reverse.talp"));
    let gold = file("gold/enfr.gold");
    let args = ["evaluate-alignment", &forward, "--gold", &gold, "--gold-base", "1", "--json"];
    assert_close(json(&regard(&args).ok())["aer"].as_f64().unwrap(), 0.080, 5e-4);
    let both = ["--reverse", &reverse, "--symmetrize", "grow-diagonal"];
    let report = json(&regard(&[args.as_slice(), &both].concat()).ok());
    assert_close(report["aer"].as_f64().unwrap(), 0.059, 5e-4);
    assert_eq!([&report["links"], &report["sure"], &report["possible"]], [5072, 4038, 17438]);
}
