//! The tokenizer of tercom, as sacreBLEU applies it.

use super::TerOptions;
use crate::tokenizer::spacing::{
    is_space, space_ascii_symbols, space_characters, space_stops_and_dashes, split_words, unescape,
};

impl TerOptions {
    /// The words of a line that TER moves and compares.
    #[must_use]
    pub fn tokenize(&self, line: &str) -> Vec<String> {
        let line = line.trim_end_matches(is_space);
        let mut line = if self.case_sensitive { line.to_owned() } else { line.to_lowercase() };
        if self.normalized && !line.is_empty() {
            line = normalize(&line);
            if self.asian_support {
                line = space_characters(&line, |c| is_asian(c) || is_asian_punctuation(c));
            }
        }
        if self.no_punct {
            line.retain(|c| !matches!(c, '.' | ',' | '?' | ':' | ';' | '!' | '"' | '(' | ')'));
            if self.asian_support {
                line.retain(|c| !is_asian_punctuation(c));
            }
        }
        split_words(&line).map(str::to_owned).collect()
    }

    /// The words of a reference. sacreBLEU puts references through the tokenizer twice, and normalisation finds more the
    /// second time where white space other than a space follows `'s`.
    pub(super) fn tokenize_reference(self, line: &str) -> Vec<String> {
        let words = self.tokenize(line);
        if self.normalized { self.tokenize(&words.join(" ")) } else { words }
    }
}

/// Sets apart ASCII symbols, the possessive `'s`, and stops and dashes as `13a` does.
fn normalize(line: &str) -> String {
    let line = line.replace("\n-", "").replace('\n', " ");
    let spaced = space_ascii_symbols(&format!(" {} ", unescape(&line)));
    space_stops_and_dashes(&spaced.replace("'s ", " 's "))
}

/// Ideographs, strokes, radicals, enclosed letters and compatibility forms: the blocks that are split into characters.
/// Kana is not among them: the rule for it only ever holds for a line of nothing else, which the padding prevents.
fn is_asian(c: char) -> bool {
    matches!(c,
        '\u{2e80}'..='\u{2eff}' | '\u{31c0}'..='\u{31ef}' | '\u{3200}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe4f}'
    )
}

fn is_asian_punctuation(c: char) -> bool {
    matches!(c,
        '\u{3001}' | '\u{3002}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}' | '\u{30fb}'
        | '\u{ff61}'..='\u{ff65}'
        | '\u{ff0e}' | '\u{ff0c}' | '\u{ff1f}' | '\u{ff1a}' | '\u{ff1b}' | '\u{ff01}' | '\u{ff02}' | '\u{ff08}'
        | '\u{ff09}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(options: TerOptions, line: &str) -> String {
        options.tokenize(line).join(" ")
    }

    const LINE: &str = "John's \"Cats'\" (2-3) cost 1,000.50, &amp; 東京は日本。「はい」 ㈱ Ａ！";

    /// What sacreBLEU 2.6.0's `TercomTokenizer` gives.
    #[test]
    fn equals_sacrebleu() {
        let normalized = TerOptions { normalized: true, ..TerOptions::default() };
        let asian = TerOptions { asian_support: true, ..normalized };
        let bare = TerOptions { no_punct: true, ..asian };
        let no_punct = TerOptions { no_punct: true, case_sensitive: true, ..TerOptions::default() };
        assert_eq!(joined(TerOptions::default(), LINE), TOKENS[0]);
        assert_eq!(joined(normalized, LINE), TOKENS[1]);
        assert_eq!(joined(asian, LINE), TOKENS[2]);
        assert_eq!(joined(bare, LINE), TOKENS[3]);
        assert_eq!(joined(no_punct, LINE), TOKENS[4]);
        assert_eq!(joined(asian, ""), "");
        assert_eq!(normalized.tokenize("it's\u{a0}so"), ["it's", "so"]);
        assert_eq!(normalized.tokenize_reference("it's\u{a0}so"), ["it", "'s", "so"]);
    }

    const TOKENS: [&str; 5] = [
        "john's \"cats'\" (2-3) cost 1,000.50, &amp; 東京は日本。「はい」 ㈱ ａ！",
        "john 's \" cats' \" ( 2 - 3 ) cost 1,000.50 , & 東京は日本。「はい」 ㈱ ａ！",
        "john 's \" cats' \" ( 2 - 3 ) cost 1,000.50 , & 東 京 は 日 本 。 「 はい 」 ㈱ ａ ！",
        "john 's cats' 2 - 3 cost 100050 & 東 京 は 日 本 はい ㈱ ａ",
        "John's Cats' 2-3 cost 100050 &amp 東京は日本。「はい」 ㈱ Ａ！",
    ];
}
