//! The data that lies beside the project, where there is any.
#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use std::path::{Path, PathBuf};

/// The data folder, or none with a line that says which test is skipped.
pub(crate) fn data(test: &str, folder: &str) -> Option<PathBuf> {
    let root = std::env::var_os("REGARD_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    let path = root.join(folder);
    if path.is_dir() {
        return Some(path);
    }
    println!("skipped: no data ({test})");
    None
}

/// Lines end at LF only; a last line without one counts.
pub(crate) fn lines(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.strip_suffix('\n').unwrap_or(&text).split('\n').map(str::to_owned).collect()
}

pub(crate) fn target(pair: &str) -> &str {
    &pair[3..]
}

pub(crate) fn output(root: &Path, pair: &str, system: &str) -> Vec<String> {
    lines(&root.join(format!("system-outputs/newstest2021.{pair}.hyp.{system}.{}", target(pair))))
}

pub(crate) fn reference(root: &Path, pair: &str, letter: &str) -> Vec<String> {
    lines(&root.join(format!("references/newstest2021.{pair}.ref.{letter}.{}", target(pair))))
}
