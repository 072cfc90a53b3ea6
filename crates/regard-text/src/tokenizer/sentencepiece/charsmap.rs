//! The normalisation rules of a `.model` file: what a stretch of text is replaced with.

use std::collections::HashMap;

use super::double_array::DoubleArray;

/// Rules from text to text: a trie of what is replaced, whose values say where the replacement begins among the
/// `targets`, each of which ends with a zero byte.
#[derive(Clone, Debug)]
pub(super) struct CharsMap {
    trie: DoubleArray,
    targets: String,
}

impl CharsMap {
    /// Reads `precompiled_charsmap`: the size of the trie in bytes (little-endian `u32`), the trie, the targets.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let broken = || "its normalisation rules are cut or damaged".to_owned();
        let (&size, rest) = bytes.split_first_chunk::<4>().ok_or_else(broken)?;
        let (trie, targets) = rest.split_at_checked(u32::from_le_bytes(size) as usize).ok_or_else(broken)?;
        let targets = String::from_utf8(targets.to_vec())
            .map_err(|_| "its normalisation rules are not valid UTF-8".to_owned())?;
        Ok(Self { trie: DoubleArray::from_bytes(trie), targets })
    }

    /// The bytes that [`from_bytes`](Self::from_bytes) reads, of rules in ascending order of what they replace.
    pub(super) fn build<'a>(rules: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<u8> {
        let mut targets = String::new();
        let mut keys = Vec::new();
        let mut places: HashMap<&str, u32> = HashMap::new();
        for (from, to) in rules {
            let place = *places.entry(to).or_insert_with(|| {
                let place = targets.len() as u32;
                targets.extend([to, "\0"]);
                place
            });
            keys.push((from.as_bytes(), place));
        }
        let trie = DoubleArray::build_shared(&keys).to_bytes();
        [&(trie.len() as u32).to_le_bytes(), trie.as_slice(), targets.as_bytes()].concat()
    }

    /// The longest rule that applies at the start of a text: how much it takes away, and what comes in its place. A
    /// rule whose target lies outside is none.
    pub(super) fn longest(&self, text: &str) -> Option<(usize, &str)> {
        let (length, start) = self.trie.longest_prefix(text)?;
        let target = self.targets.get(start as usize..)?;
        Some((length, target.split('\0').next().unwrap_or_default()))
    }

    /// The trie of what is replaced.
    pub(super) fn trie(&self) -> &DoubleArray {
        &self.trie
    }
}
