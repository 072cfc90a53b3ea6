//! The files of a pipeline.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Pipeline, typed};
use crate::corpus::read_utf8;
use crate::error::TextError;
use crate::moses::Moses;
use crate::normalizer::Normalizer;
use crate::preparation::Preparation;
use crate::special_tokens::SPECIAL_TOKENS;
#[cfg(feature = "huggingface")]
use crate::tokenizer::HuggingFace;
use crate::tokenizer::{Bpe, SentencePiece, Tokenizer};
use crate::vocabulary::Vocabulary;

/// The content of `STEM.tokenizer.json`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenizerFile {
    kind: Kind,
    normalizer: Normalizer,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    moses: Option<Moses>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    lowercase: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    /// BPE: what is never cut.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    glossaries: Vec<String>,
    /// BPE: whether `STEM.pieces.txt` has the only pieces that may come about.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    has_pieces: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Word,
    Character,
    Bpe,
    SentencePiece,
    #[cfg(feature = "huggingface")]
    HuggingFace,
}

impl Pipeline {
    /// Writes `STEM.tokenizer.json`, `STEM.vocab.txt` and, for BPE, `STEM.bpe` and where there are any `STEM.pieces.txt`,
    /// for SentencePiece `STEM.spm`, for Hugging Face `STEM.huggingface.json`; returns their names in that order.
    ///
    /// # Errors
    /// [`TextError::Write`].
    pub fn save(&self, dir: impl AsRef<Path>, stem: &str) -> Result<Vec<String>, TextError> {
        let dir = dir.as_ref();
        let FileNames { settings, vocabulary, codes, pieces, sentencepiece: spm, .. } = FileNames::new(stem);
        let mut file = TokenizerFile {
            kind: Kind::Word,
            normalizer: self.preparation.normalizer,
            moses: self.preparation.moses,
            lowercase: self.preparation.lowercase,
            tags: self.tags.clone(),
            glossaries: Vec::new(),
            has_pieces: false,
        };
        let mut written = vec![settings.clone(), vocabulary.clone()];
        match &self.tokenizer {
            Tokenizer::Word => {}
            Tokenizer::Character => file.kind = Kind::Character,
            Tokenizer::Bpe(bpe) => {
                file.kind = Kind::Bpe;
                file.glossaries = bpe.glossaries().to_vec();
                bpe.write(dir.join(&codes))?;
                written.push(codes);
                if let Some(allowed) = bpe.vocabulary() {
                    file.has_pieces = true;
                    write(&dir.join(&pieces), &(allowed.join("\n") + "\n"))?;
                    written.push(pieces);
                }
            }
            Tokenizer::SentencePiece(sentencepiece) => {
                file.kind = Kind::SentencePiece;
                sentencepiece.write(dir.join(&spm))?;
                written.push(spm);
            }
            #[cfg(feature = "huggingface")]
            Tokenizer::HuggingFace(model) => {
                file.kind = Kind::HuggingFace;
                let name = FileNames::new(stem).hugging_face;
                model.write(dir.join(&name))?;
                written.push(name);
            }
        }
        let path = dir.join(&settings);
        let json = serde_json::to_string_pretty(&file)
            .map_err(|error| TextError::Write { file: path.display().to_string(), source: error.into() })?;
        write(&path, &(json + "\n"))?;
        self.vocabulary.write(dir.join(&vocabulary))?;
        Ok(written)
    }

    /// Reads what [`save`](Self::save) wrote.
    ///
    /// # Errors
    /// The errors of each file, by its name; [`TextError::BadTokenizer`] for settings that are not known.
    pub fn load(dir: impl AsRef<Path>, stem: &str) -> Result<Self, TextError> {
        let dir = dir.as_ref();
        let names = FileNames::new(stem);
        let path = dir.join(names.settings);
        let bad = |problem: String| TextError::BadTokenizer { file: path.display().to_string(), problem };
        let file: TokenizerFile =
            serde_json::from_str(&read_utf8(&path)?).map_err(|error| bad(error.to_string()))?;
        let tokenizer = match file.kind {
            Kind::Word => Tokenizer::Word,
            Kind::Character => Tokenizer::Character,
            Kind::Bpe => {
                let mut bpe = Bpe::read(dir.join(names.codes))?.with_glossaries(file.glossaries)?;
                if file.has_pieces {
                    let pieces = read_utf8(&dir.join(names.pieces))?;
                    let allowed = pieces.split('\n').filter(|piece| !piece.is_empty());
                    bpe = bpe.with_vocabulary(allowed.map(str::to_owned));
                }
                Tokenizer::Bpe(bpe)
            }
            Kind::SentencePiece => {
                Tokenizer::SentencePiece(SentencePiece::read(dir.join(names.sentencepiece))?)
            }
            #[cfg(feature = "huggingface")]
            Kind::HuggingFace => Tokenizer::HuggingFace(HuggingFace::read(dir.join(names.hugging_face))?),
        };
        for tag in &file.tags {
            typed::check_tag(tag)?;
        }
        let vocabulary = Vocabulary::read(dir.join(names.vocabulary))?;
        let tokens = vocabulary.tokens().skip(SPECIAL_TOKENS.len()).take(file.tags.len());
        if !tokens.eq(file.tags.iter().map(String::as_str)) {
            return Err(bad("its tags are not the ones that the vocabulary begins with".to_owned()));
        }
        let preparation =
            Preparation { normalizer: file.normalizer, moses: file.moses, lowercase: file.lowercase };
        Ok(Self { preparation, tokenizer, vocabulary, tags: file.tags })
    }
}

fn write(path: &Path, text: &str) -> Result<(), TextError> {
    fs::write(path, text).map_err(|source| TextError::Write { file: path.display().to_string(), source })
}

/// The names of the files of one side.
struct FileNames {
    settings: String,
    vocabulary: String,
    codes: String,
    pieces: String,
    sentencepiece: String,
    #[cfg(feature = "huggingface")]
    hugging_face: String,
}

impl FileNames {
    fn new(stem: &str) -> Self {
        let name = |end: &str| format!("{stem}.{end}");
        Self {
            settings: name("tokenizer.json"),
            vocabulary: name("vocab.txt"),
            codes: name("bpe"),
            pieces: name("pieces.txt"),
            sentencepiece: name("spm"),
            #[cfg(feature = "huggingface")]
            hugging_face: name("huggingface.json"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moses::MosesLanguage;
    use crate::special_tokens::UNK;

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
            assert_eq!(loaded.preparation.normalizer, Normalizer::Nfc);
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
    fn all_settings_come_back() {
        let dir = tempfile::tempdir().unwrap();
        let merges = [("l", "o"), ("lo", "w</w>")].map(|(left, right)| (left.to_owned(), right.to_owned()));
        let bpe = Bpe::from_merges(merges.to_vec())
            .with_vocabulary(["lo@@".to_owned(), "w".to_owned()])
            .with_glossaries(vec![r"\d+".to_owned()])
            .unwrap();
        let moses = Some(Moses { language: MosesLanguage::Fr, escape: true });
        let preparation = Preparation { moses, lowercase: true, ..Normalizer::None.into() };
        let pipeline = Pipeline::build(preparation, Tokenizer::Bpe(bpe), ["low x1934 </s>"], None, 1)
            .with_tags(["<2fr>".to_owned()])
            .unwrap();
        let files = pipeline.save(dir.path(), "source").unwrap();
        assert_eq!(files, ["source.tokenizer.json", "source.vocab.txt", "source.bpe", "source.pieces.txt"]);
        let loaded = Pipeline::load(dir.path(), "source").unwrap();
        assert_eq!(loaded.preparation, preparation);
        let (loaded, pipeline) = (loaded.pretokenized(), pipeline.pretokenized());
        let tokens = loaded.tokenize_tagged(pipeline.tags(), "LOW x1934 </s> <2fr>").unwrap();
        assert_eq!(tokens[..8], ["<2fr>", "lo@@", "w", "x@@", "1934", "<@@", "/@@", "s@@"]);
        assert_eq!(loaded.detokenize(&tokens), "low x1934 </s> <2fr>");
        assert_eq!(loaded.ids(&tokens), pipeline.ids(&tokens));

        let vocabulary = fs::read_to_string(dir.path().join("source.vocab.txt")).unwrap();
        fs::write(dir.path().join("source.vocab.txt"), vocabulary.replace("<2fr>", "<2de>")).unwrap();
        let message = Pipeline::load(dir.path(), "source").unwrap_err().to_string();
        assert!(message.contains("source.tokenizer.json: its tags are not"), "{message}");
    }

    #[test]
    fn unknown_settings_are_refused_by_file() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("target.tokenizer.json"), r#"{"kind":"magic","normalizer":"none"}"#)
            .unwrap();
        let message = Pipeline::load(dir.path(), "target").unwrap_err().to_string();
        assert!(message.contains("target.tokenizer.json: unknown variant `magic`"), "{message}");
    }
}
