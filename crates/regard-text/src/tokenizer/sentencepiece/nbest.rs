//! The n best segmentations, by A* search from the end of the lattice.
//!
//! The best score of what is still to the left of a partial path is known exactly from the forward pass, so complete
//! paths come out in order. Which of equal ones comes first is decided by the queue; it works as the one that
//! SentencePiece is built with.

use std::collections::HashMap;

use super::Segment;
use super::lattice::{BEGIN, END, Lattice};

/// No more are searched for, whatever is asked.
pub(super) const MAX_PATHS: usize = 1024;
/// From so many open paths on, only the best are kept, so that memory stays bounded.
const MAX_OPEN: usize = 10_000;
const MIN_OPEN: usize = 512;

/// A path from `node` to the end of the text: its further nodes are those of `next`.
#[derive(Clone, Copy)]
struct Partial {
    node: usize,
    next: Option<usize>,
    /// The score of the whole path if the best is chosen to the left.
    priority: f32,
    score: f32,
}

/// The best paths with their scores, best first.
pub(super) fn best_paths(lattice: &mut Lattice, count: usize) -> Vec<(Vec<Segment>, f32)> {
    lattice.find_best_paths();
    let whole = lattice.nodes[END].best;
    let mut partials = vec![Partial { node: END, next: None, priority: whole, score: 0.0 }];
    let mut open = Queue::default();
    open.push(0, whole);
    let mut paths = Vec::new();
    while let Some(at) = open.pop() {
        let top = partials[at];
        if top.node == BEGIN {
            paths.push((lattice.segments(nodes_after(&partials, top)), top.priority));
            if paths.len() == count {
                break;
            }
            continue;
        }
        for &left in &lattice.ending[lattice.nodes[top.node].position] {
            let node = lattice.nodes[left];
            let priority = node.best + top.score;
            open.push(partials.len(), priority);
            partials.push(Partial { node: left, next: Some(at), priority, score: node.score + top.score });
        }
        if open.len() >= MAX_OPEN {
            (partials, open) = shrink(&partials, open, MIN_OPEN.min(count * 10));
        }
    }
    paths
}

/// The nodes of a complete path, without the ends of the text.
fn nodes_after(partials: &[Partial], path: Partial) -> Vec<usize> {
    let mut nodes = Vec::new();
    let mut next = path.next;
    while let Some(at) = next {
        let partial = partials[at];
        nodes.push(partial.node);
        next = partial.next;
    }
    nodes.pop();
    nodes
}

/// Keeps the best open paths, and of all others only what those go through.
fn shrink(partials: &[Partial], mut open: Queue, keep: usize) -> (Vec<Partial>, Queue) {
    let mut kept: Vec<Partial> = Vec::new();
    let mut places: HashMap<usize, usize> = HashMap::new();
    let mut queue = Queue::default();
    for _ in 0..keep {
        let Some(top) = open.pop() else { break };
        let mut chain = Vec::new();
        let mut at = Some(top);
        while let Some(old) = at.filter(|old| !places.contains_key(old)) {
            chain.push(old);
            at = partials[old].next;
        }
        for old in chain.into_iter().rev() {
            let partial = partials[old];
            let next = partial.next.and_then(|next| places.get(&next).copied());
            places.insert(old, kept.len());
            kept.push(Partial { next, ..partial });
        }
        queue.push(places[&top], partials[top].priority);
    }
    (kept, queue)
}

/// A binary heap. Among equal priorities its order is that of the heap functions of the GNU C++ library: a removed top is
/// replaced by sinking a hole to the bottom and raising the last item from there.
#[derive(Default)]
struct Queue {
    heap: Vec<(usize, f32)>,
}

impl Queue {
    fn len(&self) -> usize {
        self.heap.len()
    }

    fn push(&mut self, item: usize, priority: f32) {
        self.heap.push((item, priority));
        self.raise(self.heap.len() - 1);
    }

    fn pop(&mut self) -> Option<usize> {
        let last = self.heap.pop()?;
        let Some(&(top, _)) = self.heap.first() else { return Some(last.0) };
        let length = self.heap.len();
        let mut hole = 0;
        while 2 * hole + 1 < length {
            let (left, right) = (2 * hole + 1, 2 * hole + 2);
            let only_left = right >= length;
            let child = if only_left || self.heap[right].1 < self.heap[left].1 { left } else { right };
            self.heap[hole] = self.heap[child];
            hole = child;
        }
        self.heap[hole] = last;
        self.raise(hole);
        Some(top)
    }

    fn raise(&mut self, mut at: usize) {
        while at > 0 {
            let parent = (at - 1) / 2;
            if self.heap[parent].1 >= self.heap[at].1 {
                break;
            }
            self.heap.swap(parent, at);
            at = parent;
        }
    }
}
