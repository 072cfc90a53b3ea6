//! Results out: a file written as it grows, or standard output; and pictures.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::failure::WrongCall;

/// Where results go.
pub(super) struct Output {
    name: String,
    writer: BufWriter<Box<dyn Write>>,
}

impl Output {
    /// A file; `-` or nothing is standard output.
    pub(super) fn open(path: Option<&PathBuf>) -> Result<Self> {
        let (name, writer): (String, Box<dyn Write>) = match path.filter(|path| path.as_os_str() != "-") {
            None => ("standard output".to_owned(), Box::new(io::stdout())),
            Some(path) => {
                let name = path.display().to_string();
                let file = File::create(path).with_context(|| format!("{name}: cannot be written"))?;
                (name, Box::new(file))
            }
        };
        Ok(Self { name, writer: BufWriter::new(writer) })
    }

    pub(super) fn line(&mut self, line: &str) -> Result<()> {
        let name = &self.name;
        writeln!(self.writer, "{line}").with_context(|| format!("{name}: cannot be written"))
    }

    /// Makes what was written visible to a reader.
    pub(super) fn flush(&mut self) -> Result<()> {
        let name = &self.name;
        self.writer.flush().with_context(|| format!("{name}: cannot be written"))
    }
}

/// Refuses to write over the file that is read: it would be empty before its first line was there.
pub(super) fn check_apart(input: Option<&PathBuf>, output: Option<&PathBuf>) -> Result<()> {
    let file = |path: Option<&PathBuf>| path?.canonicalize().ok().filter(|path| path.is_file());
    match (file(input), file(output)) {
        (Some(input), Some(output)) if input == output => {
            let message =
                format!("-i and -o are the same file, {}: name another one for -o", input.display());
            Err(WrongCall(message).into())
        }
        _ => Ok(()),
    }
}

/// A line on standard error. Where nobody reads it, the work goes on.
pub(super) fn tell(message: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "{message}");
}

/// Prints a line on standard output.
pub(super) fn print(text: &str) -> Result<()> {
    let mut output = Output::open(None)?;
    output.line(text)?;
    output.flush()
}

/// Prints a value as one JSON document.
pub(super) fn print_json(value: &impl serde::Serialize) -> Result<()> {
    print(&serde_json::to_string_pretty(value)?)
}

/// Writes a picture or report.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("{}: cannot be written", path.display()))
}
