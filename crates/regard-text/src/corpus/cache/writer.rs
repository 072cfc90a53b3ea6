//! Writing a cache: aside, then renamed whole.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::header::Header;
use super::{CachedCorpus, Description};
use crate::batch::Pair;
use crate::corpus::filters::CorpusReport;
use crate::corpus::pair_source::append_checksum;
use crate::error::TextError;

/// A cache file that is being written. Until it is finished nothing stands at its path, and it is removed when it never
/// is.
pub struct CacheWriter {
    path: PathBuf,
    aside: PathBuf,
    file: BufWriter<File>,
    lengths: Vec<[u32; 2]>,
    ids: u64,
    body_crc32c: u32,
    pairs_crc32c: u32,
    bytes: Vec<u8>,
}

impl CacheWriter {
    /// Begins a file that will have this path, in a directory that is made where it is missing.
    ///
    /// # Errors
    /// [`TextError::Write`].
    pub fn create(path: &Path) -> Result<Self, TextError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // Two runs that write the same cache must not write into the same file.
        let aside = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
        let open = || -> io::Result<File> {
            if let Some(directory) = path.parent() {
                fs::create_dir_all(directory)?;
            }
            let mut file = File::create(&aside)?;
            file.write_all(&[0; Header::BYTES as usize])?;
            Ok(file)
        };
        let file = BufWriter::new(open().map_err(failed(path))?);
        Ok(Self {
            path: path.to_owned(),
            aside,
            file,
            lengths: Vec::new(),
            ids: 0,
            body_crc32c: 0,
            pairs_crc32c: 0,
            bytes: Vec::new(),
        })
    }

    /// Adds a pair.
    ///
    /// # Errors
    /// [`TextError::Write`]; also where there are 2³² − 1 pairs already.
    pub fn push(&mut self, pair: &Pair) -> Result<(), TextError> {
        let lengths = [&pair.source, &pair.target].map(|side| u32::try_from(side.len()).ok());
        let ([Some(source), Some(target)], true) = (lengths, self.lengths.len() < u32::MAX as usize) else {
            return Err(failed(&self.path)(io::Error::other("too many pairs, or a pair that is too long")));
        };
        self.pairs_crc32c = append_checksum(self.pairs_crc32c, pair, &mut self.bytes);
        self.lengths.push([source, target]);
        self.ids += u64::from(source) + u64::from(target);
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        bytes.extend(pair.source.iter().chain(&pair.target).flat_map(|id| id.to_le_bytes()));
        let written = self.append(&bytes);
        self.bytes = bytes;
        written
    }

    /// Ends the file, gives it its name, and opens it. The key stands for everything that the pairs depend on.
    ///
    /// # Errors
    /// [`TextError::Write`], and those of [`CachedCorpus::open`].
    pub fn finish(mut self, key: &str, reports: &[CorpusReport]) -> Result<CachedCorpus, TextError> {
        for [source, target] in std::mem::take(&mut self.lengths) {
            self.append(&[source.to_le_bytes(), target.to_le_bytes()].concat())?;
        }
        let pairs = reports.iter().map(|report| report.kept as u64).sum();
        let description = Description { key: key.to_owned(), reports: reports.to_vec() };
        let description =
            serde_json::to_vec(&description).map_err(|error| failed(&self.path)(error.into()))?;
        self.append(&description)?;
        let header = Header {
            pairs,
            ids: self.ids,
            description: description.len() as u64,
            body_crc32c: self.body_crc32c,
            pairs_crc32c: self.pairs_crc32c,
        };
        let mut end = || -> io::Result<()> {
            self.file.seek(SeekFrom::Start(0))?;
            self.file.write_all(&header.to_bytes())?;
            self.file.flush()?;
            self.file.get_ref().sync_all()?;
            fs::rename(&self.aside, &self.path)
        };
        end().map_err(failed(&self.path))?;
        CachedCorpus::open(&self.path, key)
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), TextError> {
        self.body_crc32c = crc32c::crc32c_append(self.body_crc32c, bytes);
        self.file.write_all(bytes).map_err(failed(&self.path))
    }
}

impl Drop for CacheWriter {
    fn drop(&mut self) {
        // Renamed, it is not there any more; whatever else goes wrong, a file left over does no harm.
        let _ = fs::remove_file(&self.aside);
    }
}

fn failed(path: &Path) -> impl Fn(io::Error) -> TextError {
    let file = path.display().to_string();
    move |source| TextError::Write { file: file.clone(), source }
}
