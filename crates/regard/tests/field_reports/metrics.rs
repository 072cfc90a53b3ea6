//! Scores, whatever is in the files.

use crate::common::{Place, assert_close, finish, json, numbers, program, regard};

const ALL: &str = "bleu,chrf,ter,wer,cer,exact";

#[test]
fn p01_only_lf_ends_a_line_of_a_metric() {
    let place = Place::new();
    let text = place.write("text", "one\u{2028}two\nthree\u{c}four\nfive\u{85}six\nseven\reight");
    let found =
        json(&regard(&["evaluate", &text, "--ref", &text, "--metrics", ALL, "--json", "--sentence"]).ok());
    for (report, perfect) in found.as_array().unwrap().iter().zip([100.0, 100.0, 0.0, 0.0, 0.0, 100.0]) {
        assert_close(
            report["score"].as_f64().unwrap(),
            if report["name"] == "BLEU" { 0.0 } else { perfect },
            1e-9,
        );
        for score in numbers(&report["sentences"]) {
            assert_close(score, perfect, 1e-9);
        }
        assert_eq!(report["sentences"].as_array().unwrap().len(), 4);
    }
}

#[test]
fn p13_and_p23_strange_and_composed_characters_are_what_they_are() {
    let place = Place::new();
    let strange = "a: b# \"c\" \\d e\u{a0}f g\u{3000}h \u{200b}\n10\u{a0}km A.  B.\n👩\u{200d}👩\u{200d}👧 ක\u{dca}\u{200d}ෂ\n";
    let hyp = place.write("hyp", format!("{strange}cafe\u{301} now\n"));
    let same = place.write("same", format!("{strange}cafe\u{301} now\n"));
    let composed = place.write("composed", format!("{strange}caf\u{e9} now\n"));
    let scores = |reference: &str| -> Vec<f64> {
        let found = json(&regard(&["evaluate", &hyp, "--ref", reference, "--metrics", ALL, "--json"]).ok());
        found.as_array().unwrap().iter().map(|report| report["score"].as_f64().unwrap()).collect()
    };
    assert_eq!(scores(&same), [100.0, 100.0, 0.0, 0.0, 0.0, 100.0]);
    // Nothing is normalised behind the user's back: one word of 17 differs (the zero-width space is one), two characters of one line.
    let found = scores(&composed);
    assert!(found[0] < 100.0 && found[1] < 100.0 && found[4] > 0.0, "{found:?}");
    assert_close(found[2], 100.0 / 17.0, 1e-9);
    assert_close(found[5], 75.0, 1e-9);
}

#[test]
fn p15_threads_change_nothing() {
    let place = Place::new();
    let lines = |word: &str| {
        let line = |i| format!("the {word} {} sat on {} mats", i % 7, i % 5);
        (0..60).map(line).collect::<Vec<_>>().join("\n")
    };
    let files = ["cat", "dog", "cat"].map(lines);
    let [a, b, reference] = ["a", "b", "ref"].map(|name| place.at(name));
    for (path, text) in [&a, &b, &reference].iter().zip(&files) {
        std::fs::write(path, text).unwrap();
    }
    for paired in ["bootstrap", "ar"] {
        let args = [
            "evaluate",
            &b,
            &a,
            "--ref",
            &reference,
            "--metrics",
            ALL,
            "--paired",
            paired,
            "--by-target-length",
        ];
        let runs =
            ["1", "2", "7"].map(|threads| regard(&[args.as_slice(), &["--threads", threads]].concat()).ok());
        assert!(runs[0] == runs[1] && runs[1] == runs[2]);
        assert!(runs[0].contains("100.0") && runs[0].contains("best (p = 0.00"), "{}", runs[0]);
    }
}

#[test]
fn p16_scores_of_files_from_windows_are_their_twins() {
    let place = Place::new();
    let unix = place.write("unix", "hello world\nred \"sky\n");
    let windows = place.write("windows", "\u{feff}hello world\r\nred \"sky\r\n");
    let scores = |hyp: &str| {
        let found = json(&regard(&["evaluate", hyp, "--ref", &unix, "--metrics", ALL, "--json"]).ok());
        found.as_array().unwrap().iter().map(|report| report["score"].as_f64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(scores(&windows), scores(&unix));
}

#[test]
fn p20_empty_hypotheses_and_references() {
    let place = Place::new();
    let hyp = place.write("hyp", "a small dog sleeps here\n\nthe end\n");
    let reference = place.write("ref", "a small dog sleeps here\nrain tomorrow\nthe end\n");
    let empty = place.write("empty", "\n\n\n");
    let scores = |hyp: &str, reference: &str| -> Vec<f64> {
        let args = ["evaluate", hyp, "--ref", reference, "--metrics", "bleu,chrf,ter,wer,exact", "--json"];
        let found = json(&regard(&args).ok());
        found.as_array().unwrap().iter().map(|report| report["score"].as_f64().unwrap()).collect()
    };
    let found = scores(&hyp, &reference);
    for (found, expected) in found.iter().zip([75.15, 72.50, 22.22, 22.22, 66.67]) {
        assert_close(*found, expected, 0.005);
    }
    assert_eq!(scores(&empty, &reference), [0.0, 0.0, 100.0, 100.0, 0.0]);
    assert_eq!(scores(&hyp, &empty)[..4], [0.0, 0.0, 100.0, 100.0]);
}

#[test]
fn p21_the_locale_changes_no_score() {
    let place = Place::new();
    let hyp = place.write("hyp", "é 日本\nthe cat sat\n");
    let reference = place.write("ref", "é 日本\nthe cat is here\n");
    let args = [
        "evaluate",
        &hyp,
        &reference,
        "--ref",
        &reference,
        "--metrics",
        ALL,
        "--paired",
        "ar",
        "--confidence",
    ];
    for extra in [&["--json"][..], &[]] {
        let outputs = [Some("C"), Some("de_DE.UTF-8"), None].map(|locale| {
            let mut command = program(&[args.as_slice(), extra].concat());
            command.env_remove("LC_ALL").env_remove("LANG").envs(locale.map(|locale| ("LC_ALL", locale)));
            finish(command, b"").ok()
        });
        assert!(outputs[0] == outputs[1] && outputs[1] == outputs[2]);
    }
}
