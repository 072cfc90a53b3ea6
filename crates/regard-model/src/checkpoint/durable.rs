//! Files and directories that are there whole or not at all: written aside, synced, renamed.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{ModelError, Result};

/// What names of unfinished files and directories end in.
const UNFINISHED: &str = ".tmp";

/// Writes a file whole: what stood there before stays until the new one is on the disk.
///
/// # Errors
/// Where the disk is full or the place cannot be written; the old file is then still there.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let aside = temporary(path);
    let write = || -> io::Result<()> {
        let mut file = File::create(&aside)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    if let Err(source) = write() {
        // The error of the write is the one to report, whether or not the rest of the file can be removed.
        let _ = fs::remove_file(&aside);
        return Err(ModelError::Io { path: path.to_owned(), source });
    }
    rename(&aside, path)
}

/// Makes a directory whole: `fill` writes into a directory beside it, which then takes its name. A directory that had
/// the name makes way at that moment and is removed after it.
///
/// # Errors
/// Where `fill` fails or the disk does; the old directory is then still there.
pub fn write_directory<E: From<ModelError>>(
    path: &Path,
    fill: impl FnOnce(&Path) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let aside = temporary(path);
    let at = |path: &Path| {
        let path = path.to_owned();
        move |source| ModelError::Io { path, source }
    };
    remove(&aside).map_err(at(&aside))?;
    fs::create_dir_all(&aside).map_err(at(&aside))?;
    if let Err(error) = fill(&aside) {
        // As above: the first error is the one to report.
        let _ = fs::remove_dir_all(&aside);
        return Err(error);
    }
    sync_all(&aside).map_err(at(&aside))?;
    if !path.exists() {
        return Ok(rename(&aside, path)?);
    }
    let old = temporary(&path.with_extension("old"));
    remove(&old).map_err(at(&old))?;
    fs::rename(path, &old).map_err(at(path))?;
    rename(&aside, path)?;
    Ok(remove(&old).map_err(at(&old))?)
}

/// The name under which `path` is written before it is whole.
pub(super) fn temporary(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(UNFINISHED);
    path.with_file_name(name)
}

/// Gives a finished file or directory its name, durably.
pub(super) fn rename(from: &Path, to: &Path) -> Result<()> {
    let io = |source| ModelError::Io { path: to.to_owned(), source };
    fs::rename(from, to).map_err(io)?;
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(parent).and_then(|parent| parent.sync_all()).map_err(io)
}

/// Removes what interrupted writes have left in a directory: the unfinished files and directories whose names were to
/// begin with one of `stems`.
///
/// # Errors
/// Where the directory cannot be read or something in it not be removed.
pub fn tidy(dir: &Path, stems: &[&str]) -> Result<()> {
    let io = |source| ModelError::Io { path: dir.to_owned(), source };
    for entry in fs::read_dir(dir).map_err(io)? {
        let entry = entry.map_err(io)?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let unfinished = name.strip_prefix('.').and_then(|name| name.strip_suffix(UNFINISHED));
        if unfinished.is_some_and(|name| stems.iter().any(|stem| name.starts_with(stem))) {
            remove(&entry.path()).map_err(io)?;
        }
    }
    Ok(())
}

fn remove(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        fs::remove_dir_all(path)
    } else if path.exists() {
        fs::remove_file(path)
    } else {
        Ok(())
    }
}

fn sync_all(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() { sync_all(&path)? } else { File::open(&path)?.sync_all()? }
    }
    File::open(dir)?.sync_all()
}
