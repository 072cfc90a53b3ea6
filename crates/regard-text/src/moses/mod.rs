//! Moses' tokenizer and detokenizer for English, French and German, as sacremoses 0.2 has them by default.
//!
//! ```text
//! line ─ separate ─ marks ─ periods ─ escape ─→ tokens        tokens ─ escape ─ detokenize ─→ line
//! ```

mod characters;
mod detokenize;
mod escape;
mod marks;
mod periods;
mod prefixes;
mod separate;
mod table;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use separate::Placed;

/// The languages whose rules for apostrophes, abbreviations and punctuation are known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MosesLanguage {
    /// English: `don't` is `don 't`.
    En,
    /// French: `l'eau` is `l' eau`.
    Fr,
    /// German: an apostrophe is a token of its own.
    De,
}

/// Moses' rules of one language: punctuation becomes tokens of its own, abbreviations and numbers stay whole.
///
/// What is lost for good: white space, control characters below U+0020, and the words `DOTMULTI`, `DOTDOTMULTI` and so
/// on, which become dots, since Moses uses these words itself.
///
/// ```
/// use regard_text::{Moses, MosesLanguage};
/// let moses = Moses { language: MosesLanguage::En, escape: true };
/// let tokens = moses.tokenize("Dr. Who's 1,000.5 [sic] dogs.");
/// assert_eq!(tokens, ["Dr.", "Who", "&apos;s", "1,000.5", "&#91;", "sic", "&#93;", "dogs", "."]);
/// assert_eq!(moses.detokenize(&tokens), "Dr. Who's 1,000.5 [sic] dogs.");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moses {
    /// Whose rules.
    pub language: MosesLanguage,
    /// Whether tokens hold `&amp; &#124; &lt; &gt; &apos; &quot; &#91; &#93;` for `& | < > ' " [ ]`, as Moses' own do.
    pub escape: bool,
}

impl Moses {
    /// The tokens of a line; none is empty or holds white space.
    #[must_use]
    pub fn tokenize(&self, line: &str) -> Vec<String> {
        self.tokenize_with_spans(line).into_iter().map(|(token, _)| token).collect()
    }

    /// The line that tokens make, without spaces at its ends.
    ///
    /// ` @-@ ` joins its neighbours with a hyphen, and where [`escape`](Self::escape) is on, entities become characters
    /// again, `&bar;`, `&bra;` and `&ket;` of older versions too.
    #[must_use]
    pub fn detokenize(&self, tokens: &[impl AsRef<str>]) -> String {
        let words: Vec<&str> = tokens.iter().map(AsRef::as_ref).collect();
        let mut text = format!(" {} ", words.join(" ")).replace(" @-@ ", "-");
        if self.escape {
            text = escape::unescape(&text);
        }
        detokenize::detokenize(&text, self.language)
    }

    /// The tokens of a line, each with the bytes of `line` that it comes from.
    ///
    /// Ranges ascend and do not overlap; white space is in none. A control character inside a word is in the word's
    /// range, though not in its token.
    #[must_use]
    pub fn tokenize_with_spans(&self, line: &str) -> Vec<(String, Range<usize>)> {
        let text = marks::separate(separate::separate(line), self.language);
        let words = periods::words(&text, self.language);
        words.into_iter().filter_map(|word| self.token(word)).collect()
    }

    fn token(self, word: &[Placed]) -> Option<(String, Range<usize>)> {
        let (&(_, start), &(last, at)) = (word.first()?, word.last()?);
        let token = escape::restore_dots(word.iter().map(|&(c, _)| c).collect());
        let token = if self.escape { escape::escape(&token) } else { token };
        Some((token, start..at + last.len_utf8()))
    }
}
