//! How often each word occurs.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use super::super::word::words;
use crate::corpus::Lines;
use crate::error::TextError;
use crate::parallel;

/// Lines that a thread counts at a time.
const LINES: usize = 1 << 14;

/// The words of lines, and how often each occurs.
pub(super) fn count_words(lines: impl IntoIterator<Item = impl AsRef<str>>) -> BTreeMap<String, u64> {
    let mut counts = HashMap::new();
    for line in lines {
        add(&mut counts, line.as_ref());
    }
    counts.into_iter().collect()
}

/// The same on several threads.
pub(super) fn count_in_parallel(lines: &[impl AsRef<str> + Sync], threads: usize) -> BTreeMap<String, u64> {
    let parts: Vec<_> = lines.chunks(LINES).collect();
    let counted = parallel::map(threads, parts.len(), |part| {
        let mut counts = HashMap::new();
        for line in parts[part] {
            add(&mut counts, line.as_ref());
        }
        counts
    });
    let mut counts: HashMap<String, u64> = HashMap::new();
    for (word, count) in counted.into_iter().flatten() {
        *counts.entry(word).or_default() += count;
    }
    counts.into_iter().collect()
}

fn add(counts: &mut HashMap<String, u64>, line: &str) {
    for word in words(line) {
        match counts.get_mut(word) {
            Some(count) => *count += 1,
            None => _ = counts.insert(word.to_owned(), 1),
        }
    }
}

/// Reads `word count` lines (subword-nmt's `--dict-input`); the counts of a word that comes twice are added.
pub(super) fn read(path: &Path) -> Result<BTreeMap<String, u64>, TextError> {
    let mut lines = Lines::open(path)?;
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    while let Some(line) = lines.next().transpose()? {
        let (word, count) = parse(&line, &lines, "a word")?;
        let total = counts.entry(word.to_owned()).or_default();
        *total = total.saturating_add(count);
    }
    Ok(counts)
}

/// A line of text and a number, a space between.
pub(super) fn parse<'a>(line: &'a str, lines: &Lines, what: &str) -> Result<(&'a str, u64), TextError> {
    let parts = line.rsplit_once(' ').and_then(|(text, count)| Some((text, count.parse().ok()?)));
    parts.filter(|(text, _): &(&str, u64)| !text.is_empty()).ok_or_else(|| TextError::BadCodes {
        file: lines.name().to_owned(),
        line: lines.line(),
        problem: format!("expected {what} and its count with a space between, found `{line}`"),
    })
}

#[cfg(test)]
mod tests {
    use super::super::Bpe;
    use super::*;

    #[test]
    fn any_number_of_threads_counts_the_same() {
        let lines: Vec<String> = (0..40_000).map(|line| format!("w{} {}  x", line % 97, line % 3)).collect();
        let expected = count_words(&lines);
        assert_eq!(expected["x"], 40_000);
        for threads in [1, 3] {
            assert_eq!(count_in_parallel(&lines, threads), expected);
        }
    }

    #[test]
    fn counts_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("dictionary");
        std::fs::write(&path, "low 5\nlower 2\nlow 1\n").unwrap();
        let counts = read(&path).unwrap();
        assert_eq!(counts.into_iter().collect::<Vec<_>>(), [("low".to_owned(), 6), ("lower".to_owned(), 2)]);
        std::fs::write(&path, format!("low {}\nlow 2\nlower {}\n", u64::MAX, u64::MAX)).unwrap();
        let counts = read(&path).unwrap();
        assert_eq!(counts["low"], u64::MAX);
        assert_eq!(Bpe::learn_from_counts(counts, 9, 2, &mut |_| {}).segment("low lower")[0], "low");
        for bad in ["low\n", "low x\n", " 5\n", "low -1\n"] {
            std::fs::write(&path, bad).unwrap();
            let message = read(&path).unwrap_err().to_string();
            assert!(message.contains("dictionary:1: expected a word and its count"), "{message}");
        }
    }
}
