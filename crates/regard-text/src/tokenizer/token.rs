//! A token and its place in the text.

use std::ops::Range;

/// A token, the bytes of the text that it stands for, and its word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The token as the vocabulary has it, marks included.
    pub text: String,
    /// Bytes of the text. Empty for what was put in: a tag, a `▁` before the first word, all bytes of an unknown character
    /// but the last (Hugging Face gives each the whole character).
    pub range: Range<usize>,
    /// The word that it is, or is a part of, from 0. Words are what white space separates after the text was prepared: the
    /// punctuation that Moses cuts off is a word. White space that is a token, or a lone `▁`, belongs to the word behind
    /// it, at the end of a text to the last one. Tags and the end symbol have none.
    pub word: Option<usize>,
}

impl Token {
    /// A token that stands for no text: a tag, the end symbol.
    #[must_use]
    pub fn control(text: &str, place: usize) -> Self {
        Self::new(text, place..place)
    }

    pub(crate) fn new(text: impl Into<String>, range: Range<usize>) -> Self {
        Self { text: text.into(), range, word: None }
    }
}

/// Gives the tokens of a text the numbers of their words.
pub(super) fn number_words(text: &str, tokens: &mut [Token]) {
    let (mut word, mut begun, mut end) = (0, false, 0);
    for token in tokens.iter_mut() {
        let gap = text.get(end..token.range.start).unwrap_or_default();
        let covered = text.get(token.range.clone()).unwrap_or_default();
        if begun && (gap.contains(char::is_whitespace) || covered.starts_with(char::is_whitespace)) {
            word += 1;
            begun = false;
        }
        token.word = Some(word);
        begun |= !covered.chars().all(char::is_whitespace);
        end = end.max(token.range.end);
    }
    // White space at the end begins no word.
    if !begun && word > 0 {
        let behind = tokens.iter_mut().rev().take_while(|token| token.word == Some(word));
        behind.for_each(|token| token.word = Some(word - 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, ranges: &[Range<usize>]) -> Vec<usize> {
        let mut tokens: Vec<Token> = ranges.iter().map(|range| Token::new("", range.clone())).collect();
        number_words(text, &mut tokens);
        tokens.iter().filter_map(|token| token.word).collect()
    }

    #[test]
    fn white_space_belongs_to_the_word_behind_it() {
        // As words, as characters, and as pieces with a lone mark that was put in.
        assert_eq!(words("ab  c ", &[0..2, 4..5]), [0, 1]);
        assert_eq!(words("ab  c ", &[0..1, 1..2, 2..3, 3..4, 4..5, 5..6]), [0, 0, 1, 1, 1, 1]);
        assert_eq!(words("ab c", &[0..0, 0..1, 1..2, 2..3, 3..4]), [0, 0, 0, 1, 1]);
        assert_eq!(words("  ", &[0..1, 1..2]), [0, 0]);
        assert_eq!(words("", &[]), [0; 0]);
    }
}
