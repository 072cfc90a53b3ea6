//! The phrases within which word order and agreement are settled, and how each reads in both languages.
//!
//! Nothing about a translation depends on what is outside its phrase, and no two words of the lexicon share an English
//! form, so a source has one right target.

use super::grammar::Sentence;
use super::lexicon::{Adjective, Determiner, Noun, Plain};

/// A run of neighbouring words that is translated as a whole.
#[derive(Debug)]
pub(super) enum Phrase {
    /// "the small black cat" → "le petit chat noir".
    Noun(NounPhrase),
    /// "often sees" → "voit souvent".
    Verb { adverb: Option<&'static Plain>, verb: &'static Plain },
    /// A word that stands for itself: a preposition, "and", "that".
    Particle(&'static Plain),
}

/// A determiner, up to one adjective of each kind, and a noun.
#[derive(Debug)]
pub(super) struct NounPhrase {
    pub(super) determiner: &'static Determiner,
    /// The adjective that stands before the noun in both languages.
    pub(super) before: Option<&'static Adjective>,
    /// The adjective that French moves behind the noun.
    pub(super) after: Option<&'static Adjective>,
    pub(super) noun: &'static Noun,
}

/// A French word, the position in the phrase of the English word that it translates, and whether it has content.
type Translated = (&'static str, usize, bool);

impl Phrase {
    /// Appends both sides of the phrase and the links between them.
    pub(super) fn append_to(&self, sentence: &mut Sentence) {
        let start = sentence.source.len();
        let mut translated: Vec<Translated> = Vec::with_capacity(4);
        match self {
            Self::Noun(phrase) => phrase.render(&mut sentence.source, &mut translated),
            Self::Verb { adverb, verb } => {
                sentence.source.extend(adverb.iter().chain([verb]).map(|word| word.english));
                translated.push((verb.french, usize::from(adverb.is_some()), true));
                translated.extend(adverb.iter().map(|adverb| (adverb.french, 0, false)));
            }
            Self::Particle(word) => {
                sentence.source.push(word.english);
                translated.push((word.french, 0, false));
            }
        }
        for (french, position, content) in translated {
            sentence.links.push((start + position, sentence.target.len()));
            sentence.target.push(french);
            sentence.content.push(content);
        }
    }
}

impl NounPhrase {
    fn render(&self, source: &mut Vec<&'static str>, translated: &mut Vec<Translated>) {
        let Self { determiner, before, after, noun } = self;
        source.push(determiner.english);
        source.extend(before.iter().chain(after).map(|adjective| adjective.english));
        source.push(noun.english);

        let gender = noun.gender;
        let before_position = 1;
        let after_position = before_position + usize::from(before.is_some());
        let noun_position = after_position + usize::from(after.is_some());
        let before = before.map(|adjective| (adjective.french(gender), before_position, true));
        let next_word = before.map_or(noun.french, |(french, ..)| french);
        translated.push((determiner.french(gender, next_word), 0, false));
        translated.extend(before);
        translated.push((noun.french, noun_position, true));
        translated.extend(after.map(|adjective| (adjective.french(gender), after_position, true)));
    }
}
