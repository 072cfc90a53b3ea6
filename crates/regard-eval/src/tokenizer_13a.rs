//! The `13a` tokenizer of the WMT evaluations (mteval-v13a), as sacreBLEU applies it.
//!
//! It is written as four passes over neighbouring characters, in the order of the original's four substitutions. Each
//! pass consumes what it matched, as a regular expression does: in `1..2` the second full stop has no neighbour left.

/// Splits `line` into the tokens over which `13a` BLEU counts its n-grams.
///
/// ```
/// assert_eq!(regard_eval::tokenize_13a("It's 3.14, right?"), ["It's", "3.14", ",", "right", "?"]);
/// ```
#[must_use]
pub fn tokenize_13a(line: &str) -> Vec<String> {
    let mut line = line.replace("<skipped>", "").replace("-\n", "").replace('\n', " ");
    if line.contains('&') {
        line = line.replace("&quot;", "\"").replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
    }
    let spaced = space_symbols(&format!(" {line} "));
    let spaced = space_pairs(&spaced, |a, b| !a.is_ascii_digit() && is_stop(b), |a, b| [a, ' ', b, ' ']);
    let spaced = space_pairs(&spaced, |a, b| is_stop(a) && !b.is_ascii_digit(), |a, b| [' ', a, ' ', b]);
    let spaced = space_pairs(&spaced, |a, b| a.is_ascii_digit() && b == '-', |a, b| [a, ' ', b, ' ']);
    let spaced: String = spaced.into_iter().collect();
    split_words(&spaced).map(str::to_owned).collect()
}

/// Words between [white space](is_space).
pub(crate) fn split_words(line: &str) -> impl Iterator<Item = &str> {
    line.split(is_space).filter(|word| !word.is_empty())
}

/// White space in Python's sense: Unicode's, and the four separators U+001C to U+001F.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// Sets every ASCII symbol apart, but for the apostrophe, the comma, the hyphen and the full stop.
fn space_symbols(line: &str) -> Vec<char> {
    let mut spaced = Vec::with_capacity(2 * line.len());
    for c in line.chars() {
        if matches!(c, '{'..='~' | '['..='`' | '!'..='&' | '('..='+' | ':'..='@' | '/') {
            spaced.extend([' ', c, ' ']);
        } else {
            spaced.push(c);
        }
    }
    spaced
}

fn is_stop(c: char) -> bool {
    matches!(c, '.' | ',')
}

/// Replaces every pair that `matches`, from left to right and without overlap.
fn space_pairs(
    line: &[char],
    matches: impl Fn(char, char) -> bool,
    replace: impl Fn(char, char) -> [char; 4],
) -> Vec<char> {
    let mut spaced = Vec::with_capacity(line.len() + line.len() / 4);
    let mut rest = line;
    while let Some((&a, after_a)) = rest.split_first() {
        match after_a.split_first() {
            Some((&b, after_b)) if matches(a, b) => {
                spaced.extend(replace(a, b));
                rest = after_b;
            }
            _ => {
                spaced.push(a);
                rest = after_a;
            }
        }
    }
    spaced
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(line: &str) -> String {
        tokenize_13a(line).join(" ")
    }

    /// What sacreBLEU 2.6.0's `Tokenizer13a` gives.
    #[test]
    fn equals_sacrebleu() {
        assert_eq!(
            joined("a..b,,c 3.14, 1,000. 5-6 a-b -7 7- x.5 5.x ...!?"),
            "a . . b , , c 3.14 , 1,000 . 5 - 6 a-b -7 7 - x . 5 5 . x . . . ! ?"
        );
        assert_eq!(
            joined("&quot;R&amp;lt;D&quot; it's <skipped>(a/b) [c] {d} ~`@#$%^&*_+=\\|"),
            "\" R < D \" it's ( a / b ) [ c ] { d } ~ ` @ # $ % ^ & * _ + = \\ |"
        );
        assert_eq!(joined("é.日,本 “q” 10\u{a0}km \u{2028}x\u{1c}y\tz"), "é . 日 , 本 “q” 10 km x y z");
        assert_eq!(joined("hyphen-\nated\nline"), "hyphenated line");
    }

    #[test]
    fn blank_lines_have_no_tokens() {
        assert_eq!(joined(""), "");
        assert_eq!(joined(" \t\u{a0}"), "");
    }
}
