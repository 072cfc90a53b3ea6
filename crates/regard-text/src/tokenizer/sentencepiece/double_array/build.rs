//! Building a double array: every node looks for a place where the slots of all its children are free.

use std::collections::HashMap;

use super::{DoubleArray, HAS_LEAF, LEAF, WIDE};

const BLOCK: u32 = 256;
/// Only slots of so many last blocks are still offered: what is free further back is too scattered to be worth a look.
const OPEN_BLOCKS: u32 = 16;
/// An offset of more bits must be a multiple of 256 to fit into its node.
const NARROW_BITS: u32 = 21;
const NONE: u32 = u32::MAX;

/// The keys from `begin` to `end` share `depth` bytes, and their node is at `place`.
struct Open {
    begin: usize,
    end: usize,
    depth: usize,
    place: u32,
}

#[derive(Default)]
struct Builder {
    units: Vec<u32>,
    /// Whether some node has its children there: no two nodes may share that place.
    base_taken: Vec<bool>,
    /// The free slots of the open blocks, a list in both directions.
    next: Vec<u32>,
    previous: Vec<u32>,
    first: u32,
    last: u32,
    /// Where the children of a node are whose keys go on like this; `None` where nothing is shared.
    shared: Option<HashMap<Vec<u8>, u32>>,
}

impl DoubleArray {
    /// The trie of keys in ascending order of bytes, all different, none empty and none with a zero byte; values are
    /// below 2³¹.
    pub(in super::super) fn build(keys: &[(&[u8], u32)]) -> Self {
        Builder { first: NONE, last: NONE, ..Builder::default() }.build(keys)
    }

    /// Likewise; nodes below which all is the same have the same children, so that keys with common ends and values take
    /// less room.
    pub(in super::super) fn build_shared(keys: &[(&[u8], u32)]) -> Self {
        Builder { first: NONE, last: NONE, shared: Some(HashMap::new()), ..Builder::default() }.build(keys)
    }
}

impl Builder {
    fn build(self, keys: &[(&[u8], u32)]) -> DoubleArray {
        let mut builder = self;
        builder.add_block();
        builder.take(0);
        let mut open = vec![Open { begin: 0, end: keys.len(), depth: 0, place: 0 }];
        while let Some(node) = open.pop() {
            builder.arrange(keys, &node, &mut open);
        }
        DoubleArray { units: builder.units.into() }
    }

    /// Gives a node's children their slots.
    fn arrange(&mut self, keys: &[(&[u8], u32)], node: &Open, open: &mut Vec<Open>) {
        let keys_here = keys.get(node.begin..node.end).unwrap_or_default();
        // A key that ends here has the byte 0, and comes first.
        let byte = |key: &[u8]| key.get(node.depth).copied().unwrap_or(0);
        let mut groups: Vec<(u8, usize)> = Vec::new();
        for (at, (key, _)) in (node.begin..).zip(keys_here) {
            if groups.last().is_none_or(|&(last, _)| last != byte(key)) {
                groups.push((byte(key), at));
            }
        }
        let Some(&(first, _)) = groups.first() else { return };
        let ends_here = if first == 0 { HAS_LEAF } else { 0 };
        let content = self.shared.as_ref().map(|_| content(keys_here, node.depth));
        if let (Some(shared), Some(content)) = (&self.shared, &content)
            && let Some(&base) = shared.get(content)
            && fits(node.place, base)
        {
            self.units[node.place as usize] |= offset_bits(node.place, base) | ends_here;
            return;
        }
        let base = self.find_base(node.place, first, &groups);
        self.base_taken[base as usize] = true;
        self.units[node.place as usize] |= offset_bits(node.place, base) | ends_here;
        if let (Some(shared), Some(content)) = (&mut self.shared, content) {
            shared.insert(content, base);
        }
        let ends = groups.iter().skip(1).map(|&(_, at)| at).chain([node.end]);
        for (&(byte, begin), end) in groups.iter().zip(ends) {
            let place = base ^ u32::from(byte);
            self.take(place);
            if byte == 0 {
                self.units[place as usize] = LEAF | keys.get(begin).map_or(0, |&(_, value)| value);
            } else {
                self.units[place as usize] = u32::from(byte);
                open.push(Open { begin, end, depth: node.depth + 1, place });
            }
        }
    }

    /// A base of which every child's slot is free.
    fn find_base(&mut self, place: u32, first: u8, groups: &[(u8, usize)]) -> u32 {
        let mut slot = self.first;
        while slot != NONE {
            let base = slot ^ u32::from(first);
            // The slots of one base are in one block, so they are inside the arrays.
            let free = |byte: u8| self.is_free(base ^ u32::from(byte));
            if fits(place, base)
                && !self.base_taken[base as usize]
                && groups.iter().all(|&(byte, _)| free(byte))
            {
                return base;
            }
            slot = self.next[slot as usize];
        }
        // The same lowest byte as the node, so that the offset is a multiple of 256.
        let base = self.units.len() as u32 | (place % BLOCK);
        self.add_block();
        base
    }

    fn is_free(&self, slot: u32) -> bool {
        slot == self.first || self.previous[slot as usize] != NONE
    }

    /// Adds a block of free slots, and closes the one that is too old now.
    fn add_block(&mut self) {
        let start = self.units.len() as u32;
        let end = start + BLOCK;
        // A unit that no node uses looks like a leaf, which no byte leads to.
        self.units.resize(end as usize, LEAF);
        self.base_taken.resize(end as usize, false);
        self.next.resize(end as usize, NONE);
        self.previous.resize(end as usize, NONE);
        for slot in start..end {
            self.previous[slot as usize] = self.last;
            match self.last {
                NONE => self.first = slot,
                last => self.next[last as usize] = slot,
            }
            self.last = slot;
        }
        if let Some(old) = start.checked_sub(OPEN_BLOCKS * BLOCK) {
            for slot in old..old + BLOCK {
                if self.is_free(slot) {
                    self.unlink(slot);
                }
            }
        }
    }

    fn take(&mut self, slot: u32) {
        self.unlink(slot);
        self.units[slot as usize] = 0;
    }

    fn unlink(&mut self, slot: u32) {
        let (previous, next) = (self.previous[slot as usize], self.next[slot as usize]);
        match previous {
            NONE => self.first = next,
            previous => self.next[previous as usize] = next,
        }
        match next {
            NONE => self.last = previous,
            next => self.previous[next as usize] = previous,
        }
        self.previous[slot as usize] = NONE;
        self.next[slot as usize] = NONE;
    }
}

/// Whether a node can say that its children are there. An offset of 0 is taken for a damaged file by SentencePiece.
fn fits(place: u32, base: u32) -> bool {
    let relative = place ^ base;
    relative != 0 && (relative.is_multiple_of(BLOCK) || relative >> NARROW_BITS == 0)
}

fn offset_bits(place: u32, base: u32) -> u32 {
    let relative = place ^ base;
    if relative >> NARROW_BITS == 0 { relative << 10 } else { relative << 2 | WIDE }
}

/// What follows after `depth` bytes of each key, and its value, in a form that only equal contents have.
fn content(keys: &[(&[u8], u32)], depth: usize) -> Vec<u8> {
    let mut content = Vec::new();
    for (key, value) in keys {
        content.extend_from_slice(key.get(depth..).unwrap_or_default());
        content.push(0);
        content.extend_from_slice(&value.to_le_bytes());
    }
    content
}
