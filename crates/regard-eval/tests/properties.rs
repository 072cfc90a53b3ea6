//! What holds for every text, whatever is in it.

use proptest::prelude::*;
use regard_eval::{
    BleuOptions, BleuTokenizer, ChrfOptions, Corpus, ErrorRateOptions, ErrorUnit, ExactMatch, Metric,
    PairedTest, Resamples, Resampling, SegmentStatistics, Smoothing, TerOptions,
};

fn metrics() -> Vec<Box<dyn Metric>> {
    let bleu = BleuOptions::default();
    let mut metrics: Vec<Box<dyn Metric>> = vec![
        Box::new(ChrfOptions::default()),
        Box::new(ChrfOptions::plus_plus()),
        Box::new(ChrfOptions { whitespace: true, eps_smoothing: true, ..ChrfOptions::default() }),
        Box::new(TerOptions::default()),
        Box::new(TerOptions { normalized: true, no_punct: true, asian_support: true, case_sensitive: true }),
        Box::new(ErrorRateOptions { unit: ErrorUnit::Word, lowercase: false }),
        Box::new(ErrorRateOptions { unit: ErrorUnit::Character, lowercase: true }),
        Box::new(ExactMatch::default()),
    ];
    for tokenizer in BleuTokenizer::ALL {
        for smoothing in [Smoothing::None, Smoothing::Floor(0.1), Smoothing::AddK(1.0), Smoothing::Exp] {
            metrics.push(Box::new(BleuOptions { tokenizer, smoothing, ..bleu }));
        }
    }
    metrics
}

fn any_line() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::collection::vec("[abcABC.,1'日。-]{1,2}", 0..12).prop_map(|words| words.join(" ")),
        proptest::collection::vec(any::<char>(), 0..12).prop_map(String::from_iter),
    ]
}

type Lines = Vec<(String, String, String)>;

fn any_lines() -> impl Strategy<Value = Lines> {
    proptest::collection::vec((any_line(), any_line(), any_line()), 1..5)
}

/// The output and two references.
fn sides(lines: &Lines) -> (Vec<&str>, [Vec<&str>; 2]) {
    let side = |text: fn(&(String, String, String)) -> &str| lines.iter().map(text).collect();
    (side(|line| &line.0), [side(|line| &line.1), side(|line| &line.2)])
}

proptest! {
    #[test]
    fn scores_are_percentages(lines in any_lines()) {
        let (hypotheses, references) = sides(&lines);
        let corpus = Corpus::new(&hypotheses, &references).unwrap();
        for metric in metrics() {
            let statistics = SegmentStatistics::new(metric.as_ref(), &corpus);
            let top = if metric.higher_is_better() { 100.0 } else { f64::MAX };
            let scores = statistics.rows().map(|row| metric.sentence_score_of(row));
            for score in scores.chain([metric.score_of(&statistics.sums())]) {
                prop_assert!((0.0..=top).contains(&score), "{} {}: {score}", metric.name(), metric.settings());
            }
        }
    }

    #[test]
    fn a_copy_is_perfect(words in proptest::collection::vec("[a-z日]{2,4}", 4..12)) {
        let line = words.join(" ");
        let corpus = Corpus::new(&[&line], std::slice::from_ref(&[&line])).map(|corpus| corpus.lines().len());
        prop_assert_eq!(corpus, Ok(1));
        for metric in metrics() {
            let score = metric.score_of(&metric.statistics(&line, &[&line]));
            let perfect = if metric.higher_is_better() { 100.0 } else { 0.0 };
            prop_assert!((score - perfect).abs() < 1e-9, "{} {}: {score}", metric.name(), metric.settings());
        }
    }

    #[test]
    fn a_corpus_is_the_sum_of_its_lines(lines in any_lines()) {
        let (hypotheses, references) = sides(&lines);
        let corpus = Corpus::new(&hypotheses, &references).unwrap();
        for metric in metrics() {
            let statistics = SegmentStatistics::new(metric.as_ref(), &corpus);
            prop_assert_eq!(statistics.lines(), lines.len());
            let mut sums = vec![0.0; metric.width()];
            for (hypothesis, references) in corpus.lines() {
                let row = metric.statistics(hypothesis, references);
                prop_assert_eq!(row.len(), metric.width());
                sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
            }
            prop_assert_eq!(&sums, &statistics.sums());
        }
    }

    #[test]
    fn a_system_does_not_differ_from_itself(lines in any_lines(), seed: u64) {
        let (hypotheses, references) = sides(&lines);
        let corpus = Corpus::new(&hypotheses, &references).unwrap();
        let resampling = Resampling { samples: 20, seed };
        for metric in metrics().iter().take(4) {
            let statistics = SegmentStatistics::new(metric.as_ref(), &corpus);
            for test in [PairedTest::Bootstrap, PairedTest::ApproximateRandomization] {
                let p = test.p_value(metric.as_ref(), &statistics, &statistics, resampling).unwrap();
                prop_assert!((1.0 / 21.0..=1.0).contains(&p));
            }
            let interval = Resamples::draw(metric.as_ref(), &statistics, resampling).interval();
            prop_assert!(interval.low <= interval.mean + 1e-3 && interval.mean <= interval.high + 1e-3);
        }
    }
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let ter = TerOptions::default();
    let one = SegmentStatistics::from_values(2, vec![1.0, 2.0]);
    let two = SegmentStatistics::from_values(2, vec![1.0, 2.0, 3.0, 4.0]);
    let test = PairedTest::Bootstrap;
    assert!(
        test.p_value(&ter, &one, &two, Resampling::BOOTSTRAP).unwrap_err().to_string().contains("1 and of 2")
    );
    let none = Resampling { samples: 0, seed: 1 };
    assert!(test.p_value(&ter, &one, &one, none).unwrap_err().to_string().contains("at least 1"));
}
