//! The vocabulary file of subword-nmt: a piece and how often it occurs, a line each.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use super::super::word::words;
use super::word_counts::parse;
use crate::corpus::Lines;
use crate::error::TextError;

/// Counts that remember what came first.
#[derive(Default)]
struct Counter(HashMap<String, (usize, u64)>);

impl Counter {
    fn add(&mut self, text: &str, count: u64) {
        let next = self.0.len();
        match self.0.get_mut(text) {
            Some((_, total)) => *total = total.saturating_add(count),
            None => _ = self.0.insert(text.to_owned(), (next, count)),
        }
    }

    fn in_order(self) -> Vec<(String, u64)> {
        let mut counts: Vec<_> = self.0.into_iter().collect();
        counts.sort_unstable_by_key(|&(_, (place, _))| place);
        counts.into_iter().map(|(text, (_, count))| (text, count)).collect()
    }
}

/// Counts the pieces of lines, in the order of their first occurrence. A piece occurs first where the first of its words
/// does, so each word is cut once.
pub(super) fn count(
    lines: impl IntoIterator<Item = impl AsRef<str>>,
    pieces: impl Fn(&str) -> Vec<String>,
) -> Vec<(String, u64)> {
    let mut seen = Counter::default();
    for line in lines {
        for word in words(line.as_ref()) {
            seen.add(word, 1);
        }
    }
    let mut counts = Counter::default();
    for (word, count) in seen.in_order() {
        for piece in pieces(&word) {
            counts.add(&piece, count);
        }
    }
    counts.in_order()
}

/// The pieces of a file that are seen at least `threshold` times.
pub(super) fn read(path: &Path, threshold: u64) -> Result<HashSet<String>, TextError> {
    let mut lines = Lines::open(path)?;
    let mut pieces = HashSet::new();
    while let Some(line) = lines.next().transpose()? {
        let (piece, count) = parse(&line, &lines, "a piece")?;
        if count >= threshold {
            pieces.insert(piece.to_owned());
        }
    }
    Ok(pieces)
}

/// Writes pieces by count, the largest first, equal ones as they come.
pub(super) fn write(path: &Path, counts: &[(String, u64)]) -> Result<(), TextError> {
    let mut ranked: Vec<_> = counts.iter().collect();
    ranked.sort_by_key(|&(_, count)| Reverse(count));
    let mut text = String::new();
    for (piece, count) in ranked {
        text.extend([piece, " ", &count.to_string(), "\n"]);
    }
    fs::write(path, text).map_err(|source| TextError::Write { file: path.display().to_string(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_first_stays_first() {
        let letters = |word: &str| word.chars().map(String::from).collect();
        let counts = count(["za ab", "b", "za c"], letters);
        let expected = [("z", 2), ("a", 3), ("b", 2), ("c", 1)];
        assert_eq!(counts, expected.map(|(letter, count)| (letter.to_owned(), count)));
    }

    #[test]
    fn written_and_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pieces");
        let counts = [("b", 2), ("rare", 1), ("a@@", 2), ("c", 9)];
        write(&path, &counts.map(|(piece, count)| (piece.to_owned(), count))).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "c 9\nb 2\na@@ 2\nrare 1\n");
        let expected: HashSet<String> = ["c", "a@@", "b"].map(str::to_owned).into();
        assert_eq!(read(&path, 2).unwrap(), expected);
        fs::write(&path, "a 1\nno count\n").unwrap();
        let message = read(&path, 1).unwrap_err().to_string();
        assert!(message.contains("pieces:2: expected a piece and its count"), "{message}");
    }
}
