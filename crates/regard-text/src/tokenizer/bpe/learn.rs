//! Learning merges: the most frequent pair of neighbours becomes a symbol, again and again.
//!
//! The statistics are kept up to date merge by merge, as in subword-nmt, and so are its habits, since the merges must be
//! the same: rare pairs are set aside to keep the working set small, and where a symbol comes about in two ways, what
//! was set aside may be overwritten. Only the search for the maximum is different: a heap with lazy deletion instead of
//! a scan, over the same total order (count, then left, then right symbol).

use std::collections::{BinaryHeap, HashMap};
use std::rc::Rc;

use super::END_OF_WORD;

/// Merges between two reports.
const REPORT_EVERY: usize = 1000;

type Pair = (u32, u32);

/// A pair as the heap orders it. Its count may be out of date, but never too small.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    count: i64,
    left: Rc<str>,
    right: Rc<str>,
    pair: Pair,
}

#[derive(Default)]
struct Learner {
    symbols: Vec<Rc<str>>,
    ids: HashMap<Rc<str>, u32>,
    /// Distinct words as symbols, with their counts.
    words: Vec<(Vec<u32>, i64)>,
    /// Counts of the pairs in the working set.
    counts: HashMap<Pair, i64>,
    /// Counts of the pairs that were set aside (for others: a past value).
    aside: HashMap<Pair, i64>,
    /// In which words a pair occurs, and how often.
    places: HashMap<Pair, HashMap<usize, i64>>,
    heap: BinaryHeap<Candidate>,
    /// Pairs whose count grew in the current merge.
    grown: Vec<Pair>,
}

pub(super) fn learn(
    counts: impl IntoIterator<Item = (String, u64)>,
    merges: usize,
    min_frequency: u64,
    report: &mut dyn FnMut(usize),
) -> Vec<(String, String)> {
    let mut learner = Learner::default();
    // No sum of counts may be larger than this; what would make it so counts less.
    let mut room = i64::MAX;
    for (word, count) in counts {
        let length = i64::try_from(word.chars().count().max(1)).unwrap_or(i64::MAX);
        let count = i64::try_from(count).unwrap_or(i64::MAX).min(room / length);
        room -= count * length;
        learner.add_word(&word, count);
    }
    learner.aside = learner.counts.clone();
    learner.refill_heap();
    let min_frequency = i64::try_from(min_frequency).unwrap_or(i64::MAX).max(1);
    // subword-nmt calls the threshold Zipfian; it decides which pairs are set aside.
    let mut threshold = learner.counts.values().max().map_or(0.0, |&count| count as f64 / 10.0);
    let mut learned = Vec::new();
    for step in 0..merges {
        let mut best = learner.best();
        if best.is_none() || (step > 0 && best.as_ref().is_some_and(|b| (b.count as f64) < threshold)) {
            // The best pair may be among those set aside: begin again with all of them.
            learner.set_aside(threshold);
            learner.counts = learner.aside.clone();
            learner.refill_heap();
            best = learner.best();
            let count = best.as_ref().map_or(0, |b| b.count);
            threshold = count as f64 * step as f64 / (step as f64 + 10_000.0);
            learner.set_aside(threshold);
        }
        let Some(best) = best.filter(|best| best.count >= min_frequency) else { break };
        learned.push((best.left.to_string(), best.right.to_string()));
        learner.merge(&best);
        if step % 100 == 0 {
            learner.set_aside(threshold);
        }
        if learned.len() % REPORT_EVERY == 0 {
            report(learned.len());
        }
    }
    learned
}

impl Learner {
    fn intern(&mut self, symbol: &str) -> u32 {
        if let Some(&id) = self.ids.get(symbol) {
            return id;
        }
        let id = self.symbols.len() as u32;
        let symbol: Rc<str> = symbol.into();
        self.symbols.push(Rc::clone(&symbol));
        self.ids.insert(symbol, id);
        id
    }

    fn add_word(&mut self, word: &str, count: i64) {
        let Some((last, _)) = word.char_indices().next_back() else { return };
        let (inner, final_char) = word.split_at(last);
        let mut symbols: Vec<u32> = inner.chars().map(|c| self.intern(c.encode_utf8(&mut [0; 4]))).collect();
        symbols.push(self.intern(&format!("{final_char}{END_OF_WORD}")));
        let place = self.words.len();
        for pair in symbols.windows(2).map(as_pair) {
            *self.counts.entry(pair).or_default() += count;
            *self.places.entry(pair).or_default().entry(place).or_default() += 1;
        }
        self.words.push((symbols, count));
    }

    fn candidate(&self, pair: Pair, count: i64) -> Candidate {
        let text = |id: u32| Rc::clone(&self.symbols[id as usize]);
        Candidate { count, left: text(pair.0), right: text(pair.1), pair }
    }

    fn refill_heap(&mut self) {
        let positive = self.counts.iter().filter(|&(_, &count)| count > 0);
        self.heap = positive.map(|(&pair, &count)| self.candidate(pair, count)).collect();
    }

    /// The pair with the greatest positive count in the working set.
    fn best(&mut self) -> Option<Candidate> {
        loop {
            let top = self.heap.peek()?;
            let count = self.counts.get(&top.pair).copied().unwrap_or(0);
            if count == top.count {
                return Some(top.clone());
            }
            let stale = self.heap.pop()?;
            if 0 < count && count < stale.count {
                self.heap.push(Candidate { count, ..stale });
            }
        }
    }

    /// Moves every pair rarer than the threshold out of the working set.
    fn set_aside(&mut self, threshold: f64) {
        let aside = &mut self.aside;
        self.counts.retain(|&pair, &mut count| {
            let keep = count as f64 >= threshold;
            if !keep && count < 0 {
                // The pair was set aside before and has lost occurrences since.
                *aside.entry(pair).or_default() += count;
            } else if !keep {
                aside.insert(pair, count);
            }
            keep
        });
    }

    /// Joins the pair in every word that has it, and corrects the counts of the neighbours.
    fn merge(&mut self, best: &Candidate) {
        let joined = self.intern(&format!("{}{}", best.left, best.right));
        let places = self.places.remove(&best.pair).unwrap_or_default();
        for (place, _) in places.into_iter().filter(|&(_, occurrences)| occurrences > 0) {
            let (old, count) = std::mem::take(&mut self.words[place]);
            let new = replace(&old, best.pair, joined);
            for pair in lost_pairs(&old, best.pair) {
                self.change(pair, place, -1, count);
            }
            for pair in gained_pairs(&new, joined) {
                self.change(pair, place, 1, count);
            }
            self.words[place] = (new, count);
        }
        self.counts.insert(best.pair, 0);
        let mut grown = std::mem::take(&mut self.grown);
        grown.sort_unstable();
        grown.dedup();
        for pair in grown {
            let count = self.counts.get(&pair).copied().unwrap_or(0);
            self.heap.push(self.candidate(pair, count));
        }
    }

    fn change(&mut self, pair: Pair, place: usize, occurrences: i64, word_count: i64) {
        *self.counts.entry(pair).or_default() += occurrences * word_count;
        *self.places.entry(pair).or_default().entry(place).or_default() += occurrences;
        if occurrences > 0 {
            self.grown.push(pair);
        }
    }
}

fn as_pair(window: &[u32]) -> Pair {
    (window[0], window[1])
}

fn replace(word: &[u32], (left, right): Pair, joined: u32) -> Vec<u32> {
    let mut new = Vec::with_capacity(word.len());
    let mut i = 0;
    while i < word.len() {
        let here = word[i] == left && word.get(i + 1) == Some(&right);
        new.push(if here { joined } else { word[i] });
        i += if here { 2 } else { 1 };
    }
    new
}

/// The neighbours that merging takes away: in `A B C`, merging `B C` loses `A B`, and in `B C D` it loses `C D`.
fn lost_pairs(word: &[u32], (left, right): Pair) -> Vec<Pair> {
    let mut lost = Vec::new();
    let mut i = 0;
    while i + 1 < word.len() {
        if (word[i], word[i + 1]) != (left, right) {
            i += 1;
            continue;
        }
        if i > 0 {
            lost.push((word[i - 1], left));
        }
        // In `B C B C` the next occurrence counts the `C B` between the two.
        let next_occurrence = word.get(i + 2) == Some(&left) && word.get(i + 3) == Some(&right);
        if let Some(&after) = word.get(i + 2)
            && !next_occurrence
        {
            lost.push((right, after));
        }
        i += 2;
    }
    lost
}

/// The neighbours of the joined symbol; two joined symbols in a row are counted once.
fn gained_pairs(word: &[u32], joined: u32) -> Vec<Pair> {
    let around = |pair: &Pair| pair.0 == joined || pair.1 == joined;
    word.windows(2).map(as_pair).filter(around).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learn_text(text: &str, merges: usize, min_frequency: u64) -> Vec<String> {
        let mut counts = std::collections::BTreeMap::new();
        for word in text.split(' ') {
            *counts.entry(word.to_owned()).or_insert(0) += 1;
        }
        learn(counts, merges, min_frequency, &mut |_| {})
            .into_iter()
            .map(|(a, b)| format!("{a} {b}"))
            .collect()
    }

    #[test]
    fn ties_go_to_the_greatest_pair() {
        assert_eq!(learn_text("ab cd ab cd", 9, 2), ["c d</w>", "a b</w>"]);
        assert_eq!(learn_text("ab cd ab cd", 1, 2), ["c d</w>"]);
        assert_eq!(learn_text("ab cd ab", 9, 2), ["a b</w>"]);
    }

    #[test]
    fn nothing_to_learn() {
        assert!(learn_text("a b c", 5, 1).is_empty());
        assert!(learn(Vec::new(), 5, 0, &mut |_| {}).is_empty());
        assert!(learn([(String::new(), 9)], 5, 0, &mut |_| {}).is_empty());
    }

    #[test]
    fn neighbours_of_a_merge() {
        // B C B C A, merging B C (2 3) into 9.
        let word = [2, 3, 2, 3, 1];
        assert_eq!(lost_pairs(&word, (2, 3)), [(3, 2), (3, 1)]);
        let new = replace(&word, (2, 3), 9);
        assert_eq!(new, [9, 9, 1]);
        assert_eq!(gained_pairs(&new, 9), [(9, 9), (9, 1)]);
    }
}
