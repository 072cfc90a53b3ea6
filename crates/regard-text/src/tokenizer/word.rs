//! Words: what stands between ASCII spaces. A tab, a no-break or an ideographic space is part of a word.

use super::Token;

/// The words of a line, also for BPE.
pub(super) fn words(line: &str) -> impl Iterator<Item = &str> {
    // Words are short, so that looking at each byte is faster than the search of `split`.
    let mut rest = line;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(' ');
        let end = rest.bytes().position(|byte| byte == b' ').unwrap_or(rest.len());
        let word;
        (word, rest) = rest.split_at(end);
        (!word.is_empty()).then_some(word)
    })
}

/// The words and where each begins.
pub(super) fn words_with_starts(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    let placed = line.split(' ').map(move |word| {
        let here = start;
        start += word.len() + 1;
        (here, word)
    });
    placed.filter(|(_, word)| !word.is_empty())
}

pub(super) fn tokenize(line: &str) -> Vec<String> {
    words(line).map(str::to_owned).collect()
}

pub(super) fn tokens(line: &str) -> Vec<Token> {
    let token = |(start, word): (usize, &str)| Token::new(word, start..start + word.len());
    words_with_starts(line).map(token).collect()
}

pub(super) fn detokenize(tokens: &[impl AsRef<str>]) -> String {
    tokens.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn only_runs_of_spaces_change(line in "[ a\t\u{a0}\u{3000}é]{0,20}") {
            let back = super::detokenize(&super::tokenize(&line));
            let mut expected = line.trim_matches(' ').to_owned();
            while expected.contains("  ") {
                expected = expected.replace("  ", " ");
            }
            prop_assert_eq!(back, expected);
        }
    }
}
