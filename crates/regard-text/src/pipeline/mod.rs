//! One side of a model: preparation, tokenizer and vocabulary together.

mod files;
mod resample;
mod typed;

use std::collections::{BTreeMap, BTreeSet};

use crate::corpus::is_blank;
use crate::error::TextError;
use crate::preparation::Preparation;
use crate::special_tokens::{SPECIAL_TOKENS, UNK, UNK_TOKEN, is_special};
use crate::tokenizer::{Token, Tokenizer};
use crate::vocabulary::Vocabulary;

/// Everything between a line of text and its ids.
///
/// What is typed is text: a token of a text that reads like a control symbol or a tag is written with a backslash before
/// it, in the vocabulary too, and comes back as typed.
///
/// ```
/// use regard_text::{Normalizer, Pipeline, Tokenizer, special_tokens::UNK};
/// let lines = ["the black cat", "the red </s>"];
/// let pipeline = Pipeline::build(Normalizer::None, Tokenizer::Word, lines, None, 1);
/// assert_eq!(pipeline.tokenize("red </s>"), ["red", "\\</s>"]);
/// let ids = pipeline.encode("the red dog </s>");
/// assert_eq!(ids, [4, 8, UNK, 5]);
/// assert_eq!(pipeline.detokenize(&pipeline.tokens_of(&[ids[1], ids[3]])), "red </s>");
/// ```
#[derive(Clone, Debug)]
pub struct Pipeline {
    /// Applied to a line first.
    pub preparation: Preparation,
    /// Cuts the prepared line.
    pub tokenizer: Tokenizer,
    /// Numbers the tokens.
    pub vocabulary: Vocabulary,
    tags: Vec<String>,
}

impl Pipeline {
    /// A pipeline whose vocabulary is counted from lines of raw text, as [`Vocabulary::from_counts`] does it.
    pub fn build(
        preparation: impl Into<Preparation>,
        tokenizer: Tokenizer,
        lines: impl IntoIterator<Item = impl AsRef<str>>,
        max_size: Option<usize>,
        min_count: u64,
    ) -> Self {
        let pipeline = Self::new(preparation, tokenizer);
        let vocabulary = Vocabulary::from_counts(pipeline.count_tokens(lines), max_size, min_count);
        pipeline.with_vocabulary(vocabulary)
    }

    /// A pipeline that knows no token yet.
    pub fn new(preparation: impl Into<Preparation>, tokenizer: Tokenizer) -> Self {
        let vocabulary = Vocabulary::from_counts([("", 0)], None, 1);
        Self { preparation: preparation.into(), tokenizer, vocabulary, tags: Vec::new() }
    }

    /// The same pipeline with another vocabulary and no tags. A vocabulary that both sides share is made of the counts of
    /// both.
    #[must_use]
    pub fn with_vocabulary(self, vocabulary: Vocabulary) -> Self {
        Self { vocabulary, tags: Vec::new(), ..self }
    }

    /// How often each token occurs in lines of raw text.
    pub fn count_tokens(&self, lines: impl IntoIterator<Item = impl AsRef<str>>) -> BTreeMap<String, u64> {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for line in lines {
            for token in self.tokenize(line.as_ref()) {
                *counts.entry(token).or_default() += 1;
            }
        }
        counts
    }

    /// A pipeline whose vocabulary is its tokenizer's own: the four special tokens, then what text can become, in the order
    /// of the file. A tokenizer without a vocabulary of its own leaves it empty.
    ///
    /// The ids of the file are not the ids of the vocabulary. The file's own control and unknown tokens are not in it
    /// (what is unknown becomes [`UNK`]), and neither are tokens that hold a line feed: text that becomes such a token is
    /// [`UNK`].
    ///
    /// # Errors
    /// Never for a model that could be read.
    pub fn from_model(preparation: impl Into<Preparation>, tokenizer: Tokenizer) -> Result<Self, TextError> {
        let mut tokens: Vec<String> = Vec::new();
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for token in tokenizer.own_tokens().unwrap_or_default() {
            if !token.is_empty() && !token.contains('\n') && seen.insert(token) {
                tokens.push(token.to_owned());
            }
        }
        Self::new(preparation, tokenizer).with_text_tokens(tokens)
    }

    /// The same pipeline with a vocabulary of the special tokens and then these tokens of text, in this order; and no tags.
    ///
    /// # Errors
    /// [`TextError::BadVocabulary`] for a token that is doubled, empty or holds a line feed.
    ///
    /// ```
    /// use regard_text::{Normalizer, Pipeline, Tokenizer};
    /// let tokens = ["cat", "</s>", "the"].map(str::to_owned);
    /// let pipeline = Pipeline::new(Normalizer::None, Tokenizer::Word).with_text_tokens(tokens)?;
    /// assert_eq!(pipeline.encode("the cat </s>"), [6, 4, 5]);
    /// # Ok::<(), regard_text::TextError>(())
    /// ```
    pub fn with_text_tokens(self, tokens: impl IntoIterator<Item = String>) -> Result<Self, TextError> {
        let special = SPECIAL_TOKENS.iter().map(ToString::to_string);
        let text = tokens.into_iter().map(|token| typed::escape(token, &[]));
        let vocabulary = Vocabulary::from_tokens(special.chain(text).collect())?;
        Ok(self.with_vocabulary(vocabulary))
    }

    /// The same pipeline with tags: tokens such as `<2fr>` that say what kind of text a line is or shall become. They are
    /// set by [`tokenize_tagged`](Self::tokenize_tagged), whatever the tokenizer, and never by typed text. Their ids are
    /// the ones after the special tokens, and the others move up.
    ///
    /// # Errors
    /// [`TextError::BadTag`] for what is not written `<…>`, holds a space, or is a special token.
    pub fn with_tags(mut self, tags: impl IntoIterator<Item = String>) -> Result<Self, TextError> {
        let text: Vec<String> = self.text_tokens().map(str::to_owned).collect();
        for tag in tags {
            typed::check_tag(&tag)?;
            if !self.tags.contains(&tag) {
                self.tags.push(tag);
            }
        }
        let special = SPECIAL_TOKENS.iter().map(ToString::to_string);
        let text = text.into_iter().map(|token| typed::escape(token, &self.tags));
        self.vocabulary =
            Vocabulary::from_tokens(special.chain(self.tags.iter().cloned()).chain(text).collect())?;
        Ok(self)
    }

    /// The same pipeline for text that has been through Moses' tokenizer already, which it neither applies nor undoes.
    #[must_use]
    pub fn pretokenized(mut self) -> Self {
        self.preparation.moses = None;
        self
    }

    /// The tags that may be set.
    #[must_use]
    pub fn tags(&self) -> &[String] {
        &self.tags
    }

    /// Refuses tags that may not be set.
    ///
    /// # Errors
    /// [`TextError::UnknownTag`].
    pub fn check_tags(&self, tags: &[String]) -> Result<(), TextError> {
        match tags.iter().find(|tag| !self.tags.contains(tag)) {
            None => Ok(()),
            Some(tag) => Err(TextError::UnknownTag { tag: tag.clone(), known: self.tags.join(" ") }),
        }
    }

    /// The tokens of text in the order of the vocabulary, as they are typed. They follow the special tokens and the tags.
    pub fn text_tokens(&self) -> impl Iterator<Item = &str> {
        let text = self.vocabulary.tokens().skip(SPECIAL_TOKENS.len() + self.tags.len());
        text.map(|token| typed::unescape(token, &self.tags))
    }

    /// Prepares and cuts a line. A line of nothing but white space (Unicode's) has no tokens.
    #[must_use]
    pub fn tokenize(&self, line: &str) -> Vec<String> {
        if is_blank(line) {
            return Vec::new();
        }
        let tokens = self.tokenizer.tokenize(&self.preparation.prepare(line));
        tokens.into_iter().map(|token| typed::escape(token, &self.tags)).collect()
    }

    /// Tags, then the tokens of a line; a blank line has none of either.
    ///
    /// # Errors
    /// [`TextError::UnknownTag`].
    pub fn tokenize_tagged(&self, tags: &[String], line: &str) -> Result<Vec<String>, TextError> {
        self.check_tags(tags)?;
        let mut tokens = self.tokenize(line);
        if !tokens.is_empty() {
            tokens.splice(0..0, tags.iter().cloned());
        }
        Ok(tokens)
    }

    /// The tokens of a line, each with the bytes of the line and the word that it stands for.
    ///
    /// ```
    /// use regard_text::{Normalizer, Pipeline, Tokenizer};
    /// let pipeline = Pipeline::build(Normalizer::Nfc, Tokenizer::Word, ["x"], None, 1);
    /// let line = "Ein  Cafe\u{301}";
    /// let token = &pipeline.tokenize_with_ranges(line)[1];
    /// assert_eq!((token.text.as_str(), &line[token.range.clone()]), ("Caf\u{e9}", "Cafe\u{301}"));
    /// ```
    #[must_use]
    pub fn tokenize_with_ranges(&self, line: &str) -> Vec<Token> {
        if is_blank(line) {
            return Vec::new();
        }
        let prepared = self.preparation.prepare_with_offsets(line);
        let token = |token: Token| Token {
            text: typed::escape(token.text, &self.tags),
            range: prepared.original(token.range),
            word: token.word,
        };
        self.tokenizer.tokenize_with_ranges(&prepared.text).into_iter().map(token).collect()
    }

    /// The word that each token of an output belongs to, from 0, counted as in [`Token::word`]; none for tags.
    ///
    /// ```
    /// use regard_text::{Bpe, Normalizer, Pipeline, Tokenizer};
    /// let bpe = Tokenizer::Bpe(Bpe::from_merges(Vec::new()));
    /// let pipeline = Pipeline::build(Normalizer::None, bpe, ["le chat"], None, 1);
    /// let tokens = pipeline.tokenize("le chat");
    /// assert_eq!(pipeline.words_of(&tokens), [0, 0, 1, 1, 1, 1].map(Some));
    /// ```
    #[must_use]
    pub fn words_of(&self, tokens: &[impl AsRef<str>]) -> Vec<Option<usize>> {
        let is_tag = |token: &str| self.tags.iter().any(|tag| tag == token);
        let mut text: Vec<&str> = Vec::with_capacity(tokens.len());
        let mut words = Vec::with_capacity(tokens.len());
        for token in tokens.iter().map(AsRef::as_ref) {
            if is_tag(token) {
                words.push(None);
                continue;
            }
            text.push(typed::unescape(token, &self.tags));
            // How many words there are up to here; a mark of a space before the first one begins none.
            let until = self.tokenizer.detokenize(&text).split_whitespace().count();
            words.push(Some(until.saturating_sub(1)));
        }
        words
    }

    /// The ids of tokens, without BOS and EOS. Unknown tokens, and control symbols, become [`UNK`].
    #[must_use]
    pub fn ids(&self, tokens: &[impl AsRef<str>]) -> Vec<u32> {
        let id = |token: &str| self.vocabulary.id(token).filter(|&id| !is_special(id)).unwrap_or(UNK);
        tokens.iter().map(|token| id(token.as_ref())).collect()
    }

    /// Line → ids: [`tokenize`](Self::tokenize), then [`ids`](Self::ids).
    #[must_use]
    pub fn encode(&self, line: &str) -> Vec<u32> {
        self.ids(&self.tokenize(line))
    }

    /// Line → ids: [`tokenize_tagged`](Self::tokenize_tagged), then [`ids`](Self::ids).
    ///
    /// # Errors
    /// [`TextError::UnknownTag`].
    pub fn encode_tagged(&self, tags: &[String], line: &str) -> Result<Vec<u32>, TextError> {
        Ok(self.ids(&self.tokenize_tagged(tags, line)?))
    }

    /// The token of each id, one for one; an id outside the vocabulary reads `<unk>`.
    #[must_use]
    pub fn tokens_of(&self, ids: &[u32]) -> Vec<String> {
        ids.iter().map(|&id| self.vocabulary.token(id).unwrap_or(UNK_TOKEN).to_owned()).collect()
    }

    /// The line that tokens make. Tags make none. Control symbols are not dropped here: give it the words only.
    #[must_use]
    pub fn detokenize(&self, tokens: &[impl AsRef<str>]) -> String {
        let text = tokens.iter().map(AsRef::as_ref).filter(|token| !self.tags.iter().any(|tag| tag == token));
        let text: Vec<&str> = text.map(|token| typed::unescape(token, &self.tags)).collect();
        self.preparation.undo(&self.tokenizer.detokenize(&text)).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::normalizer::Normalizer;
    use crate::tokenizer::Bpe;

    #[test]
    fn control_symbols_and_tags_cannot_be_typed_and_come_back() {
        let line = "<pad> <unk> <s> </s> \\</s> <2fr> x";
        let written = ["\\<pad>", "\\<unk>", "\\<s>", "\\</s>", "\\\\</s>", "\\<2fr>", "x"];
        for tokenizer in [Tokenizer::Word, Tokenizer::Bpe(Bpe::learn([line, line], 50, 1))] {
            let pipeline = Pipeline::build(Normalizer::None, tokenizer, [line], None, 1)
                .with_tags(["<2fr>".to_owned()])
                .unwrap();
            assert_eq!(pipeline.tokenize(line), written);
            let ids = pipeline.encode(line);
            assert!(ids.iter().all(|&id| id > 4), "{ids:?}");
            assert_eq!(pipeline.detokenize(&pipeline.tokens_of(&ids)), line);

            let tags = ["<2fr>".to_owned()];
            assert_eq!(pipeline.encode_tagged(&tags, line).unwrap()[0], 4);
            assert_eq!(pipeline.detokenize(&pipeline.tokenize_tagged(&tags, "x").unwrap()), "x");
            assert!(pipeline.encode_tagged(&tags, " ").unwrap().is_empty());
            let message = pipeline.encode_tagged(&["<2de>".to_owned()], "x").unwrap_err().to_string();
            assert!(message.contains("`<2de>` is not one of the model's: <2fr>"), "{message}");
        }
    }

    proptest! {
        #[test]
        fn tokens_know_their_bytes(line in "[aAé\u{301} \u{a0}@▁<s>/]{0,14}|\\PC{0,14}") {
            let bpe = || Bpe::learn(["aa aé <s> <s>"], 9, 1);
            for tokenizer in [Tokenizer::Word, Tokenizer::Character, Tokenizer::Bpe(bpe())] {
                let preparation = Preparation { lowercase: true, ..Normalizer::Nfkc.into() };
                let pipeline = Pipeline::build(preparation, tokenizer, [""], None, 1);
                let tokens = pipeline.tokenize_with_ranges(&line);
                let texts: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
                prop_assert_eq!(texts, pipeline.tokenize(&line));
                let mut end = 0;
                for token in &tokens {
                    prop_assert!(line.get(token.range.clone()).is_some_and(|text| !text.is_empty()));
                    prop_assert!(token.range.start <= end.max(token.range.start) && token.range.end >= end);
                    // Nothing but white space stands between tokens.
                    let between = line.get(end..token.range.start.max(end));
                    prop_assert!(between.is_some_and(is_blank));
                    end = token.range.end;
                }
                prop_assert!(line.get(end..).is_some_and(is_blank));
            }
        }
    }
}
