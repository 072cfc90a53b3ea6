//! Lines in, as they come.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use anyhow::Result;
use regard_text::{Lines, TextError};

/// How long a window waits for one more line of a pipe before the work on it begins.
const PATIENCE: Duration = Duration::from_millis(2);

/// Lines of a file or of standard input, read ahead by a thread of their own.
pub(super) struct Windows {
    lines: Receiver<Result<String, TextError>>,
    failed: Option<TextError>,
}

impl Windows {
    /// Opens a file; `-` or nothing is standard input.
    pub(super) fn open(path: Option<&PathBuf>) -> Result<Self> {
        let lines = Lines::open(path.map_or("-".as_ref(), PathBuf::as_path))?;
        let (sender, receiver) = sync_channel(1024);
        std::thread::spawn(move || {
            // The receiver goes away when the work has ended early; so does this thread then.
            for line in lines {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self { lines: receiver, failed: None })
    }

    /// The lines that are there, at least one and at most `limit`; empty at the end. A line that cannot be read is an
    /// error after the lines before it have been returned.
    pub(super) fn next(&mut self, limit: usize) -> Result<Vec<String>> {
        if let Some(error) = self.failed.take() {
            return Err(error.into());
        }
        let mut window = Vec::new();
        let Ok(first) = self.lines.recv() else { return Ok(window) };
        window.push(first?);
        while window.len() < limit {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(Ok(line)) => window.push(line),
                Ok(Err(error)) => {
                    self.failed = Some(error);
                    break;
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        Ok(window)
    }
}

/// All lines of a file; `-` is standard input.
pub(super) fn all_lines(path: &PathBuf) -> Result<Vec<String>> {
    Ok(Lines::open(path)?.collect::<Result<_, _>>()?)
}

/// All lines of two files that belong together line by line.
pub(super) fn paired_lines(first: &PathBuf, second: &PathBuf) -> Result<(Vec<String>, Vec<String>)> {
    let (a, b) = (all_lines(first)?, all_lines(second)?);
    if a.len() != b.len() {
        anyhow::bail!(
            "{} has {} lines and {} has {}: they must belong together line by line",
            first.display(),
            a.len(),
            second.display(),
            b.len()
        );
    }
    Ok((a, b))
}
