//! Published scores of real systems, reproduced. Needs the shared data; skipped without.

use regard_eval::{BleuOptions, BleuTokenizer};
use std::path::{Path, PathBuf};

/// The data folder, or none with a line that says which test is skipped.
fn data(test: &str, folder: &str) -> Option<PathBuf> {
    let root = std::env::var_os("REGARD_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    let path = root.join(folder);
    if path.is_dir() {
        return Some(path);
    }
    println!("skipped: no data ({test})");
    None
}

/// Lines end at LF only; a last line without one counts.
fn lines(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.strip_suffix('\n').unwrap_or(&text).split('\n').map(str::to_owned).collect()
}

fn target(pair: &str) -> &str {
    &pair[3..]
}

fn output(root: &Path, pair: &str, system: &str) -> Vec<String> {
    lines(&root.join(format!("system-outputs/newstest2021.{pair}.hyp.{system}.{}", target(pair))))
}

fn reference(root: &Path, pair: &str, letter: &str) -> Vec<String> {
    lines(&root.join(format!("references/newstest2021.{pair}.ref.{letter}.{}", target(pair))))
}

/// The letters of the references that `all` stands for: those that the file scores one by one.
fn all_letters(rows: &[Vec<&str>], pair: &str) -> Vec<String> {
    let metrics = rows.iter().filter(|row| row[0] == pair).map(|row| row[4]);
    let mut letters: Vec<String> =
        metrics.filter_map(|m| m.strip_prefix("bleu-")).filter(|l| *l != "all").map(str::to_owned).collect();
    letters.sort();
    letters.dedup();
    letters
}

#[test]
fn wmt21_published_rows() {
    let Some(root) = data("wmt21_published_rows", "wmt21") else { return };
    let table = lines(&root.join("automatic-scores.tsv"));
    let rows: Vec<Vec<&str>> = table[1..].iter().map(|row| row.split('\t').collect()).collect();
    let mut checked = 0;
    for row in &rows {
        let (pair, system, metric, score) = (row[0], row[1], row[4], row[5]);
        let Some(letters) = metric.strip_prefix("bleu-") else { continue };
        let letters = if letters == "all" { all_letters(&rows, pair) } else { vec![letters.to_owned()] };
        let references: Vec<_> = letters.iter().map(|letter| reference(&root, pair, letter)).collect();
        let found = BleuOptions::default().corpus(&output(&root, pair, system), &references).unwrap();
        let expected: f64 = score.parse().unwrap();
        assert!(
            (found.score - expected).abs() < 1e-9,
            "{pair} {system} {metric}: {} {expected}",
            found.score
        );
        checked += 1;
    }
    assert_eq!(checked, 173);
}

#[test]
fn wmt21_settings() {
    let Some(root) = data("wmt21_settings", "wmt21") else { return };
    let (thirteen_a, none) = (BleuOptions::default(), BleuTokenizer::None);
    let mut checked = 0;
    for row in &lines(&root.join("sacrebleu_oracle.tsv"))[1..] {
        let row: Vec<&str> = row.split('\t').collect();
        let options = match row[4] {
            "BLEU 13a" => thirteen_a,
            "BLEU 13a lc" => BleuOptions { lowercase: true, ..thirteen_a },
            "BLEU none" => BleuOptions { tokenizer: none, ..thirteen_a },
            _ => continue,
        };
        let (pair, system) = (row[1], row[2]);
        let references = [reference(&root, pair, row[3])];
        let found = options.corpus(&output(&root, pair, system), &references).unwrap();
        let expected: f64 = row[5].parse().unwrap();
        assert!((found.score - expected).abs() < 1e-9, "{row:?}: {}", found.score);
        let signature = options.signature(1);
        assert_eq!(signature.split("version:").next(), row[6].split("version:").next());
        checked += 1;
    }
    assert_eq!(checked, 24);
}

#[test]
fn wmt21_sentences() {
    let Some(root) = data("wmt21_sentences", "wmt21") else { return };
    let hypotheses = output(&root, "de-en", "Online-A");
    let references = reference(&root, "de-en", "A");
    let options = BleuOptions::sentence_level();
    let table = lines(&root.join("sacrebleu_sentence_oracle.de-en.Online-A.refA.first200.tsv"));
    assert_eq!(table.len(), 201);
    for (i, row) in table[1..].iter().enumerate() {
        let expected: f64 = row.split('\t').nth(1).unwrap().parse().unwrap();
        let found = options.score(&options.segment(&hypotheses[i], &[&references[i]])).score;
        assert!((found - expected).abs() < 1e-9, "line {}: {found} {expected}", i + 1);
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
