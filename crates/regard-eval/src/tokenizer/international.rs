//! The `intl` tokenizer (mteval-v14, international tokenization), as sacreBLEU applies it.

use super::spacing::{space_characters, space_pairs};
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// Sets apart punctuation, except between digits, and symbols, by their Unicode categories P, N and S.
pub(super) fn space_international(line: &str) -> String {
    let spaced = space_pairs(line, |a, b| !is_number(a) && is_punctuation(b), |a, b| [a, ' ', b, ' ']);
    let spaced = space_pairs(&spaced, |a, b| is_punctuation(a) && !is_number(b), |a, b| [' ', a, ' ', b]);
    space_characters(&spaced, is_symbol)
}

fn is_number(c: char) -> bool {
    c.general_category_group() == GeneralCategoryGroup::Number
}

fn is_punctuation(c: char) -> bool {
    c.general_category_group() == GeneralCategoryGroup::Punctuation
}

fn is_symbol(c: char) -> bool {
    c.general_category_group() == GeneralCategoryGroup::Symbol
}
