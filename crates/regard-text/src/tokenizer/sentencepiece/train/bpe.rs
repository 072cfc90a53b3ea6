//! BPE training: the most frequent pair of neighbours becomes a piece, again and again.
//!
//! Among equally frequent pairs the shorter joint piece wins, then the smaller in code-point order. What two pairs would
//! both make is merged for the first of them only.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeSet, BinaryHeap, HashMap, HashSet};

use super::corpus::Corpus;
use super::validity::{is_valid, script};
use super::{Scored, SentencePieceProgress};

type Pair = (u32, u32);

/// Merges between two reports.
const REPORT: usize = 100;

/// A pair on the heap; its count may be out of date.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    count: i64,
    length: Reverse<usize>,
    piece: Reverse<String>,
    pair: Pair,
}

#[derive(Default)]
struct Learner {
    symbols: Vec<Vec<char>>,
    ids: HashMap<Vec<char>, u32>,
    /// Texts as symbols, with their counts.
    words: Vec<(Vec<u32>, i64)>,
    counts: HashMap<Pair, i64>,
    /// The words in which a pair has been; it may be gone from some.
    places: HashMap<Pair, Vec<usize>>,
    valid: HashMap<Pair, bool>,
    heap: BinaryHeap<Candidate>,
}

/// The learned pieces, then the characters: at most `goal`. Scores are minus the rank.
pub(super) fn learn(
    corpus: &Corpus,
    goal: usize,
    progress: &mut dyn FnMut(SentencePieceProgress),
) -> Vec<Scored> {
    let mut learner = Learner::default();
    for (text, count) in corpus.texts() {
        let symbols = text.chars().map(|character| learner.intern(vec![character])).collect();
        learner.words.push((symbols, i64::try_from(count).unwrap_or(i64::MAX)));
    }
    let mut changed = BTreeSet::new();
    for word in 0..learner.words.len() {
        let (symbols, count) = &learner.words[word];
        let count = *count;
        for pair in counted_pairs(symbols) {
            learner.change(pair, word, count, &mut changed);
        }
    }
    learner.offer(&changed);
    let mut pieces = Vec::new();
    let mut chosen: HashSet<String> = HashSet::new();
    while pieces.len() + corpus.characters.len() < goal {
        let Some(best) = learner.best() else { break };
        let piece = best.piece.0;
        if chosen.insert(piece.clone()) {
            learner.merge(best.pair);
            pieces.push(piece);
            if pieces.len() % REPORT == 0 {
                progress(SentencePieceProgress { pieces: pieces.len(), goal });
            }
        }
    }
    pieces.extend(corpus.characters.iter().map(|(character, _)| character.to_string()));
    pieces.into_iter().enumerate().map(|(rank, piece)| (piece, -(rank as f32))).collect()
}

// Ids of symbols and numbers of words are those of the learner's own lists.
impl Learner {
    fn intern(&mut self, symbol: Vec<char>) -> u32 {
        if let Some(&id) = self.ids.get(&symbol) {
            return id;
        }
        let id = self.symbols.len() as u32;
        self.symbols.push(symbol.clone());
        self.ids.insert(symbol, id);
        id
    }

    fn joint(&self, (left, right): Pair) -> Vec<char> {
        [self.symbols[left as usize].as_slice(), self.symbols[right as usize].as_slice()].concat()
    }

    fn is_valid(&mut self, pair: Pair) -> bool {
        if let Some(&valid) = self.valid.get(&pair) {
            return valid;
        }
        let joint = self.joint(pair);
        let valid = is_valid(&joint, &joint.iter().map(|&character| script(character)).collect::<Vec<_>>());
        self.valid.insert(pair, valid);
        valid
    }

    /// Counts a pair of a word, or takes it away where `by` is negative.
    fn change(&mut self, pair: Pair, word: usize, by: i64, changed: &mut BTreeSet<Pair>) {
        if self.is_valid(pair) {
            *self.counts.entry(pair).or_default() += by;
            changed.insert(pair);
            if by > 0 {
                self.places.entry(pair).or_default().push(word);
            }
        }
    }

    /// Puts pairs on the heap with their present counts.
    fn offer(&mut self, pairs: &BTreeSet<Pair>) {
        for &pair in pairs {
            let count = self.counts.get(&pair).copied().unwrap_or_default();
            if count > 0 {
                let joint = self.joint(pair);
                let (length, piece) = (Reverse(joint.len()), Reverse(joint.into_iter().collect()));
                self.heap.push(Candidate { count, length, piece, pair });
            }
        }
    }

    fn best(&mut self) -> Option<Candidate> {
        loop {
            let best = self.heap.pop()?;
            if self.counts.get(&best.pair) == Some(&best.count) {
                return Some(best);
            }
        }
    }

    /// Joins every occurrence of a pair that does not overlap an earlier one.
    fn merge(&mut self, pair: Pair) {
        let joint = self.joint(pair);
        let merged = self.intern(joint);
        let mut changed = BTreeSet::new();
        let mut words = self.places.remove(&pair).unwrap_or_default();
        words.sort_unstable();
        words.dedup();
        for word in words {
            let (symbols, count) = &mut self.words[word];
            let count = *count;
            let before = counted_pairs(symbols);
            *symbols = joined(symbols, pair, merged);
            let after = counted_pairs(symbols);
            for (pair, times) in differences(&before, &after) {
                self.change(pair, word, times * count, &mut changed);
            }
        }
        self.offer(&changed);
    }
}

/// Symbols in which every occurrence of a pair that does not overlap an earlier one is one symbol.
fn joined(symbols: &[u32], pair: Pair, merged: u32) -> Vec<u32> {
    let mut joined: Vec<u32> = Vec::with_capacity(symbols.len());
    let mut open = false;
    for &symbol in symbols {
        match joined.last_mut() {
            Some(last) if open && symbol == pair.1 => {
                *last = merged;
                open = false;
            }
            _ => {
                joined.push(symbol);
                open = symbol == pair.0;
            }
        }
    }
    joined
}

/// The pairs of neighbours, sorted; of overlapping equal ones the first counts.
fn counted_pairs(symbols: &[u32]) -> Vec<Pair> {
    let mut pairs = Vec::with_capacity(symbols.len());
    let mut before = None;
    for pair in symbols.iter().zip(symbols.iter().skip(1)).map(|(&left, &right)| (left, right)) {
        if before == Some(pair) {
            before = None;
        } else {
            before = Some(pair);
            pairs.push(pair);
        }
    }
    pairs.sort_unstable();
    pairs
}

/// What is in one sorted list only: 1 for the second, -1 for the first.
fn differences(before: &[Pair], after: &[Pair]) -> Vec<(Pair, i64)> {
    let mut differences = Vec::new();
    let (mut before, mut after) = (before.iter().peekable(), after.iter().peekable());
    loop {
        let order = match (before.peek(), after.peek()) {
            (None, None) => return differences,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(one), Some(other)) => one.cmp(other),
        };
        match order {
            Ordering::Less => differences.extend(before.next().map(|&pair| (pair, -1))),
            Ordering::Greater => differences.extend(after.next().map(|&pair| (pair, 1))),
            Ordering::Equal => _ = (before.next(), after.next()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::corpus::{BOUNDARY, Run};
    use super::*;

    #[test]
    fn counts_ties_and_overlaps() {
        let run = |text: &str, count| (Run { text: text.to_owned(), after: BOUNDARY }, count);
        let corpus = Corpus {
            runs: vec![run("▁aaaa", 2), run("▁abab", 3), run("▁cd", 3)],
            characters: vec![('a', 14), ('▁', 8)],
        };
        // ab: 6, aa: 4; of those with 3 first the shortest, `cd` before `▁c`, which is gone then.
        let pieces: Vec<Scored> = learn(&corpus, 8, &mut |_| {});
        let expected = ["ab", "aa", "cd", "▁ab", "▁cd", "▁abab", "a", "▁"];
        assert_eq!(pieces.iter().map(|(piece, _)| piece.as_str()).collect::<Vec<_>>(), expected);
        assert_eq!(
            pieces.iter().map(|&(_, score)| score).collect::<Vec<_>>(),
            [0., -1., -2., -3., -4., -5., -6., -7.]
        );
    }
}
