//! Results out: standard output, or files that are there whole or not at all; and pictures.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::failure::WrongCall;

/// Where results go.
pub(super) struct Output {
    name: String,
    writer: BufWriter<Box<dyn Write>>,
    unfinished: Option<Unfinished>,
}

impl Output {
    /// A file; `-` or nothing is standard output. What stood in the file stays there until [`finish`](Self::finish).
    pub(super) fn open(path: Option<&PathBuf>) -> Result<Self> {
        let Some(path) = path.filter(|path| path.as_os_str() != "-") else {
            let writer: Box<dyn Write> = Box::new(io::stdout());
            return Ok(Self {
                name: "standard output".to_owned(),
                writer: BufWriter::new(writer),
                unfinished: None,
            });
        };
        let name = path.display().to_string();
        let (file, unfinished) = create(path).with_context(|| format!("{name}: cannot be written"))?;
        Ok(Self { name, writer: BufWriter::new(Box::new(file)), unfinished })
    }

    pub(super) fn line(&mut self, line: &str) -> Result<()> {
        let name = &self.name;
        writeln!(self.writer, "{line}").with_context(|| format!("{name}: cannot be written"))
    }

    /// Text that has its line ends.
    pub(super) fn text(&mut self, text: &str) -> Result<()> {
        let name = &self.name;
        self.writer.write_all(text.as_bytes()).with_context(|| format!("{name}: cannot be written"))
    }

    /// Makes what was written visible to a reader.
    pub(super) fn flush(&mut self) -> Result<()> {
        let name = &self.name;
        self.writer.flush().with_context(|| format!("{name}: cannot be written"))
    }

    /// Everything is written: a file takes its name.
    pub(super) fn finish(mut self) -> Result<()> {
        self.flush()?;
        match self.unfinished.take() {
            Some(unfinished) => {
                unfinished.finish().with_context(|| format!("{}: cannot be written", self.name))
            }
            None => Ok(()),
        }
    }
}

/// A file that is written beside the one whose place it will take; where that does not come about, it goes away.
struct Unfinished {
    file: File,
    aside: PathBuf,
    path: PathBuf,
    done: bool,
}

impl Unfinished {
    fn finish(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.aside, &self.path)?;
        self.done = true;
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.done {
            // There is already an error to report, and this one is no news beside it.
            let _ = fs::remove_file(&self.aside);
        }
    }
}

/// Opens a file to be written aside. Devices, pipes and files in closed directories are written where they are.
fn create(path: &Path) -> io::Result<(File, Option<Unfinished>)> {
    // A link stays a link: what it names is replaced.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let old = path.metadata().ok();
    if old.as_ref().is_some_and(|old| !old.is_file() || old.permissions().readonly()) {
        return Ok((File::create(&path)?, None));
    }
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".tmp");
    let aside = path.with_file_name(name);
    let Ok(file) = File::create(&aside) else {
        return Ok((File::create(&path)?, None));
    };
    if let Some(old) = old {
        file.set_permissions(old.permissions())?;
    }
    let writer = file.try_clone()?;
    Ok((writer, Some(Unfinished { file, aside, path, done: false })))
}

/// Lets something write a file by its path: what stood there stays until all is written.
pub(super) fn write_with(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let failed = || format!("{}: cannot be written", path.display());
    match create(path).with_context(failed)? {
        (_, None) => write(path),
        (_, Some(unfinished)) => {
            write(&unfinished.aside)?;
            unfinished.finish().with_context(failed)
        }
    }
}

/// Whether both are the same file.
pub(super) fn is_same_file(one: &Path, other: &Path) -> bool {
    let file = |path: &Path| path.canonicalize().ok().filter(|path| path.is_file());
    file(one).is_some_and(|one| Some(one) == file(other))
}

/// Refuses to write a directory where something is already.
pub(super) fn check_new(directory: &Path) -> Result<()> {
    if directory.exists() {
        bail!("{} exists already; name a new directory", directory.display());
    }
    Ok(())
}

/// Refuses to write over the file that is read: it would be empty before its first line was there.
pub(super) fn check_apart(input: Option<&PathBuf>, output: Option<&PathBuf>) -> Result<()> {
    match (input, output) {
        (Some(input), Some(output)) if is_same_file(input, output) => {
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

/// The first numbers of a list, and how many more there are.
pub(super) fn list(numbers: &[usize]) -> String {
    const SHOWN: usize = 16;
    let shown: Vec<String> = numbers.iter().take(SHOWN).map(ToString::to_string).collect();
    let more = numbers.len().saturating_sub(SHOWN);
    if more == 0 { shown.join(", ") } else { format!("{}, and {more} more", shown.join(", ")) }
}

/// Prints a line on standard output.
pub(super) fn print(text: &str) -> Result<()> {
    let mut output = Output::open(None)?;
    output.line(text)?;
    output.finish()
}

/// Prints a value as one JSON document.
pub(super) fn print_json(value: &impl serde::Serialize) -> Result<()> {
    print(&serde_json::to_string_pretty(value)?)
}

/// Writes a picture or report.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let write = || {
        let (mut file, unfinished) = create(path)?;
        file.write_all(bytes)?;
        unfinished.map_or(Ok(()), Unfinished::finish)
    };
    write().with_context(|| format!("{}: cannot be written", path.display()))
}
