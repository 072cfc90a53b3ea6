//! Draws sentences of a given length from the grammar.

use super::grammar::MIN_WORDS;
use super::lexicon::{
    ADJECTIVES_AFTER, ADJECTIVES_BEFORE, ADVERBS, AND, BEINGS, DETERMINERS, INTRANSITIVE_VERBS, Noun, PLACES,
    PREPOSITIONS, Plain, THAT, TRANSITIVE_VERBS,
};
use super::phrase::{NounPhrase, Phrase};
use super::random::Random;

/// Clauses grow to this many words; a longer sentence joins several with "and".
const MAX_CLAUSE_WORDS: usize = 12;

/// The longest subject, relative clause included, so that the verb is not too far from it.
const MAX_SUBJECT_WORDS: usize = 7;

/// A noun phrase without a relative clause or coordination has at most a determiner, two adjectives and a noun.
const MAX_CORE_WORDS: usize = 4;

/// What a noun phrase is in its clause.
#[derive(Clone, Copy)]
enum Role {
    Subject,
    Object,
    Place,
}

/// Writes phrases. Every method fills exactly the number of source words that it is given.
pub(super) struct Generator {
    random: Random,
    phrases: Vec<Phrase>,
}

impl Generator {
    pub(super) fn new(random: Random) -> Self {
        Self { random, phrases: Vec::new() }
    }

    /// The phrases of a sentence of `words` ≥ 3 words.
    pub(super) fn sentence(mut self, mut words: usize) -> Vec<Phrase> {
        while words > MAX_CLAUSE_WORDS || (words > 2 * MIN_WORDS && self.random.coin()) {
            let clause = self.random.between(MIN_WORDS, MAX_CLAUSE_WORDS.min(words - MIN_WORDS - 1));
            self.clause(clause);
            self.particle(&AND);
            words -= clause + 1;
        }
        self.clause(words);
        self.phrases
    }

    /// `words` ≥ 3: a subject and what it does.
    fn clause(&mut self, words: usize) {
        let subject = self.random.between(2, MAX_SUBJECT_WORDS.min(words - 1));
        self.noun_phrase(subject, Role::Subject);
        self.verb_phrase(words - subject);
    }

    /// `words` ≥ 1: a verb, often with an adverb, an object or a place.
    fn verb_phrase(&mut self, words: usize) {
        let with_adverb = words == 2 || (words > 3 && self.random.between(1, 4) == 1);
        let adverb = with_adverb.then(|| self.random.choose(&ADVERBS));
        let rest = words - 1 - usize::from(with_adverb);
        // A place takes three words or more and an object two; one word never remains.
        match rest {
            0 => self.verb(adverb, &INTRANSITIVE_VERBS),
            3.. if self.random.coin() => {
                self.verb(adverb, &INTRANSITIVE_VERBS);
                self.place(rest);
            }
            5.. if self.random.coin() => {
                let object = self.random.between(2, rest - 3);
                self.verb(adverb, &TRANSITIVE_VERBS);
                self.noun_phrase(object, Role::Object);
                self.place(rest - object);
            }
            _ => {
                self.verb(adverb, &TRANSITIVE_VERBS);
                self.noun_phrase(rest, Role::Object);
            }
        }
    }

    /// `words` ≥ 3: a preposition and a noun phrase.
    fn place(&mut self, words: usize) {
        let preposition = self.random.choose(&PREPOSITIONS);
        self.particle(preposition);
        self.noun_phrase(words - 1, Role::Place);
    }

    /// `words` ≥ 2: a core, followed by a relative clause or joined with another noun phrase where it is too long.
    fn noun_phrase(&mut self, words: usize, role: Role) {
        if words <= MAX_CORE_WORDS {
            return self.core(words, role);
        }
        let relative = match role {
            Role::Subject => true,
            Role::Object => self.random.coin(),
            Role::Place => false,
        };
        if relative {
            let core = self.random.between(2, MAX_CORE_WORDS.min(words - 2));
            self.core(core, Role::Subject);
            self.particle(&THAT);
            self.verb_phrase(words - core - 1);
        } else {
            let core = self.random.between(2, MAX_CORE_WORDS.min(words - 3));
            self.core(core, role);
            self.particle(&AND);
            self.noun_phrase(words - core - 1, role);
        }
    }

    /// 2 ≤ `words` ≤ 4: a determiner, adjectives and a noun.
    fn core(&mut self, words: usize, role: Role) {
        let determiner = self.random.choose(&DETERMINERS);
        let (before, after) = match words {
            ..=2 => (false, false),
            3 => {
                let before = self.random.coin();
                (before, !before)
            }
            4.. => (true, true),
        };
        let before = before.then(|| self.random.choose(&ADJECTIVES_BEFORE));
        let after = after.then(|| self.random.choose(&ADJECTIVES_AFTER));
        let noun = self.noun(role);
        self.phrases.push(Phrase::Noun(NounPhrase { determiner, before, after, noun }));
    }

    fn noun(&mut self, role: Role) -> &'static Noun {
        let being = match role {
            Role::Subject => true,
            Role::Object => self.random.coin(),
            Role::Place => false,
        };
        self.random.choose(if being { &BEINGS } else { &PLACES })
    }

    fn verb(&mut self, adverb: Option<&'static Plain>, verbs: &'static [Plain]) {
        let verb = self.random.choose(verbs);
        self.phrases.push(Phrase::Verb { adverb, verb });
    }

    fn particle(&mut self, word: &'static Plain) {
        self.phrases.push(Phrase::Particle(word));
    }
}
