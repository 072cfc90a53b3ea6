//! Where the spaces go when tokens become a line again.

use std::collections::BTreeSet;

use super::MosesLanguage;
use super::characters::{is_cjk, is_currency, is_plain_alpha, is_space};

/// What a word wants of the space before it.
enum Before {
    /// A space, unless the word before holds on to this one.
    Open,
    Space,
    Joined,
}

/// What a word wants of the space before it, and whether it holds on to the next word.
type Place = (Before, bool);

/// The line that words between white space make.
pub(super) fn detokenize(text: &str, language: MosesLanguage) -> String {
    let words: Vec<&str> = text.split(is_space).filter(|word| !word.is_empty()).collect();
    let mut quotes = Quotes::default();
    let mut line = String::with_capacity(text.len());
    // Nothing stands before the first word.
    let mut held = true;
    for (i, word) in words.iter().enumerate() {
        let previous = i.checked_sub(1).map(|i| words[i]);
        let next = words.get(i + 1).copied();
        let (before, holds) =
            place(word, previous, next, language).unwrap_or_else(|| quotes.place(word, previous, language));
        let space = match before {
            Before::Open => !held,
            Before::Space => i > 0,
            Before::Joined => false,
        };
        line.extend(space.then_some(' '));
        line.push_str(word);
        held = holds;
    }
    line
}

/// The place of all words but quotes and plain ones.
fn place(word: &str, previous: Option<&str>, next: Option<&str>, language: MosesLanguage) -> Option<Place> {
    use MosesLanguage::{En, Fr};
    if word.starts_with(is_cjk) {
        let joined = previous.is_some_and(|previous| previous.ends_with(is_cjk));
        Some((if joined { Before::Joined } else { Before::Open }, false))
    } else if all(word, |c| is_currency(c) || "([{¿¡".contains(c)) {
        Some((Before::Open, true))
    } else if all(word, |c| ",.?!:;\\%}])".contains(c)) {
        let spaced = language == Fr && word.len() == 1 && "?!:;\\%".contains(word);
        Some((if spaced { Before::Space } else { Before::Joined }, false))
    } else if language == En && previous.is_some() && is_english_contraction(word) {
        Some((Before::Joined, false))
    } else if language == Fr
        && is_french_elision(word)
        && next.is_some_and(|next| next.starts_with(is_plain_alpha))
    {
        Some((Before::Open, true))
    } else {
        None
    }
}

fn all(word: &str, class: impl Fn(char) -> bool) -> bool {
    word.chars().all(class)
}

/// `'s`, `'ll`.
fn is_english_contraction(word: &str) -> bool {
    word.strip_prefix('\'').is_some_and(|rest| rest.starts_with(is_plain_alpha))
}

/// `l'`, `qu'`.
fn is_french_elision(word: &str) -> bool {
    word.strip_suffix('\'').is_some_and(|rest| rest.ends_with(is_plain_alpha))
}

/// The quotes that are open: each second one of a kind closes.
#[derive(Default)]
struct Quotes<'a> {
    open: BTreeSet<&'a str>,
}

impl<'a> Quotes<'a> {
    /// The place of a quote, or of a plain word.
    fn place(&mut self, word: &'a str, previous: Option<&str>, language: MosesLanguage) -> Place {
        if !all(word, |c| "'\"„“`".contains(c)) {
            return (Before::Open, false);
        }
        let kind = if all(word, |c| "„“".contains(c)) { "\"" } else { word };
        if self.open.remove(kind) {
            return (Before::Joined, false);
        }
        // The Jones' house.
        let possessive =
            language == MosesLanguage::En && word == "'" && previous.is_some_and(|p| p.ends_with('s'));
        if possessive {
            return (Before::Joined, false);
        }
        self.open.insert(kind);
        (Before::Open, true)
    }
}
