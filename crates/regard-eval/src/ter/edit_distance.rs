//! Edit distance near the diagonal, with the alignment that it implies.

use std::cmp::Ordering;

/// Cells on each side of the diagonal that are looked at.
const BEAM_WIDTH: usize = 25;
/// The cost of a cell that no path reaches.
const UNREACHED: u32 = u32::MAX / 2;

/// Edit distances between one reference and the arrangements of a hypothesis, all of the same length.
///
/// Row i belongs to the first i words of the hypothesis, column j to the first j words of the reference. Of each row only the
/// columns near the diagonal are kept.
pub(super) struct BeamDistance<'a> {
    reference: &'a [u32],
    /// The columns of each row: first, and one behind the last.
    columns: Vec<(usize, usize)>,
    /// Where each row begins in the two lists of costs.
    offsets: Vec<usize>,
    /// The costs of the arrangement that was aligned last.
    aligned: Vec<u32>,
    /// The costs of the arrangement that was measured last, from its first row that differs.
    measured: Vec<u32>,
}

impl<'a> BeamDistance<'a> {
    /// For hypotheses of `length` words.
    pub(super) fn new(reference: &'a [u32], length: usize) -> Self {
        let columns = beam(reference.len(), length);
        let mut end = 0;
        let mut offsets = Vec::with_capacity(columns.len());
        for (from, to) in &columns {
            offsets.push(end);
            end += to - from;
        }
        let mut aligned = vec![UNREACHED; end];
        for (j, cost) in aligned.iter_mut().take(reference.len() + 1).enumerate() {
            *cost = j as u32;
        }
        let measured = aligned.clone();
        Self { reference, columns, offsets, aligned, measured }
    }

    /// The distance of an arrangement, which later ones are measured against.
    pub(super) fn align(&mut self, hypothesis: &[u32]) -> u32 {
        let mut costs = std::mem::take(&mut self.aligned);
        for (i, &word) in (1..).zip(hypothesis) {
            let (done, rest) = costs.split_at_mut(self.offsets[i]);
            self.fill_row(i, word, &done[self.offsets[i - 1]..], rest);
        }
        self.aligned = costs;
        self.aligned.last().copied().unwrap_or(0)
    }

    /// The distance of an arrangement whose first `same` words are those of the aligned one.
    pub(super) fn measure(&mut self, hypothesis: &[u32], same: usize) -> u32 {
        let mut costs = std::mem::take(&mut self.measured);
        for (i, &word) in (1..).zip(hypothesis).skip(same) {
            let (done, rest) = costs.split_at_mut(self.offsets[i]);
            let above = if i == same + 1 { &self.aligned[..self.offsets[i]] } else { done };
            self.fill_row(i, word, &above[self.offsets[i - 1]..], rest);
        }
        self.measured = costs;
        if same < hypothesis.len() { &self.measured } else { &self.aligned }.last().copied().unwrap_or(0)
    }

    /// Computes row `i`, whose word is `word`, from the row above.
    fn fill_row(&self, i: usize, word: u32, above: &[u32], row: &mut [u32]) {
        let (above_from, _) = self.columns[i - 1];
        let (from, to) = self.columns[i];
        let cost_above = |j: usize| {
            let place = j.checked_sub(above_from);
            place.and_then(|place| above.get(place)).copied().unwrap_or(UNREACHED)
        };
        let mut diagonal = from.checked_sub(1).map_or(UNREACHED, cost_above);
        let mut left = UNREACHED;
        for (cost, j) in row.iter_mut().zip(from..to) {
            let up = cost_above(j);
            // Column 0 has no reference word, and no cell to its left.
            let substitution = match j.checked_sub(1) {
                Some(before) => diagonal + u32::from(self.reference[before] != word),
                None => UNREACHED,
            };
            left = substitution.min(up + 1).min(left + 1).min(UNREACHED);
            (*cost, diagonal) = (left, up);
        }
    }

    fn cost(&self, i: usize, j: usize) -> u32 {
        let (from, to) = self.columns[i];
        if (from..to).contains(&j) { self.aligned[self.offsets[i] + j - from] } else { UNREACHED }
    }

    /// The alignment of the arrangement `hypothesis`, which must be the one that was aligned last.
    ///
    /// Where several edits cost the same, keeping or replacing a word goes before deleting one, and that before inserting one.
    pub(super) fn alignment(&self, hypothesis: &[u32]) -> Alignment {
        let (mut i, mut j) = (hypothesis.len(), self.reference.len());
        let mut alignment = Alignment::new(i, j);
        while i > 0 || j > 0 {
            let replaced = i > 0 && j > 0 && {
                let differs = self.reference[j - 1] != hypothesis[i - 1];
                self.cost(i - 1, j - 1) + u32::from(differs) == self.cost(i, j)
            };
            if replaced {
                let differs = self.reference[j - 1] != hypothesis[i - 1];
                alignment.hypothesis_errors[i] = u32::from(differs);
                alignment.reference_errors[j] = u32::from(differs);
                alignment.ends[j - 1] = i;
                (i, j) = (i - 1, j - 1);
            } else if j == 0 || i > 0 && self.cost(i - 1, j) + 1 == self.cost(i, j) {
                alignment.hypothesis_errors[i] = 1;
                i -= 1;
            } else {
                alignment.reference_errors[j] = 1;
                alignment.ends[j - 1] = i;
                j -= 1;
            }
        }
        alignment.add_up();
        alignment
    }
}

/// The columns of each row. The diagonal of two sides of different length climbs by their ratio; where it climbs steeply,
/// the beam is widened, so that neighbouring rows still overlap.
fn beam(reference: usize, hypothesis: usize) -> Vec<(usize, usize)> {
    let ratio = if hypothesis == 0 { 1.0 } else { reference as f64 / hypothesis as f64 };
    let width = match (BEAM_WIDTH as f64).partial_cmp(&(ratio / 2.0)) {
        Some(Ordering::Less) => (ratio / 2.0 + BEAM_WIDTH as f64).ceil() as usize,
        _ => BEAM_WIDTH,
    };
    let row = |i: usize| {
        let diagonal = (i as f64 * ratio).floor() as usize;
        let from = diagonal.saturating_sub(width);
        let to =
            if i == 0 || i == hypothesis { reference + 1 } else { (diagonal + width).min(reference + 1) };
        (if i == 0 { 0 } else { from }, to)
    };
    (0..=hypothesis).map(row).collect()
}

/// Which words were edited, and where the words of the reference ended up.
pub(super) struct Alignment {
    /// Errors among the first i words of the hypothesis.
    hypothesis_errors: Vec<u32>,
    /// Errors among the first j words of the reference.
    reference_errors: Vec<u32>,
    /// For each word of the reference, how many words of the hypothesis stand up to and including its place.
    pub(super) ends: Vec<usize>,
}

impl Alignment {
    fn new(hypothesis: usize, reference: usize) -> Self {
        Self {
            hypothesis_errors: vec![0; hypothesis + 1],
            reference_errors: vec![0; reference + 1],
            ends: vec![0; reference],
        }
    }

    fn add_up(&mut self) {
        for errors in [&mut self.hypothesis_errors, &mut self.reference_errors] {
            let mut sum = 0;
            for error in errors {
                sum += *error;
                *error = sum;
            }
        }
    }

    /// Whether words `start` to `start + length` of the hypothesis are all as they should be.
    pub(super) fn hypothesis_is_right(&self, start: usize, length: usize) -> bool {
        self.hypothesis_errors[start] == self.hypothesis_errors[start + length]
    }

    /// Whether words `start` to `start + length` of the reference are all found.
    pub(super) fn reference_is_right(&self, start: usize, length: usize) -> bool {
        self.reference_errors[start] == self.reference_errors[start + length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_and_alignment() {
        let (reference, hypothesis) = ([1, 2, 3, 4, 5], [1, 3, 9, 5]);
        let mut distance = BeamDistance::new(&reference, 4);
        assert_eq!(distance.align(&hypothesis), 2);
        let alignment = distance.alignment(&hypothesis);
        assert_eq!(alignment.ends, [1, 1, 2, 3, 4]);
        assert!(alignment.hypothesis_is_right(0, 2) && !alignment.hypothesis_is_right(1, 2));
        assert!(alignment.reference_is_right(2, 1) && !alignment.reference_is_right(0, 2));
        assert_eq!(distance.measure(&[1, 3, 5, 9], 2), 3);
        assert_eq!(distance.measure(&hypothesis, 4), 2);
    }

    #[test]
    fn empty_and_lopsided() {
        assert_eq!(BeamDistance::new(&[1, 2, 3], 0).align(&[]), 3);
        let long: Vec<u32> = (0..500).collect();
        // Two words are kept, but they lie outside the beam.
        assert_eq!(BeamDistance::new(&long, 2).align(&[0, 499]), 500);
        assert_eq!(BeamDistance::new(&[7], 400).align(&long[..400]), 399);
    }
}
