//! What the fuzz targets share: files to read from, and a small model on disk.

pub mod model;

use std::fs;
use std::path::PathBuf;
use std::process;
use std::sync::LazyLock;

/// Separates the parts of an input. No text format here gives this byte a meaning.
pub const CUT: u8 = 0x1e;

/// A directory of this process.
pub static SCRATCH: LazyLock<PathBuf> = LazyLock::new(|| {
    let path = std::env::temp_dir().join(format!("regard-fuzz-{}", process::id()));
    fs::create_dir_all(&path).expect("the directory for temporary files is writable");
    path
});

/// A file with this content, in place of what it had before.
pub fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = SCRATCH.join(name);
    fs::write(&path, bytes).expect("the scratch directory is writable");
    path
}

/// An input as so many parts; those that are missing are empty.
pub fn parts<const N: usize>(data: &[u8]) -> [&[u8]; N] {
    let mut parts = data.splitn(N, |&byte| byte == CUT);
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}

/// The last part as text, and what comes before it.
pub fn with_line(data: &[u8]) -> (&[u8], String) {
    let cut = data.iter().rposition(|&byte| byte == CUT);
    let (file, line) = cut.map_or((data, [].as_slice()), |cut| (&data[..cut], &data[cut + 1..]));
    (file, String::from_utf8_lossy(line).into_owned())
}
