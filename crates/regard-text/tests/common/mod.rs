//! Where the tests find data that is not part of the repository.

use std::path::{Path, PathBuf};

/// `$REGARD_DATA`, else `../shared/data` beside the workspace; says so where neither is there.
pub(crate) fn data(test: &str) -> Option<PathBuf> {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let path = std::env::var_os("REGARD_DATA").map_or_else(default, PathBuf::from);
    if !path.is_dir() {
        println!("skipped: no data ({test})");
        return None;
    }
    Some(path)
}
