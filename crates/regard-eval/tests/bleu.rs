//! BLEU against values that sacreBLEU 2.6.0 gives.

use proptest::prelude::*;
use regard_eval::{BleuOptions, BleuScore, BleuStatistics, BleuTokenizer, EvalError, Smoothing};
use std::process::Command;

const DEFAULT: BleuOptions = BleuOptions {
    tokenizer: BleuTokenizer::ThirteenA,
    lowercase: false,
    effective_order: false,
    smoothing: Smoothing::Exp,
};

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

#[test]
fn p20_empty_hypotheses_and_references() {
    let hypotheses = ["a small dog sleeps here", "", "the end"];
    let references = [["a small dog sleeps here", "rain tomorrow", "the end"]];
    let score = DEFAULT.corpus(&hypotheses, &references).unwrap();
    near(score.score, 75.147_729_307_528_62);
    let printed = "75.1 100.0/100.0/100.0/100.0 (BP = 0.751 ratio = 0.778 hyp_len = 7 ref_len = 9)";
    assert_eq!(score.to_string(), printed);

    let all_empty = DEFAULT.corpus(&["", ""], &[["a", "b"]]).unwrap();
    assert_eq!(
        all_empty.to_string(),
        "0.0 0.0/0.0/0.0/0.0 (BP = 0.000 ratio = 0.000 hyp_len = 0 ref_len = 2)"
    );
    let no_reference_words = DEFAULT.corpus(&["a", ""], &[["", ""]]).unwrap();
    let printed = "0.0 0.0/0.0/0.0/0.0 (BP = 1.000 ratio = 0.000 hyp_len = 1 ref_len = 0)";
    assert_eq!(no_reference_words.to_string(), printed);

    let unequal = DEFAULT.corpus(&hypotheses, &[["a", "b"]]).unwrap_err();
    assert_eq!(unequal, EvalError::LineCounts { hypotheses: 3, side: "reference 1".into(), found: 2 });
    assert_eq!(DEFAULT.corpus::<_, &str>(&["a"], &[] as &[[&str; 1]]), Err(EvalError::NoReferences));
    assert_eq!(DEFAULT.corpus::<&str, &str>(&[], &[[]]), Err(EvalError::NoLines));
}

/// Prints a score under whatever locale the process has; run by the next test.
#[test]
#[ignore = "run by p21_locale_changes_nothing"]
fn locale_child() {
    let score = DEFAULT.corpus(&["é 日本", "a b c"], &[["é 日本", "a b d"]]).unwrap();
    println!("{score} {}", serde_json::to_string(&score).unwrap());
}

#[test]
fn p21_locale_changes_nothing() {
    let outputs = [Some("C"), Some("de_DE.UTF-8"), None].map(|locale| {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "locale_child", "--ignored", "--nocapture"]);
        child.env_remove("LC_ALL").env_remove("LANG").envs(locale.map(|locale| ("LC_ALL", locale)));
        let output = String::from_utf8(child.output().unwrap().stdout).unwrap();
        output.lines().find(|line| line.contains("BP = ")).unwrap().to_owned()
    });
    assert!(
        outputs[0].contains("80.0/66.7/50.0/0.0 (BP = 1.000 ratio = 1.000 hyp_len = 5"),
        "{}",
        outputs[0]
    );
    assert_eq!(outputs[0], outputs[1]);
    assert_eq!(outputs[0], outputs[2]);
}

#[test]
fn short_outputs_need_effective_order() {
    let corpus = DEFAULT.corpus(&["the cat"], &[["the cat"]]).unwrap();
    let printed = "0.0 100.0/100.0/0.0/0.0 (BP = 1.000 ratio = 1.000 hyp_len = 2 ref_len = 2)";
    assert_eq!(corpus.to_string(), printed);
    let options = BleuOptions::sentence_level();
    near(options.score(&options.segment("the cat", &["the cat"])).score, 100.0);
}

#[test]
fn several_references() {
    let hypotheses = ["the cat sat on the mat today"];
    let references = [["the cat sat on a mat"], ["a cat was on the mat today ."]];
    let score = DEFAULT.corpus(&hypotheses, &references).unwrap();
    near(score.score, 76.520_588_325_568_92);
    let printed = "76.5 85.7/100.0/80.0/50.0 (BP = 1.000 ratio = 1.167 hyp_len = 7 ref_len = 6)";
    assert_eq!(score.to_string(), printed);
}

#[test]
fn scores_print_as_in_sacrebleu() {
    let score = BleuScore {
        score: 20.8,
        precisions: [54.4, 26.6, 14.9, 8.7],
        brevity_penalty: 1.0,
        ratio: 1.026,
        hyp_len: 62880,
        ref_len: 61287,
    };
    let printed = "20.8 54.4/26.6/14.9/8.7 (BP = 1.000 ratio = 1.026 hyp_len = 62880 ref_len = 61287)";
    assert_eq!(score.to_string(), printed);
}

#[test]
fn signatures_name_the_settings() {
    let options =
        BleuOptions { tokenizer: BleuTokenizer::None, lowercase: true, effective_order: true, ..DEFAULT };
    assert_eq!(options.signature(8), "nrefs:8|case:lc|eff:yes|tok:none|smooth:exp|version:regard-0.1.0");
    assert_eq!(DEFAULT.signature(1), "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:regard-0.1.0");
}

#[test]
fn lower_case_is_by_unicode() {
    let lowercase = BleuOptions { lowercase: true, ..DEFAULT };
    let score = |options: BleuOptions| options.corpus(&["ÉTÉ À LA MER"], &[["été à la mer"]]).unwrap().score;
    near(score(lowercase), 100.0);
    near(score(DEFAULT), 0.0);
}

fn any_line() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::collection::vec("[ab.,1]", 0..8).prop_map(|words| words.join(" ")),
        proptest::collection::vec(any::<char>(), 0..12).prop_map(String::from_iter),
    ]
}

proptest! {
    #[test]
    fn never_leaves_0_to_100(
        lines in proptest::collection::vec((any_line(), any_line(), any_line()), 1..5),
        lowercase: bool,
        effective_order: bool,
        none: bool,
    ) {
        let tokenizer = if none { BleuTokenizer::None } else { BleuTokenizer::ThirteenA };
        let options = BleuOptions { tokenizer, lowercase, effective_order, ..DEFAULT };
        let hypotheses: Vec<&str> = lines.iter().map(|line| line.0.as_str()).collect();
        let references: [Vec<&str>; 2] =
            [lines.iter().map(|line| line.1.as_str()).collect(), lines.iter().map(|line| line.2.as_str()).collect()];
        let score = options.corpus(&hypotheses, &references).unwrap();
        prop_assert!((0.0..=100.0).contains(&score.score), "{score}");
        prop_assert!(score.precisions.iter().all(|p| (0.0..=100.0).contains(p)), "{score}");
        prop_assert!((0.0..=1.0).contains(&score.brevity_penalty), "{score}");
        let sum: BleuStatistics = options.segments(&hypotheses, &references).unwrap().into_iter().sum();
        prop_assert_eq!(options.score(&sum), score);
    }

    #[test]
    fn a_copy_scores_100(line in "[a-z]{1,3}( [a-z]{1,3}){3,9}") {
        near(DEFAULT.corpus(&[&line], &[[&line]]).unwrap().score, 100.0);
    }
}
