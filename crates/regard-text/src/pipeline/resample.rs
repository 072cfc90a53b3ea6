//! Ids cut anew by chance: a model that sees more than one way to cut a word learns what its parts mean.

use std::collections::BTreeMap;

use super::{Pipeline, typed};
use crate::special_tokens::{SPECIAL_TOKENS, UNK};
use crate::tokenizer::{Bpe, SampleOptions, SentencePiece, Tokenizer};

impl Pipeline {
    /// The ids of the same text, cut by chance: BPE-dropout (Provilkov et al. 2020) or subword regularisation (Kudo 2018).
    /// They depend on the ids, the options and the key alone. Tags stay; a word with something unknown stays, and so does
    /// one that would become unknown.
    #[must_use]
    pub fn resample(&self, ids: &[u32], options: SampleOptions, key: u64) -> Vec<u32> {
        let tags = ids.iter().take_while(|&&id| self.is_tag(id)).count();
        let (tags, text) = ids.split_at(tags);
        let text = match (&self.tokenizer, options) {
            (Tokenizer::Bpe(bpe), SampleOptions::Dropout(dropout)) => {
                self.resample_words(bpe, text, dropout, key)
            }
            (Tokenizer::SentencePiece(model), options) => self.resample_pieces(model, text, options, key),
            _ => text.to_vec(),
        };
        [tags, &text].concat()
    }

    /// How often each token occurs in lines of raw text that BPE-dropout has cut, each line with a key of its own. A
    /// vocabulary needs these tokens too; other tokenizers have none.
    pub fn count_drawn_tokens(
        &self,
        lines: impl IntoIterator<Item = impl AsRef<str>>,
        dropout: f64,
    ) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        let Tokenizer::Bpe(bpe) = &self.tokenizer else { return counts };
        for (line, key) in lines.into_iter().zip(0..) {
            for token in bpe.sample(&self.preparation.prepare(line.as_ref()), dropout, key) {
                *counts.entry(typed::escape(token, &self.tags)).or_default() += 1;
            }
        }
        counts
    }

    fn is_tag(&self, id: u32) -> bool {
        let first = SPECIAL_TOKENS.len();
        (first..first + self.tags.len()).contains(&(id as usize))
    }

    fn resample_words(&self, bpe: &Bpe, ids: &[u32], dropout: f64, key: u64) -> Vec<u32> {
        let tokens = self.tokens_of(ids);
        let mut resampled = Vec::with_capacity(ids.len());
        let mut start = 0;
        for end in 1..=ids.len() {
            let is_last = tokens.get(end - 1).is_none_or(|token| !Bpe::continues(token));
            if !is_last && end < ids.len() {
                continue;
            }
            let (Some(word), Some(known)) = (tokens.get(start..end), ids.get(start..end)) else { break };
            let key = key.wrapping_add((start as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let drawn = if known.contains(&UNK) {
                Vec::new()
            } else {
                bpe.sample(&self.prepared_text(word), dropout, key)
            };
            resampled.extend(self.known_ids(drawn).unwrap_or_else(|| known.to_vec()));
            start = end;
        }
        resampled
    }

    fn resample_pieces(
        &self,
        model: &SentencePiece,
        ids: &[u32],
        options: SampleOptions,
        key: u64,
    ) -> Vec<u32> {
        if ids.contains(&UNK) {
            return ids.to_vec();
        }
        let text = self.prepared_text(&self.tokens_of(ids));
        let drawn = model.sample(&text, options, key).into_iter().map(|token| token.piece).collect();
        self.known_ids(drawn).unwrap_or_else(|| ids.to_vec())
    }

    /// The text that tokens were cut from: after it was prepared, so Moses' tokens stay apart.
    fn prepared_text(&self, tokens: &[String]) -> String {
        let text: Vec<&str> = tokens.iter().map(|token| typed::unescape(token, &self.tags)).collect();
        self.tokenizer.detokenize(&text)
    }

    /// The ids of tokens of text, if there are some and all are known.
    fn known_ids(&self, tokens: Vec<String>) -> Option<Vec<u32>> {
        let tokens: Vec<String> = tokens.into_iter().map(|token| typed::escape(token, &self.tags)).collect();
        let ids = self.ids(&tokens);
        (!ids.is_empty() && !ids.contains(&UNK)).then_some(ids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moses::{Moses, MosesLanguage};
    use crate::normalizer::Normalizer;
    use crate::preparation::Preparation;
    use crate::tokenizer::{SentencePieceAlgorithm, SentencePieceConfig};

    const LINES: [&str; 4] = ["low lower lowest", "new newer newest", "</s> low newer", "wide wider widest"];

    fn check(pipeline: &Pipeline, options: SampleOptions, lines: &[&str]) {
        let tag = ["<2fr>".to_owned()];
        let mut changed = 0;
        for &line in lines {
            let ids = pipeline.encode_tagged(&tag, line).unwrap();
            assert!(!ids.contains(&UNK), "{line}");
            for key in 0..40 {
                let drawn = pipeline.resample(&ids, options, key);
                assert_eq!(drawn, pipeline.resample(&ids, options, key));
                assert_eq!(drawn[0], ids[0]);
                assert_eq!(pipeline.detokenize(&pipeline.tokens_of(&drawn)), line);
                changed += usize::from(drawn != ids);
            }
            assert_eq!(pipeline.resample(&[7, UNK, 8], options, 3).len(), 3);
        }
        assert!(changed > 40, "{changed}");
    }

    #[test]
    fn the_text_stays() {
        let bpe = Tokenizer::Bpe(Bpe::learn(LINES.iter().chain(&LINES), 20, 2));
        let letters = "l@@ o@@ w@@ e@@ s@@ t@@ n@@ i@@ d@@ r@@ <@@ /@@ > e r t w s o d";
        let pipeline = Pipeline::new(Normalizer::None, bpe);
        let counts = pipeline.count_tokens(LINES).into_iter();
        let counts = counts.chain(letters.split(' ').map(|piece| (piece.to_owned(), 1)));
        let vocabulary = crate::Vocabulary::from_counts(counts, None, 1);
        let pipeline = pipeline.with_vocabulary(vocabulary).with_tags(["<2fr>".to_owned()]).unwrap();
        check(&pipeline, SampleOptions::Dropout(0.3), &LINES);

        for (algorithm, vocabulary_size, options) in [
            (SentencePieceAlgorithm::Bpe, 32, SampleOptions::Dropout(0.3)),
            (SentencePieceAlgorithm::Unigram, 21, SampleOptions::All { alpha: 0.2 }),
        ] {
            let config = SentencePieceConfig {
                algorithm,
                vocabulary_size,
                character_coverage: 1.0,
                ..SentencePieceConfig::default()
            };
            let model = SentencePiece::train(LINES, &config, 1, &mut |_| {}).unwrap();
            let pipeline = Pipeline::from_model(Normalizer::None, Tokenizer::SentencePiece(model)).unwrap();
            // Sampling sees the text as it was prepared: nothing is drawn, so nothing changes.
            let moses = Some(Moses { language: MosesLanguage::En, escape: false });
            let wrapped =
                Pipeline { preparation: Preparation { moses, ..Preparation::default() }, ..pipeline.clone() };
            let ids = wrapped.encode("low, lower. (new)");
            assert_eq!(wrapped.resample(&ids, SampleOptions::Dropout(0.0), 1), ids);
            // The trainer leaves out the names of control pieces.
            let lines: Vec<&str> = LINES.into_iter().filter(|line| !line.contains("</s>")).collect();
            check(&pipeline.with_tags(["<2fr>".to_owned()]).unwrap(), options, &lines);
        }
    }
}
