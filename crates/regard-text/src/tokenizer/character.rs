//! Characters: one token per Unicode scalar value, with a visible space.

use super::Token;

const SPACE: &str = "▁";
/// The text's own `▁`: a token of two marks, which no other character becomes.
const MARK: &str = "▁▁";

pub(super) fn tokenize(line: &str) -> Vec<String> {
    line.chars().map(written).collect()
}

pub(super) fn tokens(line: &str) -> Vec<Token> {
    line.char_indices().map(|(start, c)| Token::new(written(c), start..start + c.len_utf8())).collect()
}

fn written(c: char) -> String {
    match c {
        ' ' => SPACE.to_owned(),
        '▁' => MARK.to_owned(),
        other => other.to_string(),
    }
}

pub(super) fn detokenize(tokens: &[impl AsRef<str>]) -> String {
    tokens
        .iter()
        .map(|token| match token.as_ref() {
            SPACE => " ",
            MARK => "▁",
            other => other,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nothing_is_lost(line in "[ ▁a\u{301}]{0,12}|\\PC{0,20}") {
            let tokens = super::tokenize(&line);
            prop_assert_eq!(tokens.len(), line.chars().count());
            prop_assert_eq!(super::detokenize(&tokens), line);
        }
    }
}
