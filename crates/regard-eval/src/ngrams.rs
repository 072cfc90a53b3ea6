//! Clipped n-gram matches, the counts under BLEU and chrF.

/// For each n from 1 to `order`, how many n-grams of `hypothesis` a reference has too. An n-gram counts at most as
/// often as in the reference that has it most often (Papineni et al. 2002, "modified precision").
///
/// The pieces of up to `order` symbols that begin at each position of every side are sorted together. Equal n-grams
/// of every order then are neighbours, so one pass over the list, with the length of the prefix that neighbours
/// share, closes and counts the groups of all orders.
pub(crate) fn clipped_matches<T: Ord + Copy>(
    hypothesis: &[T],
    references: &[&[T]],
    order: usize,
) -> Vec<usize> {
    if order == 0 {
        return Vec::new();
    }
    let mut pieces = Pieces::new(hypothesis, references, order);
    let sorted = pieces.take_sorted();
    let mut groups = Groups::new(references.len() + 1, order);
    let mut previous: Option<&Piece> = None;
    for piece in &sorted {
        let shared = previous.map_or(0, |previous| pieces.shared(previous, piece));
        groups.close_longer_than(shared);
        groups.count(piece.side, pieces.symbols(piece).len());
        previous = Some(piece);
    }
    groups.close_longer_than(0);
    groups.matches
}

/// The first symbols of a piece as one number, and where the piece is.
struct Piece {
    key: u64,
    side: usize,
    start: usize,
}

/// All pieces of all sides, with symbols numbered from 1 in their order; 0 stands for what is behind the end.
struct Pieces {
    order: usize,
    numbers: Vec<Vec<u32>>,
    bits: usize,
    /// How many symbols of a piece its key holds.
    keyed: usize,
    unsorted: Vec<Piece>,
}

impl Pieces {
    fn new<T: Ord + Copy>(hypothesis: &[T], references: &[&[T]], order: usize) -> Self {
        let sides = || std::iter::once(hypothesis).chain(references.iter().copied());
        let mut alphabet: Vec<T> = sides().flatten().copied().collect();
        alphabet.sort_unstable();
        alphabet.dedup();
        // A symbol is in its alphabet, so the search always finds it.
        let number = |symbol: &T| alphabet.binary_search(symbol).unwrap_or_else(|place| place) as u32 + 1;
        let numbers = sides().map(|symbols| symbols.iter().map(number).collect()).collect();
        let bits = (alphabet.len() + 1).ilog2() as usize + 1;
        let mut pieces = Self { order, numbers, bits, keyed: order.min(64 / bits), unsorted: Vec::new() };
        pieces.unsorted = (0..pieces.numbers.len()).flat_map(|side| pieces.keys(side)).collect();
        pieces
    }

    /// The pieces of one side. Going backwards, each key is the next one, shifted, behind one more symbol.
    fn keys(&self, side: usize) -> Vec<Piece> {
        let mut key = 0;
        let top = self.bits * (self.keyed - 1);
        let keyed = self.numbers[side].iter().enumerate().rev().map(|(start, &number)| {
            key = key >> self.bits | u64::from(number) << top;
            Piece { key, side, start }
        });
        keyed.collect()
    }

    fn symbols(&self, piece: &Piece) -> &[u32] {
        let side = &self.numbers[piece.side];
        &side[piece.start..side.len().min(piece.start + self.order)]
    }

    /// The symbols that the key does not hold.
    fn rest(&self, piece: &Piece) -> &[u32] {
        self.symbols(piece).get(self.keyed..).unwrap_or_default()
    }

    fn take_sorted(&mut self) -> Vec<Piece> {
        let mut sorted = std::mem::take(&mut self.unsorted);
        if self.keyed < self.order {
            sorted.sort_unstable_by(|a, b| a.key.cmp(&b.key).then_with(|| self.rest(a).cmp(self.rest(b))));
        } else {
            sorted.sort_unstable_by_key(|piece| piece.key);
        }
        sorted
    }

    /// The length of the longest n-gram that two pieces both begin with.
    fn shared(&self, a: &Piece, b: &Piece) -> usize {
        let different = a.key ^ b.key;
        if different == 0 {
            let (a, b) = (self.symbols(a), self.symbols(b));
            a.iter().zip(b).take_while(|(a, b)| a == b).count()
        } else {
            let unused = 64 - self.bits * self.keyed;
            (different.leading_zeros() as usize - unused) / self.bits
        }
    }
}

/// One open group of equal n-grams for each n, with how often each side has it.
struct Groups {
    sides: usize,
    /// `[n − 1][side]`.
    counts: Vec<usize>,
    matches: Vec<usize>,
    /// The longest n-gram with an open group.
    longest: usize,
}

impl Groups {
    fn new(sides: usize, order: usize) -> Self {
        Self { sides, counts: vec![0; sides * order], matches: vec![0; order], longest: 0 }
    }

    fn count(&mut self, side: usize, length: usize) {
        for counts in self.counts.chunks_exact_mut(self.sides).take(length) {
            counts[side] += 1;
        }
        self.longest = length;
    }

    /// Closes the open groups of n-grams above `n`, which is never above the longest.
    fn close_longer_than(&mut self, n: usize) {
        let open = self.counts[n * self.sides..self.longest * self.sides].chunks_exact_mut(self.sides);
        for (counts, matches) in open.zip(&mut self.matches[n..]) {
            let found = std::mem::take(&mut counts[0]);
            let most = counts[1..].iter_mut().map(std::mem::take).max().unwrap_or(0);
            *matches += found.min(most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn counted(symbols: &[u8], n: usize) -> HashMap<&[u8], usize> {
        let mut counts = HashMap::new();
        for ngram in symbols.windows(n) {
            *counts.entry(ngram).or_insert(0) += 1;
        }
        counts
    }

    proptest! {
        #[test]
        fn equals_counting_each_ngram(
            hypothesis in proptest::collection::vec(0_u8..3, 0..20),
            references in proptest::collection::vec(proptest::collection::vec(0_u8..3, 0..20), 0..4),
        ) {
            let references: Vec<&[u8]> = references.iter().map(Vec::as_slice).collect();
            let found = clipped_matches(&hypothesis, &references, 5);
            for n in 1..=5 {
                let expected: usize = counted(&hypothesis, n).iter().map(|(ngram, &count)| {
                    let most = references.iter().filter_map(|r| counted(r, n).get(ngram).copied()).max();
                    count.min(most.unwrap_or(0))
                }).sum();
                prop_assert_eq!(found[n - 1], expected);
            }
        }
    }
}
