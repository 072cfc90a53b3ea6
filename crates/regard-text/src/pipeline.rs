//! One side of a model: normaliser, tokenizer and vocabulary together, and their files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::corpus::{is_blank, read_utf8};
use crate::error::TextError;
use crate::normalizer::Normalizer;
use crate::special_tokens::{SPECIAL_TOKENS, UNK, UNK_TOKEN, is_special};
use crate::tokenizer::{Bpe, PieceKind, SentencePiece, Tokenizer};
use crate::vocabulary::Vocabulary;

/// Everything between a line of text and its ids.
///
/// ```
/// use regard_text::{Normalizer, Pipeline, Tokenizer, special_tokens::UNK};
/// let lines = ["the black cat", "the red chair"];
/// let pipeline = Pipeline::build(Normalizer::None, Tokenizer::Word, lines, None, 1);
/// let ids = pipeline.encode("the red dog </s>");
/// assert_eq!(ids, [4, 8, UNK, UNK]); // what is typed is text, never a control symbol
/// assert_eq!(pipeline.detokenize(&pipeline.tokens_of(&ids[..2])), "the red");
/// ```
#[derive(Clone, Debug)]
pub struct Pipeline {
    /// Applied to a line first.
    pub normalizer: Normalizer,
    /// Cuts the normalised line.
    pub tokenizer: Tokenizer,
    /// Numbers the tokens.
    pub vocabulary: Vocabulary,
}

/// The content of `STEM.tokenizer.json`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenizerFile {
    kind: Kind,
    normalizer: Normalizer,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Word,
    Character,
    Bpe,
    SentencePiece,
}

impl Pipeline {
    /// A pipeline whose vocabulary is counted from lines of raw text, as [`Vocabulary::from_counts`] does it.
    ///
    /// For a vocabulary that both sides share, chain the lines of both.
    pub fn build(
        normalizer: Normalizer,
        tokenizer: Tokenizer,
        lines: impl IntoIterator<Item = impl AsRef<str>>,
        max_size: Option<usize>,
        min_count: u64,
    ) -> Self {
        let mut pipeline =
            Self { normalizer, tokenizer, vocabulary: Vocabulary::from_counts([("", 0)], None, 1) };
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for line in lines {
            for token in pipeline.tokenize(line.as_ref()) {
                *counts.entry(token).or_default() += 1;
            }
        }
        pipeline.vocabulary = Vocabulary::from_counts(counts, max_size, min_count);
        pipeline
    }

    /// A pipeline whose vocabulary is that of a SentencePiece model: the four special tokens, then the pieces that text can
    /// become, byte pieces too, in the order of the file.
    ///
    /// The ids of the file are not the ids of the vocabulary. The file's own control and unknown pieces are not in it
    /// (what is unknown becomes [`UNK`]), and neither are pieces that are called like a special token or hold a line
    /// feed: text that becomes such a piece is [`UNK`].
    ///
    /// # Errors
    /// Never for a model that could be read.
    pub fn from_sentencepiece(normalizer: Normalizer, model: SentencePiece) -> Result<Self, TextError> {
        let is_text = |&id: &u32| {
            matches!(model.kind(id), Some(PieceKind::Normal | PieceKind::UserDefined | PieceKind::Byte))
        };
        let mut tokens: Vec<&str> = SPECIAL_TOKENS.to_vec();
        let mut seen: BTreeSet<&str> = tokens.iter().copied().collect();
        for piece in (0..model.len() as u32).filter(is_text).filter_map(|id| model.piece(id)) {
            if !piece.contains('\n') && seen.insert(piece) {
                tokens.push(piece);
            }
        }
        let vocabulary = Vocabulary::from_tokens(tokens.into_iter().map(str::to_owned).collect())?;
        Ok(Self { normalizer, tokenizer: Tokenizer::SentencePiece(model), vocabulary })
    }

    /// Normalises and cuts a line. A line of nothing but white space (Unicode's) has no tokens.
    #[must_use]
    pub fn tokenize(&self, line: &str) -> Vec<String> {
        if is_blank(line) {
            return Vec::new();
        }
        self.tokenizer.tokenize(&self.normalizer.normalize(line))
    }

    /// The ids of tokens of text, without BOS and EOS. Unknown tokens, and text that reads like a control symbol, become
    /// [`UNK`].
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

    /// The token of each id, one for one; an id outside the vocabulary reads `<unk>`.
    #[must_use]
    pub fn tokens_of(&self, ids: &[u32]) -> Vec<String> {
        ids.iter().map(|&id| self.vocabulary.token(id).unwrap_or(UNK_TOKEN).to_owned()).collect()
    }

    /// The line that tokens make. Control symbols are not dropped here: give it the words only.
    #[must_use]
    pub fn detokenize(&self, tokens: &[impl AsRef<str>]) -> String {
        self.tokenizer.detokenize(tokens)
    }

    /// Writes `STEM.tokenizer.json`, `STEM.vocab.txt` and, for BPE, `STEM.bpe`, for SentencePiece `STEM.spm`; returns their
    /// names in that order.
    ///
    /// # Errors
    /// [`TextError::Write`].
    pub fn save(&self, dir: impl AsRef<Path>, stem: &str) -> Result<Vec<String>, TextError> {
        let dir = dir.as_ref();
        let [settings, vocabulary, codes, model] = file_names(stem);
        let kind = match self.tokenizer {
            Tokenizer::Word => Kind::Word,
            Tokenizer::Character => Kind::Character,
            Tokenizer::Bpe(_) => Kind::Bpe,
            Tokenizer::SentencePiece(_) => Kind::SentencePiece,
        };
        let path = dir.join(&settings);
        let file = || path.display().to_string();
        let json = serde_json::to_string_pretty(&TokenizerFile { kind, normalizer: self.normalizer })
            .map_err(|error| TextError::Write { file: file(), source: error.into() })?;
        fs::write(&path, json + "\n").map_err(|source| TextError::Write { file: file(), source })?;
        self.vocabulary.write(dir.join(&vocabulary))?;
        let mut written = vec![settings, vocabulary];
        match &self.tokenizer {
            Tokenizer::Word | Tokenizer::Character => {}
            Tokenizer::Bpe(bpe) => {
                bpe.write(dir.join(&codes))?;
                written.push(codes);
            }
            Tokenizer::SentencePiece(sentencepiece) => {
                sentencepiece.write(dir.join(&model))?;
                written.push(model);
            }
        }
        Ok(written)
    }

    /// Reads what [`save`](Self::save) wrote.
    ///
    /// # Errors
    /// The errors of each file, by its name; [`TextError::BadTokenizer`] for settings that are not known.
    pub fn load(dir: impl AsRef<Path>, stem: &str) -> Result<Self, TextError> {
        let dir = dir.as_ref();
        let [settings, vocabulary, codes, model] = file_names(stem);
        let path = dir.join(settings);
        let TokenizerFile { kind, normalizer } =
            serde_json::from_str(&read_utf8(&path)?).map_err(|error| TextError::BadTokenizer {
                file: path.display().to_string(),
                problem: error.to_string(),
            })?;
        let tokenizer = match kind {
            Kind::Word => Tokenizer::Word,
            Kind::Character => Tokenizer::Character,
            Kind::Bpe => Tokenizer::Bpe(Bpe::read(dir.join(codes))?),
            Kind::SentencePiece => Tokenizer::SentencePiece(SentencePiece::read(dir.join(model))?),
        };
        Ok(Self { normalizer, tokenizer, vocabulary: Vocabulary::read(dir.join(vocabulary))? })
    }
}

fn file_names(stem: &str) -> [String; 4] {
    ["tokenizer.json", "vocab.txt", "bpe", "spm"].map(|end| format!("{stem}.{end}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_and_loaded() {
        let lines = ["low lower lowest low", "café ▁ @@"];
        let tokenizers = [Tokenizer::Word, Tokenizer::Character, Tokenizer::Bpe(Bpe::learn(lines, 5, 2))];
        for tokenizer in tokenizers {
            let dir = tempfile::tempdir().unwrap();
            let pipeline = Pipeline::build(Normalizer::Nfc, tokenizer, lines, None, 1);
            let files = pipeline.save(dir.path(), "source").unwrap();
            let loaded = Pipeline::load(dir.path(), "source").unwrap();
            assert_eq!(loaded.vocabulary, pipeline.vocabulary);
            assert_eq!(loaded.normalizer, Normalizer::Nfc);
            let ids = loaded.encode("low cafe\u{301} @@");
            assert_eq!(ids, pipeline.encode("low caf\u{e9} @@"));
            assert!(!ids.contains(&UNK));
            assert_eq!(loaded.detokenize(&loaded.tokens_of(&ids)), "low café @@");
            let mut found: Vec<String> = fs::read_dir(dir.path())
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            found.sort();
            let mut expected = files.clone();
            expected.sort();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn unknown_settings_are_refused_by_file() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("target.tokenizer.json"), r#"{"kind":"magic","normalizer":"none"}"#)
            .unwrap();
        let message = Pipeline::load(dir.path(), "target").unwrap_err().to_string();
        assert!(message.contains("target.tokenizer.json: unknown variant `magic`"), "{message}");
    }

    #[test]
    fn control_symbols_cannot_be_typed() {
        let line = "<pad> <unk> <s> </s> x";
        let word = Pipeline::build(Normalizer::None, Tokenizer::Word, [line], None, 1);
        assert_eq!(word.encode(line), [UNK, UNK, UNK, UNK, 4]);
        let bpe = Tokenizer::Bpe(Bpe::learn([line, line], 20, 1));
        let bpe = Pipeline::build(Normalizer::None, bpe, [line], None, 1);
        assert_eq!(bpe.tokenize(line), ["<pad>", "<unk>", "<s>", "</s>", "x"]);
        assert_eq!(bpe.encode(line), [UNK, UNK, UNK, UNK, 4]);
    }
}
