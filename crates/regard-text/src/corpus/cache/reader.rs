//! Reading a cache, which is checked whole before anything of it is used.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use super::Description;
use super::header::Header;
use crate::batch::Pair;
use crate::corpus::filters::CorpusReport;
use crate::corpus::pair_source::{PairSource, Part};
use crate::error::TextError;

/// Pairs whose place in the file is found from one remembered place.
const BLOCK: usize = 64;

/// Pairs of ids that stay in their file. In memory are 8 bytes a pair, for the lengths.
#[derive(Debug)]
pub struct CachedCorpus {
    name: String,
    file: File,
    /// Tokens of both sides of each pair.
    lengths: Vec<[u32; 2]>,
    /// Ids before each block of pairs.
    blocks: Vec<u64>,
    checksum: u32,
    reports: Vec<CorpusReport>,
    weights: Vec<f64>,
}

impl CachedCorpus {
    /// Opens a cache that was made with this key.
    ///
    /// # Errors
    /// [`TextError::BadCache`] where the file is damaged, something else, or of another key; [`TextError::Read`].
    pub fn open(path: &Path, key: &str) -> Result<Self, TextError> {
        let name = path.display().to_string();
        let failed = |source| TextError::Read { file: name.clone(), line: 0, source };
        let bad = |problem: &str| TextError::BadCache { file: name.clone(), problem: problem.to_owned() };
        let file = File::open(path).map_err(failed)?;
        let bytes = file.metadata().map_err(failed)?.len();
        if bytes < Header::BYTES {
            return Err(bad("it is cut"));
        }
        let mut head = [0; Header::BYTES as usize];
        read_at(&file, &mut head, 0).map_err(failed)?;
        let header = Header::from_bytes(&head).map_err(bad)?;
        if header.file_bytes() != Some(bytes) {
            return Err(bad("it is cut, or something was added"));
        }
        let body = Body::read(&file, &header).map_err(failed)?;
        let description: Description =
            serde_json::from_slice(&body.description).map_err(|_| bad("its description cannot be read"))?;
        let mut kept = description.reports.iter().map(|report| report.kept);
        let pairs = kept.try_fold(0_usize, usize::checked_add);
        if body.crc32c != header.body_crc32c || body.ids != header.ids || pairs != Some(body.lengths.len()) {
            return Err(bad("it is damaged"));
        }
        if description.key != key {
            return Err(bad("it was made from other text, or in another way"));
        }
        let weights = vec![1.0; description.reports.len()];
        let (lengths, blocks, reports) = (body.lengths, body.blocks, description.reports);
        Ok(Self { name, file, lengths, blocks, checksum: header.pairs_crc32c, reports, weights })
    }

    /// The same, with the weight of each corpus in place of 1; a corpus without a weight keeps its own.
    #[must_use]
    pub fn with_weights(mut self, weights: &[f64]) -> Self {
        self.weights.iter_mut().zip(weights).for_each(|(weight, &given)| *weight = given);
        self
    }

    /// What became of the lines of each corpus.
    #[must_use]
    pub fn reports(&self) -> &[CorpusReport] {
        &self.reports
    }
}

impl PairSource for CachedCorpus {
    fn len(&self) -> usize {
        self.lengths.len()
    }

    fn lengths(&self, index: usize) -> (usize, usize) {
        let [source, target] = self.lengths[index];
        (source as usize + 1, target as usize + 1)
    }

    fn get(&self, index: usize) -> Result<Pair, TextError> {
        let [source, target] = self.lengths[index];
        let block = index / BLOCK;
        let before: u64 = self.lengths[block * BLOCK..index].iter().copied().map(tokens).sum();
        let place = Header::BYTES + 4 * (self.blocks[block] + before);
        let mut bytes = vec![0; 4 * (source as usize + target as usize)];
        read_at(&self.file, &mut bytes, place).map_err(|source| TextError::Read {
            file: self.name.clone(),
            line: 0,
            source,
        })?;
        let (source, target) = bytes.split_at(4 * source as usize);
        Ok(Pair { source: ids(source), target: ids(target) })
    }

    fn parts(&self) -> Vec<Part> {
        let parts = self.reports.iter().zip(&self.weights);
        parts.map(|(report, &weight)| Part { pairs: report.kept, weight }).collect()
    }

    fn checksum(&self) -> Result<u32, TextError> {
        Ok(self.checksum)
    }
}

/// What stands after the header.
struct Body {
    crc32c: u32,
    /// Ids by the lengths.
    ids: u64,
    lengths: Vec<[u32; 2]>,
    blocks: Vec<u64>,
    description: Vec<u8>,
}

impl Body {
    /// Reads through a file whose size is the header's, and keeps all but the ids.
    fn read(file: &File, header: &Header) -> io::Result<Self> {
        let mut rest = BufReader::with_capacity(1 << 20, file);
        io::copy(&mut rest.by_ref().take(Header::BYTES), &mut io::sink())?;
        let mut body =
            Self { crc32c: 0, ids: 0, lengths: Vec::new(), blocks: Vec::new(), description: Vec::new() };
        let mut bytes = [0; 1 << 14];
        let mut left = 4 * header.ids;
        while left > 0 {
            let part = &mut bytes[..left.min(1 << 14) as usize];
            rest.read_exact(part)?;
            body.crc32c = crc32c::crc32c_append(body.crc32c, part);
            left -= part.len() as u64;
        }
        body.lengths.reserve_exact(header.pairs as usize);
        for pair in 0..header.pairs as usize {
            let mut lengths = [0; 8];
            rest.read_exact(&mut lengths)?;
            body.crc32c = crc32c::crc32c_append(body.crc32c, &lengths);
            if pair.is_multiple_of(BLOCK) {
                body.blocks.push(body.ids);
            }
            let [a, b, c, d, e, f, g, h] = lengths;
            let lengths = [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])];
            body.ids += tokens(lengths);
            body.lengths.push(lengths);
        }
        rest.read_to_end(&mut body.description)?;
        body.crc32c = crc32c::crc32c_append(body.crc32c, &body.description);
        Ok(body)
    }
}

fn tokens(lengths: [u32; 2]) -> u64 {
    lengths.into_iter().map(u64::from).sum()
}

fn ids(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|&id| u32::from_le_bytes(id)).collect()
}

/// Fills the buffer from this place of the file.
#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], place: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, place)
}

/// Fills the buffer from this place of the file.
#[cfg(not(unix))]
fn read_at(mut file: &File, buffer: &mut [u8], place: u64) -> io::Result<()> {
    io::Seek::seek(&mut file, io::SeekFrom::Start(place))?;
    file.read_exact(buffer)
}
