//! What a training reads its pairs from.

use crate::batch::Pair;
use crate::error::TextError;

/// Pairs of ids, in memory or in a file, by their number from 0.
///
/// ```
/// use regard_text::{Pair, PairSource};
/// let pairs = vec![Pair { source: vec![7, 8], target: vec![9] }];
/// assert_eq!((pairs.len(), PairSource::lengths(&pairs, 0)), (1, (3, 2)));
/// ```
pub trait PairSource {
    /// Number of pairs; at most 2³² − 1.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The lengths of a pair's rows in a batch, see [`Pair::lengths`].
    ///
    /// # Panics
    /// If there is no such pair.
    fn lengths(&self, index: usize) -> (usize, usize);

    /// A pair.
    ///
    /// # Errors
    /// Where the file cannot be read.
    ///
    /// # Panics
    /// If there is no such pair.
    fn get(&self, index: usize) -> Result<Pair, TextError>;

    /// The corpora that the pairs come from, one after the other.
    fn parts(&self) -> Vec<Part> {
        vec![Part { pairs: self.len(), weight: 1.0 }]
    }

    /// CRC-32C of all lengths (u64) and ids (u32), little-endian, pair by pair.
    ///
    /// # Errors
    /// Where the file cannot be read.
    fn checksum(&self) -> Result<u32, TextError> {
        let mut bytes = Vec::new();
        (0..self.len()).try_fold(0, |crc, index| Ok(append_checksum(crc, &self.get(index)?, &mut bytes)))
    }
}

/// A corpus among several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Its pairs.
    pub pairs: usize,
    /// How often each is drawn in an epoch; the fraction of it says which share of the pairs is drawn once more.
    pub weight: f64,
}

/// The checksum with one more pair; `bytes` is only room to work in.
pub(super) fn append_checksum(crc: u32, pair: &Pair, bytes: &mut Vec<u8>) -> u32 {
    bytes.clear();
    for side in [&pair.source, &pair.target] {
        bytes.extend((side.len() as u64).to_le_bytes());
        bytes.extend(side.iter().flat_map(|id| id.to_le_bytes()));
    }
    crc32c::crc32c_append(crc, bytes)
}

impl<P: AsRef<[Pair]> + ?Sized> PairSource for P {
    fn len(&self) -> usize {
        self.as_ref().len()
    }

    fn lengths(&self, index: usize) -> (usize, usize) {
        self.as_ref()[index].lengths()
    }

    fn get(&self, index: usize) -> Result<Pair, TextError> {
        Ok(self.as_ref()[index].clone())
    }
}

/// Corpora in memory, one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Corpus {
    /// All pairs.
    pub pairs: Vec<Pair>,
    /// How many of them belong to which corpus, in order: together as many as there are.
    pub parts: Vec<Part>,
}

impl PairSource for Corpus {
    fn len(&self) -> usize {
        self.pairs.len()
    }

    fn lengths(&self, index: usize) -> (usize, usize) {
        self.pairs[index].lengths()
    }

    fn get(&self, index: usize) -> Result<Pair, TextError> {
        Ok(self.pairs[index].clone())
    }

    fn parts(&self) -> Vec<Part> {
        self.parts.clone()
    }
}
