//! Published scores of real systems, reproduced. Needs the shared data; skipped without.
#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

#[path = "common/shared_data.rs"]
mod shared_data;

use regard_eval::{
    BleuOptions, BleuTokenizer, ChrfOptions, Corpus, Metric, SegmentStatistics, Smoothing, TerOptions,
};
use shared_data::{data, lines, output, reference};

/// The letters of the references that `all` stands for: those that the file scores one by one.
fn all_letters(rows: &[Vec<&str>], pair: &str) -> Vec<String> {
    let metrics = rows.iter().filter(|row| row[0] == pair).map(|row| row[4]);
    let mut letters: Vec<String> =
        metrics.filter_map(|m| m.strip_prefix("bleu-")).filter(|l| *l != "all").map(str::to_owned).collect();
    letters.sort();
    letters.dedup();
    letters
}

fn score(metric: &dyn Metric, hypotheses: &[String], references: &[Vec<String>]) -> f64 {
    let corpus = Corpus::new(hypotheses, references).unwrap();
    metric.score_of(&SegmentStatistics::new(metric, &corpus).sums())
}

#[test]
fn wmt21_published_rows() {
    let Some(root) = data("wmt21_published_rows", "wmt21") else { return };
    let table = lines(&root.join("automatic-scores.tsv"));
    let rows: Vec<Vec<&str>> = table[1..].iter().map(|row| row.split('\t').collect()).collect();
    for row in &rows {
        let (pair, system, score_name, published) = (row[0], row[1], row[4], row[5]);
        let (metric, letters): (Box<dyn Metric>, _) = match score_name.split_once('-').unwrap() {
            ("bleu", letters) => (Box::new(BleuOptions::default()), letters),
            ("chrf", letters) => (Box::new(ChrfOptions::default()), letters),
            other => panic!("{other:?}"),
        };
        let letters = if letters == "all" { all_letters(&rows, pair) } else { vec![letters.to_owned()] };
        let references: Vec<_> = letters.iter().map(|letter| reference(&root, pair, letter)).collect();
        let found = score(metric.as_ref(), &output(&root, pair, system), &references);
        let expected: f64 = published.parse().unwrap();
        assert!((found - expected).abs() < 1e-9, "{pair} {system} {score_name}: {found} {expected}");
    }
    assert_eq!(rows.len(), 346);
}

#[test]
fn wmt21_settings() {
    let Some(root) = data("wmt21_settings", "wmt21") else { return };
    let bleu = BleuOptions::default();
    let with = |tokenizer| -> Box<dyn Metric> { Box::new(BleuOptions { tokenizer, ..bleu }) };
    let ter = TerOptions { normalized: true, no_punct: true, ..TerOptions::default() };
    let table = lines(&root.join("sacrebleu_oracle.tsv"));
    for row in &table[1..] {
        let row: Vec<&str> = row.split('\t').collect();
        let metric: Box<dyn Metric> = match row[4] {
            "BLEU 13a" => Box::new(bleu),
            "BLEU 13a lc" => Box::new(BleuOptions { lowercase: true, ..bleu }),
            "BLEU 13a smooth=add-k" => Box::new(BleuOptions { smoothing: Smoothing::AddK(1.0), ..bleu }),
            "BLEU none" => with(BleuTokenizer::None),
            "BLEU intl" => with(BleuTokenizer::International),
            "BLEU char" => with(BleuTokenizer::Character),
            "chrF2" => Box::new(ChrfOptions::default()),
            "chrF2++" => Box::new(ChrfOptions::plus_plus()),
            "TER" => Box::new(TerOptions::default()),
            "TER norm,nopunct" => Box::new(ter),
            other => panic!("{other}"),
        };
        let (pair, system) = (row[1], row[2]);
        let references = [reference(&root, pair, row[3])];
        let found = score(metric.as_ref(), &output(&root, pair, system), &references);
        let expected: f64 = row[5].parse().unwrap();
        assert!((found - expected).abs() < 1e-9, "{row:?}: {found}");
        let signature = metric.signature_for(Some(1));
        assert_eq!(signature.split("version:").next(), row[6].split("version:").next());
        assert!(row[4].starts_with(&metric.name()), "{row:?}");
    }
    assert_eq!(table.len(), 81);
}

#[test]
fn wmt21_sentences() {
    let Some(root) = data("wmt21_sentences", "wmt21") else { return };
    let (hypotheses, references) = (output(&root, "de-en", "Online-A"), [reference(&root, "de-en", "A")]);
    let metrics: [&dyn Metric; 3] =
        [&BleuOptions::default(), &ChrfOptions::default(), &TerOptions::default()];
    let corpus = Corpus::new(&hypotheses, &references).unwrap();
    let statistics = metrics.map(|metric| SegmentStatistics::new(metric, &corpus));
    let table = lines(&root.join("sacrebleu_sentence_oracle.de-en.Online-A.refA.first200.tsv"));
    assert_eq!(table.len(), 201);
    for (line, row) in table[1..].iter().enumerate() {
        let published = row.split('\t').skip(1).map(|score| score.parse::<f64>().unwrap());
        for ((metric, statistics), expected) in metrics.iter().zip(&statistics).zip(published) {
            let found = metric.sentence_score_of(statistics.rows().nth(line).unwrap());
            assert!((found - expected).abs() < 1e-9, "line {}: {found} {expected}", line + 1);
        }
    }
}

#[test]
fn turkcorpus_eight_references() {
    let Some(root) = data("turkcorpus_eight_references", "turkcorpus") else { return };
    let references: Vec<_> =
        (0..8).map(|k| lines(&root.join(format!("test.8turkers.tok.turk.{k}")))).collect();
    for (file, expected) in [
        ("test.8turkers.tok.norm", "99.37"),
        ("sari30it.test.output.1best", "73.08"),
        ("glbleu30it.test.output.1best", "76.84"),
        ("moses.test.output.1rerank", "66.71"),
    ] {
        let found = BleuOptions::default().corpus(&lines(&root.join(file)), &references).unwrap();
        assert_eq!(format!("{:.2}", found.score), expected, "{file}");
    }
}
