//! The `13a` tokenizer of the WMT evaluations (mteval-v13a), as sacreBLEU applies it.

use super::spacing::{space_ascii_symbols, space_stops_and_dashes, split_words, unescape};

/// Splits `line` into the tokens over which `13a` BLEU counts its n-grams.
///
/// ```
/// assert_eq!(regard_eval::tokenize_13a("It's 3.14, right?"), ["It's", "3.14", ",", "right", "?"]);
/// ```
#[must_use]
pub fn tokenize_13a(line: &str) -> Vec<String> {
    let line = line.replace("<skipped>", "").replace("-\n", "").replace('\n', " ");
    let spaced = space_ascii_symbols(&format!(" {} ", unescape(&line)));
    split_words(&space_stops_and_dashes(&spaced)).map(str::to_owned).collect()
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
