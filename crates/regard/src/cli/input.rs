//! Lines in, as they come.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel};
use std::time::Duration;

use anyhow::Result;
use regard_text::{Lines, TextError};

/// How long a window waits for more of a pipe before the work on it begins.
const PATIENCE: Duration = Duration::from_millis(2);
/// Texts that are read ahead.
const AHEAD: usize = 16;

/// Lines as one text, which `str::lines` cuts.
#[derive(Default)]
pub(super) struct Window {
    pub(super) text: String,
    /// How many lines there are.
    pub(super) lines: usize,
}

/// Lines of a file or of standard input, read ahead by a thread of their own.
pub(super) struct Windows {
    read: Receiver<Result<Window, TextError>>,
    /// Lines that came with those of the window before.
    rest: Window,
    failed: Option<TextError>,
}

impl Windows {
    /// Opens a file; `-` or nothing is standard input.
    pub(super) fn open(path: Option<&PathBuf>) -> Result<Self> {
        let mut lines = Lines::open(path.map_or("-".as_ref(), PathBuf::as_path))?;
        let (sender, receiver) = sync_channel(AHEAD);
        std::thread::spawn(move || {
            let mut before = 0;
            while let Some(text) = lines.next_text() {
                let count = lines.line() - std::mem::replace(&mut before, lines.line());
                // The receiver goes away when the work has ended early; so does this thread then.
                if sender.send(text.map(|text| Window { text, lines: count })).is_err() {
                    return;
                }
            }
        });
        Ok(Self { read: receiver, rest: Window::default(), failed: None })
    }

    /// The lines that are there, at least one and at most `limit`; none at the end. A line that cannot be read is an error
    /// after the lines before it have been returned.
    pub(super) fn next(&mut self, limit: usize) -> Result<Window> {
        match self.rest() {
            Some(rest) => Ok(self.grown(rest?, limit)),
            None => match self.read.recv() {
                Ok(first) => Ok(self.grown(first?, limit)),
                Err(_) => Ok(Window::default()),
            },
        }
    }

    /// The same, or nothing where there is none yet.
    pub(super) fn try_next(&mut self, limit: usize) -> Result<Option<Window>> {
        match self.rest() {
            Some(rest) => Ok(Some(self.grown(rest?, limit))),
            None => match self.read.try_recv() {
                Ok(first) => Ok(Some(self.grown(first?, limit))),
                Err(TryRecvError::Empty) => Ok(None),
                Err(TryRecvError::Disconnected) => Ok(Some(Window::default())),
            },
        }
    }

    /// What was left of the last window, or why there is no more.
    fn rest(&mut self) -> Option<Result<Window, TextError>> {
        if self.rest.lines > 0 {
            return Some(Ok(std::mem::take(&mut self.rest)));
        }
        self.failed.take().map(Err)
    }

    /// A window with what comes after it, as far as it is there and fits.
    fn grown(&mut self, mut window: Window, limit: usize) -> Window {
        while window.lines < limit {
            match self.read.recv_timeout(PATIENCE) {
                Ok(Ok(more)) => {
                    window.text.push_str(&more.text);
                    window.lines += more.lines;
                }
                Ok(Err(error)) => {
                    self.failed = Some(error);
                    break;
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        if window.lines > limit
            && let Some((end, _)) = window.text.match_indices('\n').nth(limit.saturating_sub(1))
        {
            self.rest = Window { text: window.text.split_off(end + 1), lines: window.lines - limit };
            window.lines = limit;
        }
        window
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
