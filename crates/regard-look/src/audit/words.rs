//! Which target words carry content.

use std::collections::{BTreeMap, BTreeSet};

/// Function words: the most frequent words that together are this share of a text.
pub(super) const FUNCTION_SHARE: f64 = 0.5;

/// The function words of tokenized lines of which each token belongs to a word.
///
/// A word is a function word where it is one of the most frequent that make up [`FUNCTION_SHARE`] of all words, or where it has
/// no letter and no digit. Equal counts are taken in the order of the alphabet.
pub(super) fn function_words<'a>(words: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let mut counts = BTreeMap::new();
    let mut total = 0_usize;
    for word in words {
        *counts.entry(word).or_insert(0_usize) += 1;
        total += 1;
    }
    let mut order: Vec<(&str, usize)> = counts.into_iter().collect();
    order.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let mut covered = 0;
    let is_frequent = |&(_, count): &(&str, usize)| {
        let before = covered;
        covered += count;
        (before as f64) < FUNCTION_SHARE * total as f64
    };
    order.into_iter().take_while(is_frequent).map(|(word, _)| word).collect()
}

/// Whether a word has a letter or a digit.
pub(super) fn is_word(word: &str) -> bool {
    word.chars().any(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frequent_half_are_function_words() {
        let text = "the a the cat the a dog sleeps";
        let found = function_words(text.split(' '));
        // Eight words: "the" (3) is less than half, with "a" (2) it is more.
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["a", "the"]);
        assert!(is_word("l'") && !is_word("."));
    }
}
