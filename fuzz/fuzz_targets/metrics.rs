//! Metrics of any text: lines of a translation and one or two references, tabs between.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regard_eval::{
    BleuOptions, BleuTokenizer, ChrfOptions, Corpus, ErrorRateOptions, ErrorUnit, Metric, SegmentStatistics,
    Smoothing, TerOptions,
};

fn metrics() -> Vec<Box<dyn Metric>> {
    let mut found: Vec<Box<dyn Metric>> = Vec::new();
    for tokenizer in BleuTokenizer::ALL {
        for name in ["none", "floor", "add-k", "exp"] {
            let smoothing = Smoothing::new(name, None).unwrap();
            found.push(Box::new(BleuOptions { tokenizer, smoothing, ..BleuOptions::default() }));
        }
    }
    found.push(Box::new(BleuOptions { lowercase: true, ..BleuOptions::sentence_level() }));
    found.push(Box::new(ChrfOptions::default()));
    found.push(Box::new(ChrfOptions { lowercase: true, eps_smoothing: true, ..ChrfOptions::plus_plus() }));
    found
}

fn error_rates() -> Vec<Box<dyn Metric>> {
    let all = TerOptions { normalized: true, no_punct: true, asian_support: true, case_sensitive: true };
    let characters = ErrorRateOptions { unit: ErrorUnit::Character, lowercase: true };
    vec![
        Box::new(TerOptions::default()),
        Box::new(all),
        Box::new(ErrorRateOptions { unit: ErrorUnit::Word, lowercase: false }),
        Box::new(characters),
    ]
}

fuzz_target!(|text: &str| {
    let columns = |line: &'_ str| {
        let mut columns = line.split('\t').map(str::to_owned);
        let output = columns.next().unwrap_or_default();
        (output, columns.next().unwrap_or_default(), columns.next())
    };
    let lines: Vec<_> = text.split('\n').map(columns).collect();
    let output: Vec<&str> = lines.iter().map(|line| line.0.as_str()).collect();
    let first = lines.iter().map(|line| Some(line.1.as_str())).collect::<Vec<_>>();
    let second = lines.iter().map(|line| line.2.as_deref()).collect::<Vec<_>>();
    let references = [first, second];
    let corpus = Corpus::with_gaps(&output, &references).unwrap();
    for (metric, most) in
        metrics().iter().map(|m| (m, 100.0)).chain(error_rates().iter().map(|m| (m, f64::MAX)))
    {
        let statistics = SegmentStatistics::new(metric.as_ref(), &corpus);
        let sentences = statistics.rows().map(|row| metric.sentence_score_of(row));
        for score in sentences.chain([metric.score_of(&statistics.sums())]) {
            assert!((0.0..=most + 1e-9).contains(&score), "{}: {score}", metric.name());
        }
    }
});
