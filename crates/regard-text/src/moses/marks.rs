//! Commas and apostrophes: whether they stand alone depends on their neighbours.

use super::MosesLanguage;
use super::characters::{is_alpha, is_number};
use super::separate::{Placed, SPACE};

type Class = fn(char) -> bool;

/// Puts spaces at a mark that stands between given neighbours.
///
/// Applied from left to right, and a character that one match has used is not seen by the next one: of `5,,,5` the last
/// comma stays at its number. Moses behaves so, hence one pass a rule.
struct Rule {
    mark: char,
    before: Option<Class>,
    after: Option<Class>,
    space_left: bool,
    space_right: bool,
}

impl Rule {
    const fn alone(mark: char, before: Option<Class>, after: Option<Class>) -> Self {
        Self { mark, before, after, space_left: true, space_right: true }
    }

    /// The place of the mark in `rest` and the length of the match, if the rule matches at its start.
    fn matches(&self, rest: &[Placed]) -> Option<(usize, usize)> {
        let mark = usize::from(self.before.is_some());
        let is = |class: Option<Class>, at: usize| {
            class.is_none_or(|class| rest.get(at).is_some_and(|&(c, _)| class(c)))
        };
        (rest.get(mark)?.0 == self.mark && is(self.before, 0) && is(self.after, mark + 1))
            .then(|| (mark, mark + 1 + usize::from(self.after.is_some())))
    }

    fn apply(&self, text: &[Placed]) -> Vec<Placed> {
        let mut out = Vec::with_capacity(text.len() + 8);
        let mut rest = text;
        while let Some((&first, others)) = rest.split_first() {
            let Some((mark, end)) = self.matches(rest) else {
                out.push(first);
                rest = others;
                continue;
            };
            out.extend(&rest[..mark]);
            out.extend(self.space_left.then_some(SPACE));
            out.push(rest[mark]);
            out.extend(self.space_right.then_some(SPACE));
            out.extend(&rest[mark + 1..end]);
            rest = &rest[end..];
        }
        out
    }
}

/// A comma stands alone, except between numbers.
const COMMA: &[Rule] =
    &[Rule::alone(',', Some(|c| !is_number(c)), None), Rule::alone(',', None, Some(|c| !is_number(c)))];

const ENGLISH: &[Rule] = &[
    Rule::alone('\'', Some(|c| !is_alpha(c)), Some(|c| !is_alpha(c))),
    Rule::alone('\'', Some(|c| !is_alpha(c) && !is_number(c)), Some(is_alpha)),
    Rule::alone('\'', Some(is_alpha), Some(|c| !is_alpha(c))),
    Rule { space_right: false, ..Rule::alone('\'', Some(is_alpha), Some(is_alpha)) },
    Rule { space_right: false, ..Rule::alone('\'', Some(is_number), Some(|c| c == 's')) },
];

const FRENCH: &[Rule] = &[
    Rule::alone('\'', Some(|c| !is_alpha(c)), Some(|c| !is_alpha(c))),
    Rule::alone('\'', Some(|c| !is_alpha(c)), Some(is_alpha)),
    Rule::alone('\'', Some(is_alpha), Some(|c| !is_alpha(c))),
    Rule { space_left: false, ..Rule::alone('\'', Some(is_alpha), Some(is_alpha)) },
];

const GERMAN: &[Rule] = &[Rule::alone('\'', None, None)];

/// The text with spaces at its commas and apostrophes.
pub(super) fn separate(mut text: Vec<Placed>, language: MosesLanguage) -> Vec<Placed> {
    if text.iter().any(|&(c, _)| c == ',') {
        text = COMMA.iter().fold(text, |text, rule| rule.apply(&text));
        if let [.., (before, _), (',', _)] = text[..]
            && is_number(before)
        {
            text.insert(text.len() - 1, SPACE);
        }
    }
    if text.iter().any(|&(c, _)| c == '\'') {
        let rules = match language {
            MosesLanguage::En => ENGLISH,
            MosesLanguage::Fr => FRENCH,
            MosesLanguage::De => GERMAN,
        };
        text = rules.iter().fold(text, |text, rule| rule.apply(&text));
    }
    text
}
