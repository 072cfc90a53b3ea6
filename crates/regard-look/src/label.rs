//! Tokens as readers may see them: nothing invisible, nothing that could steer a terminal, nothing too long.

use unicode_width::UnicodeWidthChar;

/// The token with every control character made visible; an empty token is `∅`, a blank one is made of `␣`.
pub(crate) fn visible(token: &str) -> String {
    if token.is_empty() {
        return "∅".to_owned();
    }
    let blank = token.chars().all(char::is_whitespace);
    let show = |c: char| match visible_char(c) {
        c if blank && c.is_whitespace() => '␣',
        c => c,
    };
    token.chars().map(show).collect()
}

/// An arrow for a tab; U+FFFD for other controls, for forced text direction (an override in one label would turn its
/// neighbours round) and for what XML 1.0 cannot hold. The font has a glyph for both.
pub(crate) fn visible_char(c: char) -> char {
    match c {
        '\t' => '⇥',
        '\0'..='\x1f'
        | '\x7f'..='\u{9f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{fffe}'
        | '\u{ffff}' => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}

/// Whether `c` is written from right to left: the blocks that Unicode sets aside for Hebrew, Arabic and the like.
pub(crate) fn runs_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}' | '\u{10800}'..='\u{10fff}'
        | '\u{1e800}'..='\u{1efff}')
}

/// Whether most of the tokens are written from right to left, so that the sentence is.
pub(crate) fn reads_left<'a>(tokens: impl IntoIterator<Item = &'a str>) -> bool {
    let (mut left, mut all) = (0, 0);
    for token in tokens {
        all += usize::from(token.contains(char::is_alphabetic));
        left += usize::from(token.contains(runs_left));
    }
    2 * left > all
}

/// The longest prefix of `text` that fits into `limit` with an ellipsis after it, or `text` itself where that fits.
/// `width` gives the width of one character, in the unit of `limit`.
pub(crate) fn ellipsise(text: &str, limit: f32, width: impl Fn(char) -> f32) -> String {
    if text.chars().map(&width).sum::<f32>() <= limit {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = width('…');
    for c in text.chars() {
        used += width(c);
        if used > limit {
            break;
        }
        kept.push(c);
    }
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

/// Columns that a terminal gives to `c`: 2 for CJK, 0 for combining marks.
pub(crate) fn char_columns(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// Columns that a terminal gives to `text`.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(char_columns).sum()
}

/// `text` cut to at most `limit` terminal columns.
pub(crate) fn ellipsise_columns(text: &str, limit: usize) -> String {
    ellipsise(text, limit as f32, |c| char_columns(c) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn controls_become_visible() {
        assert_eq!(visible("a\x1b[31m\tb\x7f\u{202e}c"), "a\u{fffd}[31m⇥b\u{fffd}\u{fffd}c");
        assert_eq!(visible(""), "∅");
        assert_eq!(visible(" \u{a0}"), "␣␣");
        assert_eq!(visible("\t"), "⇥");
        assert_eq!(visible("a b שלום 日本"), "a b שלום 日本");
    }

    #[test]
    fn the_direction_of_a_sentence_is_that_of_most_words() {
        assert!(reads_left(["החתול", "הקטן", "BBC", "."]) && reads_left(["السلام"]));
        assert!(!reads_left(["the", "word", "שלום"]) && !reads_left(["1", "."]) && !reads_left([]));
    }

    #[test]
    fn ellipsis_counts_columns() {
        assert_eq!(ellipsise_columns("abcdef", 6), "abcdef");
        assert_eq!(ellipsise_columns("abcdefg", 6), "abcde…");
        assert_eq!(ellipsise_columns("日本語です", 6), "日本…");
        assert_eq!(ellipsise_columns("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}…");
        assert_eq!(columns("日本e\u{301}"), 5);
    }

    proptest! {
        #[test]
        fn labels_fit_and_hide_nothing(token in any::<String>(), limit in 1usize..20) {
            let label = ellipsise_columns(&visible(&token), limit);
            prop_assert!(columns(&label) <= limit);
            prop_assert!(!label.is_empty() && !label.chars().any(char::is_control));
        }
    }
}
