//! Lines of a plain, gzip or zstandard file or of standard input.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use crate::error::TextError;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// An iterator over the lines of a text.
///
/// Only LF ends a line; one CR right before it goes with it (files from Windows), and a last line without LF counts.
/// Every other character is text: a lone CR, NUL, U+0085, U+2028. A byte-order mark at the start is dropped. Bytes that
/// are not UTF-8 are an error with file and line. After an error the iterator ends.
///
/// ```
/// use regard_text::Lines;
/// let text = "\u{feff}one\r\ntwo\u{2028}still two\rand still\n\nlast";
/// let lines: Result<Vec<String>, _> = Lines::from_reader("memory", text.as_bytes()).unwrap().collect();
/// assert_eq!(lines.unwrap(), ["one", "two\u{2028}still two\rand still", "", "last"]);
/// ```
pub struct Lines {
    name: String,
    reader: Box<dyn BufRead + Send>,
    line: usize,
    done: bool,
}

impl Lines {
    /// Opens a file, or standard input for `-`. What is compressed is known by its first bytes, whatever its name.
    ///
    /// # Errors
    /// [`TextError::Read`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TextError> {
        let path = path.as_ref();
        if path.as_os_str() == "-" {
            return Self::from_reader("standard input", io::stdin());
        }
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => Self::from_reader(&name, file),
            Err(source) => Err(TextError::Read { file: name, line: 0, source }),
        }
    }

    /// Reads from anything; `name` stands for it in messages.
    ///
    /// # Errors
    /// [`TextError::Read`].
    pub fn from_reader(name: &str, input: impl Read + Send + 'static) -> Result<Self, TextError> {
        let reader =
            decompress(input).map_err(|source| TextError::Read { file: name.to_owned(), line: 0, source })?;
        Ok(Self { name: name.to_owned(), reader, line: 0, done: false })
    }

    /// The file's name for messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Lines read so far.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    fn read_line(&mut self) -> Result<Option<String>, TextError> {
        let mut bytes = Vec::new();
        let length = self.reader.read_until(b'\n', &mut bytes).map_err(|source| TextError::Read {
            file: self.name.clone(),
            line: self.line,
            source,
        })?;
        if length == 0 {
            return Ok(None);
        }
        self.line += 1;
        if bytes.ends_with(b"\n") {
            bytes.pop();
            if bytes.ends_with(b"\r") {
                bytes.pop();
            }
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| TextError::InvalidUtf8 { file: self.name.clone(), line: self.line })?;
        match text.strip_prefix('\u{feff}') {
            Some(rest) if self.line == 1 => Ok(Some(rest.to_owned())),
            _ => Ok(Some(text)),
        }
    }
}

impl Iterator for Lines {
    type Item = Result<String, TextError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let line = self.read_line().transpose();
        self.done = !matches!(line, Some(Ok(_)));
        line
    }
}

/// Looks at the first bytes, and at no more of them than could still be a magic number: someone who types a short line
/// must not have to type a second one before the first is read.
fn decompress(mut input: impl Read + Send + 'static) -> io::Result<Box<dyn BufRead + Send>> {
    let mut head = Vec::new();
    while [GZIP, ZSTD].iter().any(|magic| magic.len() > head.len() && magic.starts_with(&head)) {
        if input.by_ref().take(1).read_to_end(&mut head)? == 0 {
            break;
        }
    }
    let kind = head.clone();
    let all = BufReader::new(Cursor::new(head).chain(input));
    Ok(match kind.as_slice() {
        GZIP => Box::new(BufReader::new(flate2::bufread::MultiGzDecoder::new(all))),
        ZSTD => Box::new(BufReader::new(zstd::Decoder::with_buffer(all)?)),
        _ => Box::new(all),
    })
}

/// A small file as one string, nothing changed.
pub(crate) fn read_utf8(path: &Path) -> Result<String, TextError> {
    let file = || path.display().to_string();
    let bytes = fs::read(path).map_err(|source| TextError::Read { file: file(), line: 0, source })?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let before = error.as_bytes().iter().take(valid).filter(|&&byte| byte == b'\n').count();
        TextError::InvalidUtf8 { file: file(), line: before + 1 }
    })
}

/// Whether a line holds nothing but Unicode white space: it has no translation.
#[must_use]
pub fn is_blank(line: &str) -> bool {
    line.chars().all(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Someone who types one line a byte at a time and fails the test if asked for more.
    struct Typist(&'static [u8]);

    impl Read for Typist {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let (&byte, rest) = self.0.split_first().ok_or_else(|| io::Error::other("read too far"))?;
            self.0 = rest;
            buffer[0] = byte;
            Ok(1)
        }
    }

    /// P26: each line is there before more input is needed, also one that begins like a magic number.
    #[test]
    fn p26_a_line_is_read_as_soon_as_it_ends() {
        for text in ["\n", "(\n", "a\n", "\u{1f}\n"] {
            let mut lines = Lines::from_reader("typist", Typist(text.as_bytes())).unwrap();
            assert_eq!(lines.next().unwrap().unwrap(), text.trim_end_matches('\n'));
            assert!(matches!(lines.next(), Some(Err(TextError::Read { line: 1, .. }))));
            assert!(lines.next().is_none());
        }
    }
}
