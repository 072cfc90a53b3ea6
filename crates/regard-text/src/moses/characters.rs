//! The classes of characters that the rules speak of.
//!
//! They are Perl's of the time when Moses was written, not today's: letters of the scripts that Unicode has added
//! since, and all of Han and the Hangul syllables, are symbols here. So the tables are our own and not a Unicode library's.

use super::table;

/// Whether `c` is in a set given by its ascending bounds: from the first up to the second, from the third and so on.
fn within(c: char, bounds: &[u32]) -> bool {
    bounds.partition_point(|&bound| bound <= u32::from(c)) % 2 == 1
}

/// Letters, and the marks that are parts of words.
pub(super) fn is_alpha(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphabetic() } else { within(c, table::ALPHA) }
}

/// The letters of the detokenizer: it does not know the viramas and nuktas that the tokenizer adds to Perl's.
pub(super) fn is_plain_alpha(c: char) -> bool {
    is_alpha(c) && !within(c, table::INDIC_SIGNS)
}

/// Letters and decimal digits.
pub(super) fn is_alnum(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() } else { within(c, table::ALPHA) || within(c, table::DIGIT) }
}

/// Numbers of all kinds: digits, but also `½`, `²` and `Ⅳ`.
pub(super) fn is_number(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_digit() } else { within(c, table::NUMBER) }
}

pub(super) fn is_lower(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_lowercase() } else { within(c, table::LOWER) }
}

pub(super) fn is_currency(c: char) -> bool {
    within(c, table::CURRENCY)
}

/// Chinese, Japanese and Korean characters: between these the detokenizer puts no space.
pub(super) fn is_cjk(c: char) -> bool {
    within(c, table::CJK)
}

/// White space as Python has it: Unicode's and the four ASCII separators.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}
