//! Words that were cut before.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

/// Words that are remembered at most: the memory of a server stays bounded.
const SLOTS: usize = 1 << 18;

/// The pieces of words. A word has one slot, by its hash, and takes it from the word that was there: no list of what is
/// old has to be kept, and what is frequent comes back soon. It only saves time, and changes no result.
#[derive(Debug, Default)]
pub(super) struct Cache {
    slots: Vec<Slot>,
    hashes: RandomState,
}

#[derive(Clone, Debug, Default)]
struct Slot {
    /// The word, and behind it its pieces with a space between.
    text: String,
    /// Bytes of the word; 0 where there is none.
    word: usize,
}

impl Cache {
    /// The pieces of a word that is not empty: those that are remembered, or what `cut` adds to a text.
    pub(super) fn pieces(&mut self, word: &str, cut: impl FnOnce(&mut String)) -> &str {
        if self.slots.is_empty() {
            self.slots.resize(SLOTS, Slot::default());
        }
        let place = self.hashes.hash_one(word) as usize % SLOTS;
        let slot = &mut self.slots[place];
        if slot.word != word.len() || !slot.text.starts_with(word) {
            // Should `cut` panic, the slot is empty.
            slot.word = 0;
            slot.text.clear();
            // Usually enough for the word and its pieces.
            slot.text.reserve(3 * word.len());
            slot.text.push_str(word);
            cut(&mut slot.text);
            slot.word = word.len();
        }
        slot.text.get(slot.word..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_not_cut_again() {
        let mut cache = Cache::default();
        assert_eq!(cache.pieces("abc", |text| text.push_str("a@@ bc")), "a@@ bc");
        assert_eq!(cache.pieces("ab", |text| text.push_str("a@@ b")), "a@@ b");
        assert_eq!(cache.pieces("abc", |_| unreachable!()), "a@@ bc");
    }

    #[test]
    fn a_word_never_gets_the_pieces_of_another() {
        let mut cache = Cache::default();
        for _ in 0..2 {
            for number in 0..2 * SLOTS {
                let word = number.to_string();
                assert_eq!(cache.pieces(&word, |text| text.push_str(&word)), word);
            }
        }
    }
}
