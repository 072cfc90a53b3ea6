//! IBM model 1: lexical translation probabilities from pairs without links (Brown, Della Pietra, Della Pietra and Mercer,
//! "The Mathematics of Statistical Machine Translation", 1993, section 4).
//!
//! Each target word is owed to one word of the source sentence or to the empty word, all equally likely before it is
//! known which word it is. A round of EM sets t(f|e) to the share of f in what is owed to e, where a word f in a pair is
//! owed to e by t(f|e) / Σ t(f|e′) over the source words e′ of the pair and the empty one.

use crate::batch::Pair;

/// Rounds of EM: from the fifth on the most probable translations hardly change their places.
const ROUNDS: usize = 5;

/// t(target | source) of each source id, for the target ids that stand beside it, ascending.
///
/// # Panics
/// Where an id is outside of its vocabulary.
pub(super) fn learn(pairs: &[Pair], source_size: usize, target_size: usize) -> Vec<Vec<(u32, f64)>> {
    let mut learner = Learner::new(pairs, source_size, target_size);
    for _ in 0..ROUNDS {
        learner.round();
    }
    // The last row is that of the empty word.
    learner.rows.truncate(source_size);
    learner.rows
}

struct Learner<'a> {
    pairs: &'a [Pair],
    /// The pairs that each source id stands in, as often as it stands there; at last those of the empty word: all.
    places: Vec<Vec<u32>>,
    /// Where the target words of each pair begin among those of all pairs.
    starts: Vec<usize>,
    rows: Vec<Vec<(u32, f64)>>,
    /// Of each target word of all pairs, Σ t(f|e′).
    sums: Vec<f64>,
    /// Room for one row: t of each target id that stands beside a source id; what is there of others is not read. Before
    /// the first round all translations are equally probable.
    row: Vec<f64>,
    /// Room for one row: how much of each target id is owed to a source id.
    owed: Vec<f64>,
}

impl<'a> Learner<'a> {
    fn new(pairs: &'a [Pair], source_size: usize, target_size: usize) -> Self {
        let mut places = vec![Vec::new(); source_size];
        let (mut starts, mut words) = (Vec::with_capacity(pairs.len()), 0);
        for (number, pair) in (0_u32..).zip(pairs) {
            pair.source.iter().for_each(|&id| places[id as usize].push(number));
            starts.push(words);
            words += pair.target.len();
        }
        places.push((0_u32..).zip(pairs).map(|(number, _)| number).collect());
        let rows = vec![Vec::new(); places.len()];
        let (sums, row, owed) = (vec![0.0; words], vec![1.0; target_size], vec![0.0; target_size]);
        Self { pairs, places, starts, rows, sums, row, owed }
    }

    /// A round of EM, source id by source id, so that the row that is needed is always the one in `row`.
    fn round(&mut self) {
        self.sums.fill(0.0);
        for source in 0..self.places.len() {
            self.spread(source);
            for &pair in &self.places[source] {
                let (target, start) = (&self.pairs[pair as usize].target, self.starts[pair as usize]);
                for (sum, &id) in self.sums[start..].iter_mut().zip(target) {
                    *sum += self.row[id as usize];
                }
            }
        }
        for source in 0..self.places.len() {
            self.spread(source);
            let mut seen = Vec::new();
            for &pair in &self.places[source] {
                let (target, start) = (&self.pairs[pair as usize].target, self.starts[pair as usize]);
                for (sum, &id) in self.sums[start..].iter().zip(target) {
                    let owed = &mut self.owed[id as usize];
                    if *owed == 0.0 {
                        seen.push(id);
                    }
                    *owed += self.row[id as usize] / sum;
                }
            }
            self.collect(source, seen);
        }
    }

    /// Lays a row out over the target ids.
    fn spread(&mut self, source: usize) {
        for &(id, probability) in &self.rows[source] {
            self.row[id as usize] = probability;
        }
    }

    /// Makes a row of what is owed to a source id, and clears that away.
    fn collect(&mut self, source: usize, mut seen: Vec<u32>) {
        seen.sort_unstable();
        seen.dedup();
        let owed: f64 = seen.iter().map(|&id| self.owed[id as usize]).sum();
        let share = |id: u32| (id, std::mem::take(&mut self.owed[id as usize]) / owed);
        self.rows[source] = seen.into_iter().map(share).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The textbook's corpus: `das Haus` – the house, `das Buch` – the book, `ein Buch` – a book (Koehn, "Statistical
    /// Machine Translation", 2010, figure 4.4), with the empty word, by a table over all words.
    #[test]
    fn rounds_are_those_of_the_formula() {
        let pairs = [([0, 1], [0, 1]), ([0, 2], [0, 2]), ([3, 2], [3, 2])];
        let corpus = pairs.map(|(source, target)| Pair { source: source.into(), target: target.into() });
        let mut t = [[0.25_f64; 4]; 5];
        for _ in 0..ROUNDS {
            let mut counts = [[0.0; 4]; 5];
            for (source, target) in &pairs {
                let words = [source[0] as usize, source[1] as usize, 4];
                for &f in target {
                    let sum: f64 = words.iter().map(|&e| t[e][f as usize]).sum();
                    for e in words {
                        counts[e][f as usize] += t[e][f as usize] / sum;
                    }
                }
            }
            for (t, counts) in t.iter_mut().zip(counts) {
                let all: f64 = counts.iter().sum();
                *t = counts.map(|count| count / all);
            }
        }
        let found = learn(&corpus, 4, 4);
        for (source, row) in found.iter().enumerate() {
            let expected: Vec<_> = (0..4).filter(|&id| t[source][id] > 0.0).collect();
            assert_eq!(row.iter().map(|&(id, _)| id as usize).collect::<Vec<_>>(), expected);
            assert!(row.iter().all(|&(id, p)| (p - t[source][id as usize]).abs() < 1e-12), "{row:?} {t:?}");
            let best = row.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|&(id, _)| id as usize);
            assert_eq!(best, Some(source), "each word is its own translation");
        }
    }

    /// By hand, one pair `e – f g` twice over: after any round t(f|e) = t(g|e) = 1/2. A word that is never seen has no row.
    #[test]
    fn small_cases_by_hand() {
        let pair = Pair { source: vec![1], target: vec![0, 2] };
        assert_eq!(learn(&[pair.clone(), pair], 2, 3), [vec![], vec![(0, 0.5), (2, 0.5)]]);
        assert_eq!(learn(&[], 1, 1), [vec![]]);
        let blank = Pair { source: vec![0], target: vec![] };
        assert_eq!(learn(&[blank], 1, 1), [vec![]]);
    }
}
