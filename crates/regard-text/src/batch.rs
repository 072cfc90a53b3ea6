//! Rows of ids → padded arrays.

use crate::corpus::PairSource;
use crate::error::TextError;
use crate::special_tokens::{EOS, PAD};

/// A sentence and its translation as ids, without BOS and EOS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// `x1 … xn`.
    pub source: Vec<u32>,
    /// `y1 … ym`.
    pub target: Vec<u32>,
}

impl Pair {
    /// The lengths that the two rows have in a batch: EOS included.
    #[must_use]
    pub fn lengths(&self) -> (usize, usize) {
        (self.source.len() + 1, self.target.len() + 1)
    }
}

/// Rows of different lengths in one row-major array `[rows, width]`, filled on the right with [`PAD`].
///
/// ```
/// use regard_text::Padded;
/// let padded = Padded::from_rows(&[vec![5, 6, 3], vec![3]]);
/// assert_eq!((padded.rows(), padded.width), (2, 3));
/// assert_eq!(padded.ids, [5, 6, 3, 3, 0, 0]);
/// assert_eq!(padded.lengths, [3, 1]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Padded {
    /// `[rows, width]`.
    pub ids: Vec<u32>,
    /// Length of each row before padding, `[rows]`.
    pub lengths: Vec<usize>,
    /// The longest length.
    pub width: usize,
}

impl Padded {
    /// Pads rows as they are.
    #[must_use]
    pub fn from_rows(rows: &[Vec<u32>]) -> Self {
        Self::build(rows.iter().map(Vec::as_slice), &[])
    }

    /// Pads sentences, each with [`EOS`] after it.
    #[must_use]
    pub fn from_sentences<'a>(sentences: impl Iterator<Item = &'a [u32]> + Clone) -> Self {
        Self::build(sentences, &[EOS])
    }

    fn build<'a>(rows: impl Iterator<Item = &'a [u32]> + Clone, end: &[u32]) -> Self {
        let lengths: Vec<usize> = rows.clone().map(|row| row.len() + end.len()).collect();
        let width = lengths.iter().copied().max().unwrap_or(0);
        let mut ids = Vec::with_capacity(lengths.len() * width);
        for (place, row) in rows.enumerate() {
            ids.extend_from_slice(row);
            ids.extend_from_slice(end);
            ids.resize((place + 1) * width, PAD);
        }
        Self { ids, lengths, width }
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.lengths.len()
    }

    /// The row's ids without padding; empty for a row that is not there.
    #[must_use]
    pub fn row(&self, row: usize) -> &[u32] {
        let start = row * self.width;
        self.lengths.get(row).and_then(|length| self.ids.get(start..start + length)).unwrap_or_default()
    }

    /// Number of ids that are not padding.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.lengths.iter().sum()
    }
}

/// Pairs side by side: source rows `x1 … xn EOS`, target rows `y1 … ym EOS`. The model makes its own decoder input by
/// shifting the target and putting BOS first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// `[rows, src_len]`.
    pub source: Padded,
    /// `[rows, tgt_len]`.
    pub target: Padded,
    /// Which pair of the corpus each row is.
    pub indices: Vec<usize>,
}

impl Batch {
    /// Reads the pairs with these indices.
    ///
    /// # Errors
    /// Where a pair cannot be read.
    ///
    /// # Panics
    /// If an index is not in `pairs`; those of a [`Sampler`](crate::Sampler) over the same pairs are.
    pub fn read(pairs: &(impl PairSource + ?Sized), indices: &[u32]) -> Result<Self, TextError> {
        Self::read_with(pairs, indices, |_, pair| pair)
    }

    /// [`read`](Self::read), with something done to every pair, which comes with its index.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// As there.
    pub fn read_with(
        pairs: &(impl PairSource + ?Sized),
        indices: &[u32],
        change: impl Fn(u32, Pair) -> Pair,
    ) -> Result<Self, TextError> {
        let changed = |&index: &u32| Ok(change(index, pairs.get(index as usize)?));
        let chosen = indices.iter().map(changed).collect::<Result<Vec<_>, TextError>>()?;
        let places = (0..chosen.len()).collect::<Vec<_>>();
        let indices = indices.iter().map(|&index| index as usize).collect();
        Ok(Self { indices, ..Self::collate(&chosen, &places) })
    }

    /// Collects the pairs with these indices.
    ///
    /// # Panics
    /// If an index is not in `pairs`; those of a [`Sampler`](crate::Sampler) over the same corpus are.
    #[must_use]
    pub fn collate(pairs: &[Pair], indices: &[usize]) -> Self {
        let chosen = indices.iter().map(|&index| &pairs[index]);
        Self {
            source: Padded::from_sentences(chosen.clone().map(|pair| pair.source.as_slice())),
            target: Padded::from_sentences(chosen.map(|pair| pair.target.as_slice())),
            indices: indices.to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_and_rows_come_back() {
        let pairs = [
            Pair { source: vec![7, 8, 9], target: vec![4] },
            Pair { source: vec![5], target: vec![6, 6] },
            Pair { source: vec![], target: vec![11] },
        ];
        let batch = Batch::collate(&pairs, &[2, 0]);
        assert_eq!(batch.source.ids, [EOS, PAD, PAD, PAD, 7, 8, 9, EOS]);
        assert_eq!(batch.target.ids, [11, EOS, 4, EOS]);
        assert_eq!(batch.source.lengths, [1, 4]);
        assert_eq!(batch.source.row(1), [7, 8, 9, EOS]);
        assert!(batch.source.row(2).is_empty());
        assert_eq!((batch.source.tokens(), batch.target.tokens()), (5, 4));
        assert_eq!(batch.indices, [2, 0]);
        assert_eq!(pairs[1].lengths(), (2, 3));
    }

    #[test]
    fn nothing_is_a_batch_too() {
        assert_eq!(Padded::from_rows(&[]), Padded::default());
        let empty = Padded::from_rows(&[vec![], vec![]]);
        assert_eq!((empty.rows(), empty.width, empty.row(1)), (2, 0, [].as_slice()));
    }
}
