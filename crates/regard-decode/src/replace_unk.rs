//! Unknown words of the output, copied from the source.

use regard_text::special_tokens::UNK;
use regard_text::{Pipeline, Tokenizer};

use crate::alignment::strongest;

/// Puts the source word with the largest weight in the place of each `<unk>`; one that looks at no source token stays.
pub(crate) fn replace_unknown(
    tokens: &mut [String],
    ids: &[u32],
    attention: &[Vec<f32>],
    source: &Pipeline,
    source_tokens: &[String],
) {
    for ((token, &id), row) in tokens.iter_mut().zip(ids).zip(attention) {
        if id == UNK
            && let Some(word) = strongest(row).and_then(|place| word_around(source, source_tokens, place))
        {
            *token = word;
        }
    }
}

/// The whole word that a token is, or is a piece of.
fn word_around(source: &Pipeline, tokens: &[String], place: usize) -> Option<String> {
    let continues = |token: &String| matches!(source.tokenizer, Tokenizer::Bpe(_)) && token.ends_with("@@");
    let (before, after) = tokens.split_at_checked(place)?;
    let start = before.iter().rposition(|token| !continues(token)).map_or(0, |last| last + 1);
    let end = after.iter().position(|token| !continues(token))? + place;
    tokens.get(start..=end).map(|word| source.detokenize(word))
}

#[cfg(test)]
mod tests {
    use regard_text::{Bpe, Normalizer};

    use super::*;

    fn strings(tokens: &[&str]) -> Vec<String> {
        tokens.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn pieces_give_their_word() {
        let bpe = Tokenizer::Bpe(Bpe::from_merges(Vec::new()));
        let source = Pipeline::build(Normalizer::None, bpe, ["x"], None, 1);
        let tokens = strings(&["a@@", "b", "c", "d@@", "e@@", "f"]);
        let words: Vec<_> = (0..7).map(|place| word_around(&source, &tokens, place)).collect();
        let expected = [Some("ab"), Some("ab"), Some("c"), Some("def"), Some("def"), Some("def"), None];
        assert_eq!(words, expected.map(|word| word.map(str::to_owned)));
    }

    #[test]
    fn only_unknown_tokens_change() {
        let source = Pipeline::build(Normalizer::None, Tokenizer::Word, ["x"], None, 1);
        let mut tokens = strings(&["le", "<unk>", "<unk>"]);
        let attention = [vec![0.9, 0.1, 0.0], vec![0.1, 0.2, 0.7], vec![0.0, 0.0, 1.0]];
        replace_unknown(&mut tokens, &[7, UNK, UNK], &attention, &source, &strings(&["the@@", "zzqq"]));
        assert_eq!(tokens, ["le", "zzqq", "<unk>"]);
    }
}
