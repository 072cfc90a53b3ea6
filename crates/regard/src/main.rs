//! The `regard` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    regard::cli::run(std::env::args_os())
}
