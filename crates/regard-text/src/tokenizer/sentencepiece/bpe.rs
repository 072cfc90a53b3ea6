//! Segmentation by merging: the neighbours whose joint piece has the best score become one, again and again.
//!
//! Sennrich, Haddow and Birch, "Neural Machine Translation of Rare Words with Subword Units", ACL 2016; with dropout,
//! Provilkov, Emelianenko and Voita, "BPE-Dropout: Simple and Effective Subword Regularization", ACL 2020.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::Segment;
use super::double_array::{DoubleArray, Node};
use super::normalization::SPACE;
use super::pieces::{PieceKind, Pieces};

const NONE: usize = usize::MAX;

/// A stretch of the text in the list of those that there are; empty once it was merged into its left neighbour.
#[derive(Clone, Copy)]
struct Symbol {
    start: usize,
    end: usize,
    previous: usize,
    next: usize,
    /// Where its text leads in the trie of pieces.
    node: Option<Node>,
    /// A user-defined symbol: never merged.
    frozen: bool,
}

/// Two neighbours whose joint text is a piece. The best score comes first, then the leftmost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Merge {
    score: Score,
    left: Reverse<usize>,
    right: usize,
    length: usize,
    node: Node,
}

/// A finite score, ordered.
#[derive(Clone, Copy, PartialEq)]
struct Score(f32);

impl Eq for Score {}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        // Adding zero makes the two zeros the same.
        (self.0 + 0.0).total_cmp(&(other.0 + 0.0))
    }
}

struct Merger<'a> {
    pieces: &'a Pieces,
    text: &'a str,
    symbols: Vec<Symbol>,
    agenda: BinaryHeap<Merge>,
    /// Of merged pieces that must not be used: where the left part ends, as a length.
    parts: HashMap<&'a str, usize>,
    keep_parts: bool,
}

/// Cuts a normalised text. `skip` is asked before each merge whether it shall not be done.
pub(super) fn segment(
    pieces: &Pieces,
    user_defined: Option<&DoubleArray>,
    text: &str,
    mut skip: impl FnMut() -> bool,
) -> Vec<Segment> {
    let mut merger = Merger {
        pieces,
        text,
        symbols: first_symbols(pieces, user_defined, text),
        agenda: BinaryHeap::new(),
        parts: HashMap::new(),
        keep_parts: pieces.has_unused(),
    };
    // The parts of unused pieces are those of the last time that they came about, in the whole text.
    let word_by_word = pieces.words_apart() && !merger.keep_parts;
    for right in 1..merger.symbols.len() {
        if word_by_word && merger.begins_word(right) {
            merger.run(&mut skip);
        }
        merger.consider(right - 1, right);
    }
    merger.run(&mut skip);
    merger.segments()
}

fn first_symbols(pieces: &Pieces, user_defined: Option<&DoubleArray>, text: &str) -> Vec<Symbol> {
    let trie = pieces.trie();
    let mut symbols: Vec<Symbol> = Vec::with_capacity(text.len());
    let mut start = 0;
    while let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) {
        let symbol = user_defined.and_then(|symbols| symbols.longest_prefix(rest));
        let character = rest.chars().next().map_or(1, char::len_utf8);
        let length = symbol.map_or(character, |(length, _)| length);
        let end = start + length;
        let node = trie.walk(trie.root(), rest.get(..length).unwrap_or_default().as_bytes());
        let at = symbols.len();
        symbols.push(Symbol {
            start,
            end,
            previous: at.checked_sub(1).unwrap_or(NONE),
            next: if end == text.len() { NONE } else { at + 1 },
            node: node.map(|(node, _)| node),
            frozen: symbol.is_some(),
        });
        start = end;
    }
    symbols
}

// Every index of a symbol comes from the list itself, which never shrinks; NONE is sorted out by `get`.
impl Merger<'_> {
    /// Makes the merges on the agenda, and those that they bring about.
    fn run(&mut self, skip: &mut impl FnMut() -> bool) {
        while let Some(merge) = self.agenda.pop() {
            if self.is_current(&merge) && !skip() {
                self.apply(&merge);
            }
        }
    }

    fn begins_word(&self, symbol: usize) -> bool {
        let start = self.symbols.get(symbol).map_or(self.text.len(), |symbol| symbol.start);
        self.text.get(start..).is_some_and(|rest| rest.starts_with(SPACE))
    }

    /// Puts two neighbours on the agenda where their joint text is a piece.
    fn consider(&mut self, left: usize, right: usize) {
        let (Some(a), Some(b)) = (self.symbols.get(left), self.symbols.get(right)) else { return };
        if a.frozen || b.frozen {
            return;
        }
        let Some(node) = a.node else { return };
        let bytes = self.text.as_bytes().get(b.start..b.end).unwrap_or_default();
        let Some((node, Some(id))) = self.pieces.trie().walk(node, bytes) else { return };
        let length = b.end - a.start;
        if self.keep_parts
            && self.pieces.kind(id) == Some(PieceKind::Unused)
            && let Some(joint) = self.text.get(a.start..b.end)
        {
            self.parts.insert(joint, a.end - a.start);
        }
        let score = Score(self.pieces.score(id));
        self.agenda.push(Merge { score, left: Reverse(left), right, length, node });
    }

    /// Whether both symbols are still what they were when the merge was found.
    fn is_current(&self, merge: &Merge) -> bool {
        let (left, right) = (self.symbols[merge.left.0], self.symbols[merge.right]);
        let length = |symbol: Symbol| symbol.end - symbol.start;
        length(left) > 0 && length(right) > 0 && length(left) + length(right) == merge.length
    }

    fn apply(&mut self, merge: &Merge) {
        let (at, right) = (merge.left.0, self.symbols[merge.right]);
        self.symbols[merge.right].end = right.start;
        let left = &mut self.symbols[at];
        left.end = right.end;
        left.node = Some(merge.node);
        left.next = right.next;
        let previous = left.previous;
        if let Some(next) = self.symbols.get_mut(right.next) {
            next.previous = at;
        }
        self.consider(previous, at);
        self.consider(at, right.next);
    }

    fn segments(self) -> Vec<Segment> {
        let mut segments = Vec::with_capacity(self.symbols.len() / 2);
        let mut at = 0;
        while let Some(symbol) = self.symbols.get(at) {
            self.split_unused(symbol.start, symbol.end, &mut segments);
            at = symbol.next;
        }
        segments
    }

    /// A piece that must not be used falls into the parts that it was merged from, and they likewise.
    fn split_unused(&self, start: usize, end: usize, segments: &mut Vec<Segment>) {
        let mut open = vec![(start, end)];
        while let Some((start, end)) = open.pop() {
            let text = self.text.get(start..end).unwrap_or_default();
            let id = self.pieces.trie().get(text.as_bytes()).unwrap_or(self.pieces.unknown());
            let part = self.parts.get(text).filter(|_| self.pieces.kind(id) == Some(PieceKind::Unused));
            match part {
                Some(&length) => open.extend([(start + length, end), (start, start + length)]),
                None if self.pieces.kind(id) == Some(PieceKind::Unused) => {
                    segments.push(Segment { end, id: self.pieces.unknown() });
                }
                None => segments.push(Segment { end, id }),
            }
        }
    }
}
