//! Words: what stands between ASCII spaces. A tab, a no-break or an ideographic space is part of a word.

/// The words of a line, also for BPE.
pub(super) fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(' ').filter(|word| !word.is_empty())
}

pub(super) fn tokenize(line: &str) -> Vec<String> {
    words(line).map(str::to_owned).collect()
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
