//! Scores, intervals and p-values against what sacreBLEU 2.6.0 gave: `tests/goldens/make_metrics.py`.
#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

#[path = "common/corpora.rs"]
#[allow(missing_docs, unreachable_pub, reason = "shared with an example")]
mod corpora;
#[path = "common/shared_data.rs"]
mod shared_data;

use regard_eval::{
    BleuOptions, ChrfOptions, Corpus, Interval, Metric, PairedTest, Resamples, Resampling, ResamplingKind,
    SegmentStatistics, Signature, TerOptions,
};
use serde_json::Value;
use shared_data::{data, output, reference};

fn golden(name: &str) -> Value {
    let path = format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[test]
fn hard_corpora() {
    let golden = golden("metrics.json");
    let corpora = golden.as_array().unwrap();
    assert_eq!(corpora.len(), 60);
    for (index, expected) in (0..).zip(corpora) {
        let (found, expected) = (corpora::scores(index), numbers(expected));
        assert_eq!(found.len(), expected.len());
        for (column, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert!(
                (found - expected).abs() < 1e-9,
                "corpus {index}, column {column}: {found} is not {expected}"
            );
        }
    }
}

/// Numbers that were stored as text, so that no digit is lost.
fn exact(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_str().unwrap().parse().unwrap()).collect()
}

/// Compares both tests and all intervals of a pair of systems, to the last digit.
#[allow(clippy::float_cmp, reason = "equal to the bit")]
fn check_pair(corpora: &[Corpus<'_>; 2], expected: &Value, samples: (usize, usize)) {
    let metrics: [Box<dyn Metric>; 3] =
        [Box::new(BleuOptions::default()), Box::new(ChrfOptions::default()), Box::new(TerOptions::default())];
    for metric in &metrics {
        let metric = metric.as_ref();
        let expected = &expected[metric.name()];
        let [baseline, system] = [0, 1].map(|which: usize| SegmentStatistics::new(metric, &corpora[which]));
        let bootstrap = Resampling { samples: samples.0, ..Resampling::BOOTSTRAP };
        let trials = Resampling { samples: samples.1, ..Resampling::BOOTSTRAP };
        for (test, key, resampling) in
            [(PairedTest::Bootstrap, "bs", bootstrap), (PairedTest::ApproximateRandomization, "ar", trials)]
        {
            let p = test.p_value(metric, &baseline, &system, resampling).unwrap();
            let expected_p: f64 = expected[key].as_str().unwrap().parse().unwrap();
            assert_eq!(p, expected_p, "{} {key}", metric.name());
            check_signature(
                metric,
                &corpora[0],
                test.kind(),
                resampling,
                &expected[format!("{key} signature")],
            );
        }
        let pair = |interval: Interval| [interval.mean, interval.half_width];
        let [first, second] = [&baseline, &system].map(|s| Resamples::draw(metric, s, bootstrap));
        let found = [pair(first.interval()), pair(second.interval())].concat();
        assert_eq!(found, exact(&expected["intervals"]), "{}", metric.name());
        let found = pair(first.interval_with_exact_mean());
        if !expected["confidence"].is_null() {
            assert_eq!(found.as_slice(), exact(&expected["confidence"]), "{}", metric.name());
        }
        let signature = &expected["confidence signature"];
        check_signature(metric, &corpora[0], ResamplingKind::Bootstrap, bootstrap, signature);
    }
}

fn check_signature(
    metric: &dyn Metric,
    corpus: &Corpus<'_>,
    kind: ResamplingKind,
    resampling: Resampling,
    expected: &Value,
) {
    let references = corpus.reference_count();
    let found = Signature { references, resampling: Some((kind, resampling)) }.of(metric.settings());
    assert_eq!(found, expected.as_str().unwrap().replace("version:2.6.0", "version:regard-0.1.0"));
}

#[test]
fn significance_of_hard_corpora() {
    let golden = golden("significance.json");
    let cases = golden["generated"].as_array().unwrap();
    assert_eq!(cases.len(), 12);
    for case in cases {
        let drawn = corpora::draw(case["corpus"].as_u64().unwrap());
        let corpora =
            [0, 1].map(|which: usize| Corpus::with_gaps(&drawn.systems[which], &drawn.references).unwrap());
        check_pair(&corpora, &case["metrics"], (300, 300));
    }
}

#[test]
fn significance_of_wmt21() {
    let Some(root) = data("significance_of_wmt21", "wmt21") else { return };
    let golden = golden("significance.json");
    let cases = golden["wmt21"].as_array().unwrap();
    assert_eq!(cases.len(), 2);
    for case in cases {
        let names = [0, 1].map(|which: usize| case["systems"][which].as_str().unwrap());
        let letters = case["references"].as_str().unwrap();
        let references: Vec<_> =
            letters.chars().map(|letter| reference(&root, "de-en", &letter.to_string())).collect();
        let outputs = names.map(|name| output(&root, "de-en", name));
        let corpora = [0, 1].map(|which: usize| Corpus::new(&outputs[which], &references).unwrap());
        check_pair(&corpora, &case["metrics"], (1000, 10_000));
    }
}
