//! Lines of a plain, gzip or zstandard file or of standard input.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::string::FromUtf8Error;

use crate::error::TextError;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const BYTE_ORDER_MARK: char = '\u{feff}';
/// Bytes that are asked for at a time.
const BUFFER: usize = 1 << 16;

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
    reader: BufReader<Box<dyn Read + Send>>,
    /// Whole lines with their ends, and how many bytes of them have been handed out.
    text: String,
    used: usize,
    /// What is wrong with the line after the text.
    error: Option<TextError>,
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
        let name = name.to_owned();
        match decompress(input) {
            Err(source) => Err(TextError::Read { file: name, line: 0, source }),
            Ok(input) => {
                let reader = BufReader::with_capacity(BUFFER, input);
                Ok(Self { name, reader, text: String::new(), used: 0, error: None, line: 0, done: false })
            }
        }
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

    /// The next line, and those after it that are there already: nobody has to wait for more than one. They are one
    /// text, which `str::lines` cuts as this iterator does. After an error there is nothing more.
    ///
    /// ```
    /// use regard_text::Lines;
    /// let mut lines = Lines::from_reader("memory", "one\r\ntwo\r\n\nlast".as_bytes()).unwrap();
    /// assert_eq!(lines.next().unwrap().unwrap(), "one");
    /// let texts: String = std::iter::from_fn(|| lines.next_text()).map(Result::unwrap).collect();
    /// assert_eq!(texts.lines().collect::<Vec<_>>(), ["two", "", "last"]);
    /// ```
    pub fn next_text(&mut self) -> Option<Result<String, TextError>> {
        if let Err(error) = self.fill()? {
            return Some(Err(error));
        }
        let mut text = std::mem::take(&mut self.text);
        text.drain(..std::mem::take(&mut self.used));
        self.line += text.lines().count();
        Some(Ok(text))
    }

    /// Sees to it that there is a line in the text; nothing at the end and after an error.
    fn fill(&mut self) -> Option<Result<(), TextError>> {
        while self.used == self.text.len() && !self.done {
            if let Err(error) = self.error.take().map_or_else(|| self.read(), Err) {
                self.done = true;
                return Some(Err(error));
            }
        }
        (!self.done).then_some(Ok(()))
    }

    /// Reads a line, and takes those that came with it.
    fn read(&mut self) -> Result<(), TextError> {
        let mut bytes = std::mem::take(&mut self.text).into_bytes();
        bytes.clear();
        self.used = 0;
        self.reader.read_until(b'\n', &mut bytes).map_err(|source| TextError::Read {
            file: self.name.clone(),
            line: self.line,
            source,
        })?;
        let there = self.reader.buffer();
        let whole = whole_lines(there);
        bytes.extend_from_slice(&there[..whole]);
        self.reader.consume(whole);
        self.done = bytes.is_empty();
        self.text = String::from_utf8(bytes).unwrap_or_else(|error| self.before(&error));
        if self.line == 0 && self.text.starts_with(BYTE_ORDER_MARK) {
            self.used = BYTE_ORDER_MARK.len_utf8();
        }
        Ok(())
    }

    /// The lines before the first that is not UTF-8; that one is reported after them.
    fn before(&mut self, error: &FromUtf8Error) -> String {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let text = String::from_utf8_lossy(&valid[..whole_lines(valid)]).into_owned();
        let line = self.line + text.lines().count() + 1;
        self.error = Some(TextError::InvalidUtf8 { file: self.name.clone(), line });
        text
    }
}

impl Iterator for Lines {
    type Item = Result<String, TextError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Err(error) = self.fill()? {
            return Some(Err(error));
        }
        let line = self.text.get(self.used..)?.split_inclusive('\n').next()?;
        self.used += line.len();
        self.line += 1;
        line.lines().next().map(|line| Ok(line.to_owned()))
    }
}

/// The length of the lines that have an end.
fn whole_lines(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1)
}

/// Looks at the first bytes, and at no more of them than could still be a magic number: someone who types a short line
/// must not have to type a second one before the first is read.
fn decompress(mut input: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut head = Vec::new();
    while [GZIP, ZSTD].iter().any(|magic| magic.len() > head.len() && magic.starts_with(&head)) {
        if input.by_ref().take(1).read_to_end(&mut head)? == 0 {
            break;
        }
    }
    let kind = head.clone();
    let all = Cursor::new(head).chain(input);
    Ok(match kind.as_slice() {
        GZIP => Box::new(flate2::read::MultiGzDecoder::new(all)),
        ZSTD => Box::new(zstd::Decoder::new(all)?),
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

    /// Gives what it has in pieces of a few bytes.
    struct Pieces(Vec<u8>, usize);

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(self.0.len()).min(buffer.len());
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0.drain(..length);
            Ok(length)
        }
    }

    #[test]
    fn texts_are_the_same_lines_and_errors_however_the_bytes_come() {
        let good = "\u{feff}é\r\n\n\u{feff}b\rc\r\r\nlast\r".as_bytes();
        let expected = ["é", "", "\u{feff}b\rc\r", "last\r"];
        let bad = [good, b"\nfifth\n\xff\n"].concat();
        for size in [1, 2, 3, 7, 100] {
            let open = |bytes: &[u8]| Lines::from_reader("memory", Pieces(bytes.to_vec(), size)).unwrap();
            let lines: Vec<String> = open(good).map(Result::unwrap).collect();
            assert_eq!(lines, expected);
            let mut texts = open(&bad);
            let mut read = String::new();
            let error = loop {
                match texts.next_text().unwrap() {
                    Ok(text) => read += &text,
                    Err(error) => break error,
                }
            };
            let lines: Vec<&str> = read.lines().collect();
            assert_eq!(lines, [&expected[..3], &["last", "fifth"]].concat());
            assert!(matches!(error, TextError::InvalidUtf8 { line: 6, .. }), "{error}");
            assert!(texts.next_text().is_none() && texts.next().is_none());
        }
        let nothing = Lines::from_reader("memory", "\u{feff}".as_bytes()).unwrap();
        assert_eq!(nothing.count(), 0);
    }
}
