//! A small English-French grammar with gold alignments, written for this project.
//!
//! Determiners, nouns of both genders, adjectives before and after the noun, verbs with adverbs and objects,
//! prepositions, coordination and relative clauses: enough that a translator must reorder and agree, and so regular that
//! a source has exactly one right target. A perfect model therefore scores 100 BLEU.
//!
//! ```
//! let sentence = regard::demo::grammar::the_black_cat();
//! assert_eq!(sentence.source.join(" "), "the black cat sleeps on the red chair");
//! assert_eq!(sentence.target.join(" "), "le chat noir dort sur la chaise rouge");
//! assert_eq!(sentence.links[1], (2, 1)); // "cat" and "chat"
//! ```

use super::generator::Generator;
use super::lexicon::{ADJECTIVES_AFTER, BEINGS, DETERMINERS, INTRANSITIVE_VERBS, PLACES, PREPOSITIONS};
use super::phrase::{NounPhrase, Phrase};
use super::random::Random;

/// The shortest sentence: a determiner, a noun and a verb.
pub const MIN_WORDS: usize = 3;

/// A pair of sentences and what is known about it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sentence {
    /// The English words.
    pub source: Vec<&'static str>,
    /// The French words, an elided article (`l'`) being a word of its own.
    pub target: Vec<&'static str>,
    /// Pairs (position in `source`, position in `target`), counted from 0 and sorted by target: the gold alignment.
    /// Every word of either side is in exactly one pair.
    pub links: Vec<(usize, usize)>,
    /// For each target word, whether it is a content word: a noun, an adjective or a verb.
    pub content: Vec<bool>,
}

impl Sentence {
    fn from_phrases(phrases: &[Phrase]) -> Self {
        let mut sentence = Self::default();
        for phrase in phrases {
            phrase.append_to(&mut sentence);
        }
        sentence
    }
}

/// Sentence number `index` of the endless list that belongs to `seed`.
///
/// Its source has `min_words` to `max_words` words, every length being equally likely. A `min_words` below [`MIN_WORDS`]
/// counts as that, a `max_words` below `min_words` as `min_words`.
#[must_use]
pub fn generate(seed: u64, index: u64, min_words: usize, max_words: usize) -> Sentence {
    let mut random = Random::new(seed, index);
    let min_words = min_words.max(MIN_WORDS);
    let words = random.between(min_words, max_words.max(min_words));
    Sentence::from_phrases(&Generator::new(random).sentence(words))
}

/// "the black cat sleeps on the red chair" and its translation, "le chat noir dort sur la chaise rouge".
#[must_use]
pub fn the_black_cat() -> Sentence {
    let [the, ..] = &DETERMINERS;
    let [cat, ..] = &BEINGS;
    let [black, _, _, red, _] = &ADJECTIVES_AFTER;
    let [_, _, _, _, chair, ..] = &PLACES;
    let [sleeps, ..] = &INTRANSITIVE_VERBS;
    let [on, ..] = &PREPOSITIONS;
    Sentence::from_phrases(&[
        Phrase::Noun(NounPhrase { determiner: the, before: None, after: Some(black), noun: cat }),
        Phrase::Verb { adverb: None, verb: sleeps },
        Phrase::Particle(on),
        Phrase::Noun(NounPhrase { determiner: the, before: None, after: Some(red), noun: chair }),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn some() -> impl Iterator<Item = Sentence> {
        (0..5000).map(|index| generate(7, index, 3, 60))
    }

    #[test]
    fn the_black_cat_is_translated_and_aligned() {
        let Sentence { source, target, links, content } = the_black_cat();
        assert_eq!(source.join(" "), "the black cat sleeps on the red chair");
        assert_eq!(target.join(" "), "le chat noir dort sur la chaise rouge");
        assert_eq!(links, [(0, 0), (2, 1), (1, 2), (3, 3), (4, 4), (5, 5), (7, 6), (6, 7)]);
        assert_eq!(content, [false, true, true, true, false, false, true, true]);
    }

    #[test]
    fn every_word_is_linked_once() {
        for sentence in some() {
            let mut sources: Vec<usize> = sentence.links.iter().map(|link| link.0).collect();
            sources.sort_unstable();
            assert!(sources.into_iter().eq(0..sentence.source.len()));
            assert!(sentence.links.iter().map(|link| link.1).eq(0..sentence.target.len()));
            assert_eq!(sentence.content.len(), sentence.target.len());
        }
    }

    #[test]
    fn lengths_are_even_from_first_to_last() {
        let mut counts = BTreeMap::new();
        for sentence in some() {
            *counts.entry(sentence.source.len()).or_insert(0) += 1;
        }
        assert!(counts.keys().copied().eq(3..=60));
        // 5,000 sentences over 58 lengths: 86 each, give or take 9.
        assert!(counts.values().all(|count| (50..125).contains(count)), "{counts:?}");
        assert_eq!(generate(1, 1, 0, 0).source.len(), 3);
        assert_eq!(generate(1, 1, 8, 5).source.len(), 8);
    }

    #[test]
    fn the_same_seed_gives_the_same_sentences() {
        assert!(some().eq(some()));
        assert_eq!(generate(1, 0, 3, 5).source.join(" "), "a pretty white mouse falls");
        let differ = (0..100).filter(|&index| generate(1, index, 20, 20) != generate(2, index, 20, 20));
        assert_eq!(differ.count(), 100);
    }

    #[test]
    fn sentences_differ() {
        let long: BTreeSet<_> = (0..2000).map(|index| generate(3, index, 8, 60).source).collect();
        assert!(long.len() > 1990, "{}", long.len());
        // There are only 9 × 4 × 6 sentences of three words.
        let short: BTreeSet<_> = (0..5000).map(|index| generate(3, index, 3, 3).source).collect();
        assert_eq!(short.len(), 216);
    }

    #[test]
    fn all_words_are_used() {
        let english: BTreeSet<_> = some().flat_map(|sentence| sentence.source).collect();
        let french: BTreeSet<_> = some().flat_map(|sentence| sentence.target).collect();
        assert_eq!((english.len(), french.len()), (52, 66));
    }

    /// Short sentences come again and again, and cover every noun phrase.
    #[test]
    fn a_source_has_one_target() {
        let mut known = BTreeMap::new();
        for index in 0..20_000 {
            let sentence = generate(5, index, 3, 8);
            let target = known.entry(sentence.source).or_insert_with(|| sentence.target.clone());
            assert_eq!(*target, sentence.target);
        }
    }

    #[test]
    fn french_agrees() {
        let feminine =
            ["poule", "grenouille", "souris", "vache", "chaise", "maison", "rue", "école", "rivière"];
        let masculine = ["chat", "chien", "oiseau", "cheval", "lapin", "jardin", "arbre", "lit", "pont"];
        let only_feminine = ["la", "une", "cette", "ma", "petite", "grande", "bonne", "jolie"];
        let only_masculine = ["le", "un", "ce", "cet", "petit", "grand", "bon", "joli"];
        let mut nouns = 0;
        for Sentence { target, .. } in some() {
            for (i, noun) in target.iter().enumerate() {
                let (ours, others, after) = match noun {
                    noun if feminine.contains(noun) => {
                        (only_feminine, only_masculine, ["noir", "blanc", "vert", "gris"])
                    }
                    noun if masculine.contains(noun) => {
                        (only_masculine, only_feminine, ["noire", "blanche", "verte", "grise"])
                    }
                    _ => continue,
                };
                nouns += 1;
                let is_known = |word: &str| ours.contains(&word) || ["l'", "mon", "jeune"].contains(&word);
                assert!(is_known(target[i - 1]), "{target:?}");
                assert!(
                    !others.contains(&target[i - 1]) && target.get(i + 1).is_none_or(|w| !after.contains(w))
                );
                let before_vowel = ["oiseau", "arbre", "école"].contains(noun);
                let needs_consonant = ["le", "la", "ce", "ma"].contains(&target[i - 1]);
                let needs_vowel = ["l'", "cet"].contains(&target[i - 1]);
                assert!(if before_vowel { !needs_consonant } else { !needs_vowel }, "{target:?}");
            }
        }
        assert!(nouns > 10_000);
    }
}
