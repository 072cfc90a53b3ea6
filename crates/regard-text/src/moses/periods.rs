//! The period at the end of a word: part of an abbreviation, or a token of its own.

use super::MosesLanguage;
use super::characters::{is_alpha, is_lower};
use super::prefixes::{Prefix, prefix};
use super::separate::Placed;

/// What stands between spaces, with final periods apart.
pub(super) fn words(text: &[Placed], language: MosesLanguage) -> Vec<&[Placed]> {
    let words: Vec<&[Placed]> = text.split(|&(c, _)| c == ' ').filter(|word| !word.is_empty()).collect();
    let mut out = Vec::with_capacity(words.len() + 2);
    for (i, word) in words.iter().enumerate() {
        let next = words.get(i + 1).and_then(|next| next.first()).map(|&(c, _)| c);
        match word {
            [stem @ .., ('.', _)] if ends_sentence(stem, next, language) => {
                out.extend([stem, &word[stem.len()..]]);
            }
            _ => out.push(word),
        }
    }
    split_closing_quote(&mut out);
    out
}

/// A period and an apostrophe that end the line are a token each.
fn split_closing_quote(words: &mut Vec<&[Placed]>) {
    if let Some(&word) = words.last()
        && let [stem @ .., ('.', _), ('\'', _)] = word
    {
        words.pop();
        words.extend((!stem.is_empty()).then_some(stem));
        words.extend(word[stem.len()..].chunks(1));
    }
}

/// Whether the period after `stem` is a token of its own. `next` is the first character of the next word.
fn ends_sentence(stem: &[Placed], next: Option<char>, language: MosesLanguage) -> bool {
    // A lone period, and runs of them, have no stem. No other word has two periods side by side.
    if stem.last().is_none_or(|&(c, _)| c == '.') {
        return false;
    }
    let has = |class: fn(char) -> bool| stem.iter().any(|&(c, _)| class(c));
    let dotted = has(|c| c == '.') && has(is_alpha);
    let known = match prefix(&stem.iter().map(|&(c, _)| c).collect::<String>(), language) {
        Some(Prefix::Always) => true,
        Some(Prefix::BeforeNumber) => next.is_some_and(|c| c.is_ascii_digit()),
        None => false,
    };
    !dotted && !known && !next.is_some_and(is_lower)
}
