//! A trie over byte strings as a double array, in the layout of darts-clone, which `.model` files hold.
//!
//! Aoe, "An Efficient Digital Search Algorithm by Using a Double-Array Structure", 1989. Every node is one `u32`:
//!
//! | bits | a node | the leaf below a node whose key ends there |
//! |---|---|---|
//! | 0–7 | the byte that leads here | 0–30: the value |
//! | 8 | a key ends here | |
//! | 9 | the offset is in units of 256 | |
//! | 10–30 | the offset: own place XOR place of the children | |
//! | 31 | 0 | 1 |
//!
//! The child for a byte is at `children XOR byte`, the leaf at `children XOR 0`.

mod build;

const LEAF: u32 = 1 << 31;
const HAS_LEAF: u32 = 1 << 8;
const WIDE: u32 = 1 << 9;

/// A read-only trie. What it was made from is not trusted: a walk that leaves the array finds nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct DoubleArray {
    units: Box<[u32]>,
}

/// A place in the trie: where the children of a node are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Node(u32);

impl DoubleArray {
    /// Reads an array of little-endian units; bytes after the last whole unit are ignored.
    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        let (units, _) = bytes.as_chunks::<4>();
        Self { units: units.iter().map(|&unit| u32::from_le_bytes(unit)).collect() }
    }

    /// The units, little-endian.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.units.iter().flat_map(|unit| unit.to_le_bytes()).collect()
    }

    /// Where every walk begins.
    pub(super) fn root(&self) -> Node {
        Node(self.units.first().map_or(0, |&unit| offset(unit)))
    }

    /// The node behind a byte, and the value of the key that ends there.
    #[inline]
    pub(super) fn step(&self, node: Node, byte: u8) -> Option<(Node, Option<u32>)> {
        let place = node.0 ^ u32::from(byte);
        let unit = *self.units.get(place as usize)?;
        if unit & (LEAF | 0xff) != u32::from(byte) {
            return None;
        }
        let children = place ^ offset(unit);
        let value = if unit & HAS_LEAF == 0 { None } else { self.units.get(children as usize) };
        Some((Node(children), value.map(|&leaf| leaf & !LEAF)))
    }

    /// The node behind several bytes, and the value of the key that ends there.
    pub(super) fn walk(&self, mut node: Node, bytes: &[u8]) -> Option<(Node, Option<u32>)> {
        let mut value = None;
        for &byte in bytes {
            (node, value) = self.step(node, byte)?;
        }
        Some((node, value))
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &[u8]) -> Option<u32> {
        self.walk(self.root(), key)?.1
    }

    /// Length and value of the longest key that the text begins with and that ends between two characters.
    pub(super) fn longest_prefix(&self, text: &str) -> Option<(usize, u32)> {
        let mut node = self.root();
        let mut longest = None;
        for (length, &byte) in (1..).zip(text.as_bytes()) {
            let Some((next, value)) = self.step(node, byte) else { break };
            node = next;
            if let Some(value) = value.filter(|_| text.is_char_boundary(length)) {
                longest = Some((length, value));
            }
        }
        longest
    }
}

#[inline]
fn offset(unit: u32) -> u32 {
    (unit >> 10) << ((unit & WIDE) >> 6)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn prefixes() {
        let trie = DoubleArray::build(&[(b"a", 7), (b"ab", 0), (b"abcd", 2), ("é".as_bytes(), 3)]);
        assert_eq!(trie.longest_prefix("abcx"), Some((2, 0)));
        assert_eq!(trie.longest_prefix("abcd"), Some((4, 2)));
        assert_eq!(trie.longest_prefix("\0"), None);
        assert_eq!((trie.get(b"a"), trie.get(b"abc"), trie.get(b"")), (Some(7), None, None));
        assert_eq!(DoubleArray::default().longest_prefix("a"), None);
    }

    proptest! {
        #[test]
        fn holds_its_keys_and_no_other(
            keys in prop::collection::btree_map(prop::collection::vec(1u8.., 1..6), 0u32..3, 0..300),
            others in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..6), 0..100),
        ) {
            let sorted: Vec<(&[u8], u32)> = keys.iter().map(|(key, &value)| (key.as_slice(), value)).collect();
            let trie = DoubleArray::build(&sorted);
            let again = DoubleArray::from_bytes(&DoubleArray::build_shared(&sorted).to_bytes());
            for (key, &value) in &keys {
                prop_assert_eq!(again.get(key), Some(value));
            }
            for other in &others {
                prop_assert_eq!(trie.get(other), keys.get(other).copied());
            }
        }

        #[test]
        fn any_bytes_are_a_harmless_trie(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "\\PC{0,9}") {
            let trie = DoubleArray::from_bytes(&bytes);
            if let Some((length, _)) = trie.longest_prefix(&text) {
                prop_assert!(text.is_char_boundary(length));
            }
        }
    }
}
