//! All segmentations of a text under a unigram language model, as a graph.

use super::Segment;
use super::pieces::Pieces;
use super::unigram::Unigram;

/// An edge of the lattice: a piece at a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct LatticeNode {
    /// The character where it begins.
    pub(super) position: usize,
    /// The byte where it ends.
    end: usize,
    id: u32,
    pub(super) score: f32,
    /// The score of the best path up to its end.
    pub(super) best: f32,
}

/// The nodes of a text. Node [`BEGIN`] ends at the first position, node [`END`] begins at the last.
pub(super) struct Lattice {
    pub(super) nodes: Vec<LatticeNode>,
    /// For each position, in characters: the nodes that begin there, and those that end there.
    beginning: Vec<Vec<usize>>,
    pub(super) ending: Vec<Vec<usize>>,
}

pub(super) const BEGIN: usize = 0;
pub(super) const END: usize = 1;

impl Lattice {
    pub(super) fn new(unigram: &Unigram, pieces: &Pieces, text: &str) -> Self {
        let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let last = starts.len() - 1;
        let empty = LatticeNode { position: 0, end: 0, id: 0, score: 0.0, best: 0.0 };
        let mut lattice = Self {
            nodes: vec![empty, LatticeNode { position: last, end: text.len(), ..empty }],
            beginning: vec![Vec::new(); last + 1],
            ending: vec![Vec::new(); last + 1],
        };
        lattice.ending[0].push(BEGIN);
        lattice.beginning[last].push(END);
        for (position, &start) in starts.iter().enumerate().take(last) {
            lattice.add_pieces(unigram, pieces, text.get(start..).unwrap_or_default(), position, start);
        }
        lattice
    }

    fn add_pieces(&mut self, unigram: &Unigram, pieces: &Pieces, rest: &str, position: usize, start: usize) {
        let trie = pieces.trie();
        let mut node = trie.root();
        let mut covered = false;
        let mut length = 0;
        for (bytes, &byte) in (1..).zip(rest.as_bytes()) {
            let Some((next, id)) = trie.step(node, byte) else { break };
            node = next;
            length += usize::from(rest.is_char_boundary(bytes));
            let Some(id) = id else { continue };
            let Some(score) = Unigram::score(pieces, id, length) else { continue };
            covered |= length == 1;
            let end = start + bytes;
            self.add(LatticeNode { position, end, id, score, best: 0.0 }, length);
        }
        if let Some(character) = rest.chars().next().filter(|_| !covered) {
            let (id, score) = (pieces.unknown(), unigram.unknown_score());
            let end = start + character.len_utf8();
            self.add(LatticeNode { position, end, id, score, best: 0.0 }, 1);
        }
    }

    fn add(&mut self, node: LatticeNode, length: usize) {
        let at = self.nodes.len();
        self.nodes.push(node);
        // A piece that was found in the text ends inside it.
        self.beginning[node.position].push(at);
        self.ending[node.position + length].push(at);
    }

    /// Sets the score of the best path through each node.
    pub(super) fn find_best_paths(&mut self) {
        for position in 0..self.beginning.len() {
            let Some(best) = self.best_ending(position) else { continue };
            for &at in &self.beginning[position] {
                let node = &mut self.nodes[at];
                node.best = best + node.score;
            }
        }
    }

    fn best_ending(&self, position: usize) -> Option<f32> {
        self.ending[position].iter().map(|&at| self.nodes[at].best).reduce(f32::max)
    }

    /// For each node the log of the sum of exp(`alpha` · score) over all paths up to its beginning.
    pub(super) fn forward(&self, alpha: f32) -> Vec<f32> {
        let mut sums = vec![0.0; self.nodes.len()];
        for (beginning, ending) in self.beginning.iter().zip(&self.ending) {
            let before = ending.iter().map(|&at| alpha * self.nodes[at].score + sums[at]);
            let Some(total) = before.reduce(log_sum_exp) else { continue };
            for &at in beginning {
                sums[at] = total;
            }
        }
        sums
    }

    /// The segments of a path, whose nodes are given from left to right.
    pub(super) fn segments(&self, path: impl IntoIterator<Item = usize>) -> Vec<Segment> {
        path.into_iter().map(|at| Segment { end: self.nodes[at].end, id: self.nodes[at].id }).collect()
    }
}

/// ln(exp(x) + exp(y)).
fn log_sum_exp(x: f32, y: f32) -> f32 {
    let (low, high) = (x.min(y), x.max(y));
    high + (low - high).exp().ln_1p()
}
