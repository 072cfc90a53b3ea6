//! How the program ends when something is wrong: one clear message, and a status that scripts can tell apart.

use std::io;
use std::process::ExitCode;

use regard_decode::DecodeError;
use regard_look::LookError;

use super::output::tell;

/// The data or the run failed.
const FAILED: u8 = 1;
/// The call was wrong.
const WRONG_CALL: u8 = 2;

/// An error in the call itself, as opposed to the data.
#[derive(Debug)]
pub(super) struct WrongCall(pub(super) String);

impl std::fmt::Display for WrongCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongCall {}

/// Reports what is wrong with the words of the call. Help and version come this way too, and are no error.
pub(super) fn usage(message: &clap::Error) -> ExitCode {
    // Where the message itself cannot be printed, the status is all that is left to say.
    let _ = message.print();
    if message.use_stderr() { ExitCode::from(WRONG_CALL) } else { ExitCode::SUCCESS }
}

/// Reports an error. A reader that went away is none: the work simply ends.
pub(super) fn report(error: &anyhow::Error) -> ExitCode {
    let closed = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    if error.chain().any(closed) {
        return ExitCode::SUCCESS;
    }
    tell(format_args!("regard: {}", message(error)));
    let wrong_call = error.chain().any(|cause| {
        let options =
            matches!(cause.downcast_ref(), Some(DecodeError::Options(_) | DecodeError::NoAttention { .. }));
        let not_there =
            matches!(cause.downcast_ref(), Some(LookError::Impossible { .. } | LookError::Unfit { .. }));
        options || not_there || cause.is::<WrongCall>()
    });
    ExitCode::from(if wrong_call { WRONG_CALL } else { FAILED })
}

/// The error and its causes on one line, without what a cause says again.
fn message(error: &anyhow::Error) -> String {
    let mut message = String::new();
    for cause in error.chain() {
        let cause = one_line(&cause.to_string());
        if !message.contains(&cause) {
            let separator = if message.is_empty() { "" } else { ": " };
            message = format!("{message}{separator}{cause}");
        }
    }
    message
}

/// A message of several lines as one. TOML's have a picture of the place, whose line and column they name in words.
fn one_line(text: &str) -> String {
    let in_picture =
        |line: &&str| line.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit()).starts_with('|');
    let lines = text.lines().filter(|line| !in_picture(line)).map(str::trim);
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(": ")
}
