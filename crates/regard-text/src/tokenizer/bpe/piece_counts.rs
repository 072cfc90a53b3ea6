//! The vocabulary file of subword-nmt: a piece and how often it occurs, a line each.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use super::word_counts::parse;
use crate::corpus::Lines;
use crate::error::TextError;

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

/// Writes pieces by count, the largest first, equal ones by bytes.
pub(super) fn write(path: &Path, counts: &BTreeMap<String, u64>) -> Result<(), TextError> {
    let mut ranked: Vec<_> = counts.iter().collect();
    ranked.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
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
    fn written_and_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pieces");
        let counts = [("b", 2), ("a@@", 2), ("c", 9), ("rare", 1)];
        write(&path, &counts.map(|(piece, count)| (piece.to_owned(), count)).into()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "c 9\na@@ 2\nb 2\nrare 1\n");
        let expected: HashSet<String> = ["c", "a@@", "b"].map(str::to_owned).into();
        assert_eq!(read(&path, 2).unwrap(), expected);
        fs::write(&path, "a 1\nno count\n").unwrap();
        let message = read(&path, 1).unwrap_err().to_string();
        assert!(message.contains("pieces:2: expected a piece and its count"), "{message}");
    }
}
