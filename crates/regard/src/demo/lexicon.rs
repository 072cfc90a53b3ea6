//! The words of the demonstration: 52 English types, and the 66 French ones they become.

use Gender::{Feminine, Masculine};

/// The gender of a French noun, which its determiner and adjectives follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gender {
    Masculine,
    Feminine,
}

/// A noun; English ones begin with a consonant, so that "a" never becomes "an".
#[derive(Debug)]
pub(super) struct Noun {
    pub(super) english: &'static str,
    pub(super) french: &'static str,
    pub(super) gender: Gender,
}

/// A word whose French form follows the gender of its noun.
#[derive(Debug)]
pub(super) struct Adjective {
    pub(super) english: &'static str,
    masculine: &'static str,
    feminine: &'static str,
}

impl Adjective {
    pub(super) fn french(&self, gender: Gender) -> &'static str {
        match gender {
            Masculine => self.masculine,
            Feminine => self.feminine,
        }
    }
}

/// A determiner: its French form follows the gender of its noun and the first letter of the next word.
#[derive(Debug)]
pub(super) struct Determiner {
    pub(super) english: &'static str,
    masculine: &'static str,
    feminine: &'static str,
    masculine_before_vowel: &'static str,
    feminine_before_vowel: &'static str,
}

impl Determiner {
    pub(super) fn french(&self, gender: Gender, next_word: &str) -> &'static str {
        let before_vowel = next_word.starts_with(['a', 'e', 'i', 'o', 'u', 'é']);
        match (gender, before_vowel) {
            (Masculine, false) => self.masculine,
            (Feminine, false) => self.feminine,
            (Masculine, true) => self.masculine_before_vowel,
            (Feminine, true) => self.feminine_before_vowel,
        }
    }
}

/// A word with a single French form.
#[derive(Debug)]
pub(super) struct Plain {
    pub(super) english: &'static str,
    pub(super) french: &'static str,
}

const fn noun(english: &'static str, french: &'static str, gender: Gender) -> Noun {
    Noun { english, french, gender }
}

const fn adjective(english: &'static str, masculine: &'static str, feminine: &'static str) -> Adjective {
    Adjective { english, masculine, feminine }
}

const fn determiner(english: &'static str, forms: [&'static str; 4]) -> Determiner {
    let [masculine, feminine, masculine_before_vowel, feminine_before_vowel] = forms;
    Determiner { english, masculine, feminine, masculine_before_vowel, feminine_before_vowel }
}

const fn plain(english: &'static str, french: &'static str) -> Plain {
    Plain { english, french }
}

pub(super) static DETERMINERS: [Determiner; 4] = [
    determiner("the", ["le", "la", "l'", "l'"]),
    determiner("a", ["un", "une", "un", "une"]),
    determiner("this", ["ce", "cette", "cet", "cette"]),
    determiner("my", ["mon", "ma", "mon", "mon"]),
];

/// Who can act.
pub(super) static BEINGS: [Noun; 9] = [
    noun("cat", "chat", Masculine),
    noun("dog", "chien", Masculine),
    noun("bird", "oiseau", Masculine),
    noun("horse", "cheval", Masculine),
    noun("rabbit", "lapin", Masculine),
    noun("hen", "poule", Feminine),
    noun("frog", "grenouille", Feminine),
    noun("mouse", "souris", Feminine),
    noun("cow", "vache", Feminine),
];

/// Where it can happen.
pub(super) static PLACES: [Noun; 9] = [
    noun("garden", "jardin", Masculine),
    noun("tree", "arbre", Masculine),
    noun("bed", "lit", Masculine),
    noun("bridge", "pont", Masculine),
    noun("chair", "chaise", Feminine),
    noun("house", "maison", Feminine),
    noun("street", "rue", Feminine),
    noun("school", "école", Feminine),
    noun("river", "rivière", Feminine),
];

/// Adjectives that stand before the noun in French.
pub(super) static ADJECTIVES_BEFORE: [Adjective; 5] = [
    adjective("small", "petit", "petite"),
    adjective("big", "grand", "grande"),
    adjective("young", "jeune", "jeune"),
    adjective("good", "bon", "bonne"),
    adjective("pretty", "joli", "jolie"),
];

/// Adjectives that stand after the noun in French.
pub(super) static ADJECTIVES_AFTER: [Adjective; 5] = [
    adjective("black", "noir", "noire"),
    adjective("white", "blanc", "blanche"),
    adjective("green", "vert", "verte"),
    adjective("red", "rouge", "rouge"),
    adjective("grey", "gris", "grise"),
];

pub(super) static INTRANSITIVE_VERBS: [Plain; 6] = [
    plain("sleeps", "dort"),
    plain("sings", "chante"),
    plain("runs", "court"),
    plain("dances", "danse"),
    plain("falls", "tombe"),
    plain("laughs", "rit"),
];

pub(super) static TRANSITIVE_VERBS: [Plain; 5] = [
    plain("sees", "voit"),
    plain("follows", "suit"),
    plain("watches", "regarde"),
    plain("likes", "aime"),
    plain("finds", "trouve"),
];

/// Before the verb in English, after it in French.
pub(super) static ADVERBS: [Plain; 2] = [plain("often", "souvent"), plain("always", "toujours")];

pub(super) static PREPOSITIONS: [Plain; 5] = [
    plain("on", "sur"),
    plain("in", "dans"),
    plain("under", "sous"),
    plain("behind", "derrière"),
    plain("toward", "vers"),
];

/// Joins clauses and noun phrases.
pub(super) static AND: Plain = plain("and", "et");

/// Opens a relative clause about its subject.
pub(super) static THAT: Plain = plain("that", "qui");
