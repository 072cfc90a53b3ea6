//! The codes file of subword-nmt 0.2.

use std::fs;
use std::path::Path;

use crate::corpus::read_utf8;
use crate::error::TextError;

const HEADER: &str = "#version: 0.2";

pub(super) fn read(path: &Path) -> Result<Vec<(String, String)>, TextError> {
    let text = read_utf8(path)?;
    let bad = |line: usize, problem: String| TextError::BadCodes {
        file: path.display().to_string(),
        line,
        problem,
    };
    let mut lines = text.strip_suffix('\n').unwrap_or(&text).split('\n');
    let header = lines.next().unwrap_or_default();
    // A symbol may be a carriage return, so it is dropped only where the header shows that every line has one.
    let line_end = if header.ends_with('\r') { "\r" } else { "" };
    if header.strip_suffix(line_end) != Some(HEADER) {
        return Err(bad(
            1,
            format!("expected `{HEADER}`, found `{header}`: learn the merges again with subword-nmt ≥ 0.2"),
        ));
    }
    lines
        .zip(2..)
        .map(|(line, number)| {
            let line = line.strip_suffix(line_end).unwrap_or(line);
            match line.split_once(' ') {
                Some((left, right)) if !left.is_empty() && !right.is_empty() && !right.contains(' ') => {
                    Ok((left.to_owned(), right.to_owned()))
                }
                _ => Err(bad(number, format!("expected two symbols with one space between, found `{line}`"))),
            }
        })
        .collect()
}

pub(super) fn write(path: &Path, merges: &[(String, String)]) -> Result<(), TextError> {
    let mut text = format!("{HEADER}\n");
    for (left, right) in merges {
        text.extend([left.as_str(), " ", right, "\n"]);
    }
    fs::write(path, text).map_err(|source| TextError::Write { file: path.display().to_string(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Vec<(String, String)>, TextError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("codes");
        fs::write(&path, text).unwrap();
        read(&path)
    }

    #[test]
    fn carriage_returns_are_symbols_or_line_ends() {
        assert_eq!(read_text("#version: 0.2\na \r\n").unwrap(), [("a".to_owned(), "\r".to_owned())]);
        assert_eq!(read_text("#version: 0.2\r\na b\r\n").unwrap(), [("a".to_owned(), "b".to_owned())]);
        assert_eq!(read_text("#version: 0.2\n").unwrap(), []);
    }

    #[test]
    fn mistakes_name_file_and_line() {
        for (text, line) in
            [("", 1), ("a b\n", 1), ("#version: 0.2\na b\na b c\n", 3), ("#version: 0.2\nab\n", 2)]
        {
            let message = read_text(text).unwrap_err().to_string();
            assert!(message.contains(&format!("codes:{line}: expected")), "{message}");
        }
    }
}
