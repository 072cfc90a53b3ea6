//! Unknown words of the output, copied from the source.

use regard_text::special_tokens::UNK;
use regard_text::{Pipeline, Token, Tokenizer};

use crate::alignment::strongest;

/// Where words are copied from.
pub(crate) struct Copied<'a> {
    pub(crate) line: &'a str,
    pub(crate) tokens: &'a [Token],
    pub(crate) pipeline: &'a Pipeline,
}

/// Puts the source word with the largest weight in the place of each `<unk>`, as it was typed; one that looks at no source
/// token stays.
pub(crate) fn replace_unknown(tokens: &mut [String], ids: &[u32], attention: &[Vec<f32>], source: &Copied) {
    for ((token, &id), row) in tokens.iter_mut().zip(ids).zip(attention) {
        if id == UNK
            && let Some(word) = strongest(row).and_then(|place| source.word_around(place))
        {
            word.clone_into(token);
        }
    }
}

impl Copied<'_> {
    /// The text of the word that a token is a piece of. Characters, and pieces that may be anywhere in a word, stand for
    /// themselves: the unknown that they replace is as small.
    fn word_around(&self, place: usize) -> Option<&str> {
        let token = self.tokens.get(place)?;
        let word = token.word?;
        let range = if matches!(self.pipeline.tokenizer, Tokenizer::Word | Tokenizer::Bpe(_)) {
            let mut pieces = self.tokens.iter().filter(|token| token.word == Some(word));
            let start = pieces.next()?.range.start;
            start..pieces.next_back().map_or(token.range.end, |last| last.range.end)
        } else {
            token.range.clone()
        };
        self.line.get(range).map(str::trim)
    }
}

#[cfg(test)]
mod tests {
    use regard_text::{Bpe, Normalizer, Preparation};

    use super::*;

    #[test]
    fn pieces_give_their_word_as_it_was_typed() {
        let bpe = Tokenizer::Bpe(Bpe::from_merges(Vec::new()));
        let preparation = Preparation { lowercase: true, ..Normalizer::None.into() };
        let pipeline = Pipeline::build(preparation, bpe, ["x"], None, 1);
        let line = "Ab  c DEF";
        let tokens = pipeline.tokenize_with_ranges(line);
        let source = Copied { line, tokens: &tokens, pipeline: &pipeline };
        let words: Vec<_> = (0..7).map(|place| source.word_around(place)).collect();
        assert_eq!(words, [Some("Ab"), Some("Ab"), Some("c"), Some("DEF"), Some("DEF"), Some("DEF"), None]);
    }

    #[test]
    fn only_unknown_tokens_change() {
        let pipeline = Pipeline::build(Normalizer::None, Tokenizer::Word, ["x"], None, 1);
        let tokens = pipeline.tokenize_with_ranges("the@@ zzqq");
        let source = Copied { line: "the@@ zzqq", tokens: &tokens, pipeline: &pipeline };
        let mut target = ["le", "<unk>", "<unk>"].map(str::to_owned);
        let attention = [vec![0.9, 0.1, 0.0], vec![0.1, 0.2, 0.7], vec![0.0, 0.0, 1.0]];
        replace_unknown(&mut target, &[7, UNK, UNK], &attention, &source);
        assert_eq!(target, ["le", "zzqq", "<unk>"]);
    }
}
