//! How a line becomes the tokens that BLEU counts.

mod chinese;
mod international;
pub(crate) mod spacing;
mod thirteen_a;

pub use thirteen_a::tokenize_13a;

use crate::error::EvalError;
use spacing::{is_space, split_words};
use std::str::FromStr;

/// sacreBLEU's tokenizers for BLEU, but for those that need a dictionary or a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BleuTokenizer {
    /// `13a`, for text as people write it: [`tokenize_13a`].
    #[default]
    ThirteenA,
    /// `none`: the words between white space, for text that is tokenised already.
    None,
    /// `intl`: punctuation and symbols of all scripts are tokens.
    International,
    /// `char`: every character that is no white space is a token.
    Character,
    /// `zh`: every Chinese character is a token, other text is cut as by `13a`.
    Chinese,
}

impl BleuTokenizer {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::ThirteenA, Self::None, Self::International, Self::Character, Self::Chinese];

    /// The name in signatures and on the command line: `13a`, `none`, `intl`, `char` or `zh`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ThirteenA => "13a",
            Self::None => "none",
            Self::International => "intl",
            Self::Character => "char",
            Self::Chinese => "zh",
        }
    }

    /// The tokens of a line.
    ///
    /// ```
    /// use regard_eval::BleuTokenizer;
    ///
    /// assert_eq!(BleuTokenizer::International.tokenize("“3,5 km”"), ["“3,5", "km", "”"]);
    /// assert_eq!(BleuTokenizer::Chinese.tokenize("我有GPU 2块。"), ["我", "有", "GPU", "2", "块", "。"]);
    /// ```
    #[must_use]
    pub fn tokenize(self, line: &str) -> Vec<String> {
        // White space at the end goes first, so that a hyphen before a line end stays what it is.
        let line = line.trim_end_matches(is_space);
        let words = |line: &str| split_words(line).map(str::to_owned).collect();
        match self {
            Self::ThirteenA => tokenize_13a(line),
            Self::None => words(line),
            Self::International => words(&international::space_international(line)),
            Self::Character => line.chars().filter(|&c| !is_space(c)).map(String::from).collect(),
            Self::Chinese => words(&chinese::space_chinese(line)),
        }
    }
}

impl FromStr for BleuTokenizer {
    type Err = EvalError;

    /// Finds a tokenizer by its [name](Self::name). Those for Japanese and Korean are refused with a reason.
    fn from_str(name: &str) -> Result<Self, EvalError> {
        if let "ja" | "ko" | "ja-mecab" | "ko-mecab" = name {
            return Err(EvalError::NeedsMecab(name.to_owned()));
        }
        let found = Self::ALL.into_iter().find(|tokenizer| tokenizer.name() == name);
        found.ok_or_else(|| EvalError::UnknownTokenizer(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(tokenizer: BleuTokenizer, line: &str) -> String {
        tokenizer.tokenize(line).join(" ")
    }

    /// What sacreBLEU 2.6.0's tokenizers give.
    #[test]
    fn equal_sacrebleu() {
        let line = "«Ça, c'est 3.14€—ok»… ½-2. 我們「買」了2,000台PC.x 2021. ";
        let intl = "« Ça , c ' est 3.14 € — ok » … ½-2 . 我們 「 買 」 了2,000台PC . x 2021.";
        assert_eq!(joined(BleuTokenizer::International, line), intl);
        let zh = "«Ça , c'est 3.14 € — ok» … ½-2 . 我 們 「 買 」 了 2,000 台 PC . x 2021.";
        assert_eq!(joined(BleuTokenizer::Chinese, line), zh);
        assert_eq!(joined(BleuTokenizer::Character, " é\u{301} 日本\u{2028}ab"), "é \u{301} 日 本 a b");
        assert_eq!(joined(BleuTokenizer::None, " a,b  c.\u{3000}d "), "a,b c. d");
    }

    #[test]
    fn names() {
        for tokenizer in BleuTokenizer::ALL {
            assert_eq!(tokenizer.name().parse(), Ok(tokenizer));
        }
        let refused = "ja-mecab".parse::<BleuTokenizer>().unwrap_err().to_string();
        assert!(refused.contains("MeCab") && refused.contains("none"), "{refused}");
        assert_eq!("spm".parse::<BleuTokenizer>(), Err(EvalError::UnknownTokenizer("spm".into())));
    }
}
