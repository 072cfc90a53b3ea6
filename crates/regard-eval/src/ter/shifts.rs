//! The search for shifts that bring a hypothesis nearer to its reference (Snover et al. 2006, section 3, with the limits
//! and the order of tercom).

use super::edit_distance::{Alignment, BeamDistance};
use std::cmp::Reverse;

/// The longest block that is moved, in words.
const MAX_SHIFT_SIZE: usize = 10;
/// The farthest that a block may be from its place in the reference.
const MAX_SHIFT_DISTANCE: usize = 50;
/// After so many candidates the search ends.
const MAX_CANDIDATES: usize = 1000;

/// The number of edits, shifts among them, that turn `hypothesis` into `reference`.
pub(super) fn edits(hypothesis: &[u32], reference: &[u32]) -> usize {
    if reference.is_empty() {
        return hypothesis.len();
    }
    let mut search = Search {
        reference,
        distance: BeamDistance::new(reference, hypothesis.len()),
        candidates: 0,
        shifted: Vec::with_capacity(hypothesis.len()),
    };
    let mut words = hypothesis.to_vec();
    let mut shifts = 0;
    let mut distance = search.distance.align(&words);
    while let Some(shift) = search.best_shift(&words, distance) {
        if search.candidates >= MAX_CANDIDATES || shift.distance >= distance {
            break;
        }
        shift.apply(&words, &mut search.shifted);
        words.clone_from(&search.shifted);
        shifts += 1;
        distance = search.distance.align(&words);
    }
    shifts + distance as usize
}

/// A block of words and the place that it goes to.
#[derive(Clone, Copy)]
struct Shift {
    start: usize,
    length: usize,
    target: usize,
    /// The edit distance afterwards.
    distance: u32,
}

impl Shift {
    /// What the best shift is greatest in: the distance it saves, then its length, then how early it starts and lands.
    fn rank(&self) -> (Reverse<u32>, usize, Reverse<usize>, Reverse<usize>) {
        (Reverse(self.distance), self.length, Reverse(self.start), Reverse(self.target))
    }

    /// Writes the words in their new order.
    fn apply(&self, words: &[u32], shifted: &mut Vec<u32>) {
        let (start, end) = (self.start, self.start + self.length);
        let parts = if self.target < start {
            [0..self.target, start..end, self.target..start, end..words.len()]
        } else {
            // A target inside the block stands for one as many words behind its end.
            let to = if self.target > end { self.target } else { self.target + self.length };
            let to = to.min(words.len());
            [0..start, end..to, start..end, to..words.len()]
        };
        shifted.clear();
        for part in parts {
            shifted.extend_from_slice(&words[part]);
        }
    }
}

struct Search<'a> {
    reference: &'a [u32],
    distance: BeamDistance<'a>,
    /// Candidates measured so far, over all rounds.
    candidates: usize,
    /// The words of the candidate that is measured.
    shifted: Vec<u32>,
}

impl Search<'_> {
    /// The best shift of `words`, which were aligned last.
    fn best_shift(&mut self, words: &[u32], distance: u32) -> Option<Shift> {
        if distance == 0 {
            return None;
        }
        let alignment = self.distance.alignment(words);
        let mut best: Option<Shift> = None;
        for start in 0..words.len() {
            let near = start.saturating_sub(MAX_SHIFT_DISTANCE)
                ..self.reference.len().min(start + MAX_SHIFT_DISTANCE + 1);
            for place in near {
                let pairs = words[start..].iter().zip(&self.reference[place..]).take(MAX_SHIFT_SIZE);
                let longest = pairs.take_while(|(word, reference)| word == reference).count();
                for length in 1..=longest {
                    if is_sensible(&alignment, start, place, length) {
                        self.try_targets(words, &alignment, (start, place, length), &mut best);
                    }
                    if self.candidates >= MAX_CANDIDATES {
                        return best;
                    }
                }
            }
        }
        best
    }

    /// Measures the shifts of one block to the places around the words that it equals.
    fn try_targets(
        &mut self,
        words: &[u32],
        alignment: &Alignment,
        (start, place, length): (usize, usize, usize),
        best: &mut Option<Shift>,
    ) {
        let before = place.checked_sub(1).map_or(0, |before| alignment.ends[before]);
        let mut previous = None;
        for target in std::iter::once(before).chain(alignment.ends[place..].iter().copied().take(length)) {
            if previous == Some(target) {
                continue;
            }
            previous = Some(target);
            let mut shift = Shift { start, length, target, distance: 0 };
            shift.apply(words, &mut self.shifted);
            shift.distance = self.distance.measure(&self.shifted, start.min(target));
            self.candidates += 1;
            if best.is_none_or(|best| shift.rank() > best.rank()) {
                *best = Some(shift);
            }
        }
    }
}

/// Only a block with an error is moved, only to a place with an error, and not into itself.
fn is_sensible(alignment: &Alignment, start: usize, place: usize, length: usize) -> bool {
    let aligned = alignment.ends[place];
    !(alignment.hypothesis_is_right(start, length)
        || alignment.reference_is_right(place, length)
        || (start < aligned && aligned <= start + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shift_is_one_edit() {
        assert_eq!(edits(&[1, 2, 3, 4], &[1, 2, 3, 4]), 0);
        assert_eq!(edits(&[4, 5, 6, 1, 2, 3], &[1, 2, 3, 4, 5, 6]), 1);
        assert_eq!(edits(&[1, 2, 3], &[]), 3);
        assert_eq!(edits(&[], &[1, 2]), 2);
        assert_eq!(edits(&[9, 4, 1, 2, 3], &[1, 2, 3, 4]), 2);
    }

    #[test]
    fn blocks_move() {
        let moved = |start, length, target| {
            let mut shifted = Vec::new();
            Shift { start, length, target, distance: 0 }.apply(&[0, 1, 2, 3, 4, 5], &mut shifted);
            shifted
        };
        assert_eq!(moved(3, 2, 1), [0, 3, 4, 1, 2, 5]);
        assert_eq!(moved(1, 2, 5), [0, 3, 4, 1, 2, 5]);
        assert_eq!(moved(1, 2, 2), [0, 3, 1, 2, 4, 5]);
        assert_eq!(moved(3, 3, 6), [0, 1, 2, 3, 4, 5]);
    }
}
