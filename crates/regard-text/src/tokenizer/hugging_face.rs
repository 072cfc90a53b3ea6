//! Tokenizers of Hugging Face: `tokenizer.json` through their own library.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use tokenizers::Decoder;

use super::Token;
use crate::corpus::read_utf8;
use crate::error::TextError;

/// A tokenizer read from a `tokenizer.json`.
///
/// No text becomes one of its special tokens, and it adds none: what is typed is text. Padding and truncation of the file
/// are not used. A line that the library cannot cut, for want of an unknown token, is one unknown token.
#[derive(Clone, Debug)]
pub struct HuggingFace {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// The file as it was read.
    json: String,
    tokenizer: tokenizers::Tokenizer,
    /// Tokens that text can become, in the order of their ids.
    tokens: Vec<String>,
    /// The unknown token and the special ones: no text is one of them.
    control: BTreeSet<u32>,
}

impl HuggingFace {
    /// Reads a `tokenizer.json`.
    ///
    /// # Errors
    /// [`TextError::Read`], [`TextError::InvalidUtf8`]; [`TextError::BadTokenizer`] for what is no such file.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, TextError> {
        let path = path.as_ref();
        Self::from_json(read_utf8(path)?, &path.display().to_string())
    }

    /// Reads the content of such a file; `name` stands for it in messages.
    ///
    /// # Errors
    /// [`TextError::BadTokenizer`].
    pub fn from_json(json: String, name: &str) -> Result<Self, TextError> {
        let bad = |problem: String| TextError::BadTokenizer { file: name.to_owned(), problem };
        let no_such_file =
            |problem: &dyn Display| bad(format!("no tokenizer.json of Hugging Face: {problem}"));
        // The library may panic on what is not JSON.
        let value: Value = serde_json::from_str(&json).map_err(|error| no_such_file(&error))?;
        let mut tokenizer = tokenizers::Tokenizer::from_bytes(&json).map_err(|error| no_such_file(&error))?;
        tokenizer.set_encode_special_tokens(true);
        tokenizer.with_truncation(None).map_err(|error| bad(error.to_string()))?;
        tokenizer.with_padding(None);
        let unknown = unknown_token(&value).and_then(|token| tokenizer.token_to_id(&token));
        let added = tokenizer.get_added_tokens_decoder();
        let special = added.iter().filter(|(_, token)| token.special).map(|(&id, _)| id);
        let control: BTreeSet<u32> = special.chain(unknown).collect();
        let mut tokens: Vec<(u32, String)> =
            tokenizer.get_vocab(true).into_iter().map(|(token, id)| (id, token)).collect();
        tokens.sort_unstable();
        let text = tokens.into_iter().filter(|(id, _)| !control.contains(id));
        let tokens = text.map(|(_, token)| token).collect();
        Ok(Self { inner: Arc::new(Inner { json, tokenizer, tokens, control }) })
    }

    /// Writes the file that was read, byte for byte.
    ///
    /// # Errors
    /// [`TextError::Write`].
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), TextError> {
        let path = path.as_ref();
        fs::write(path, &self.inner.json)
            .map_err(|source| TextError::Write { file: path.display().to_string(), source })
    }

    /// The tokens that text can become, in the order of the file's ids: neither special tokens nor the unknown one.
    #[must_use]
    pub fn tokens(&self) -> &[String] {
        &self.inner.tokens
    }

    /// The tokens of a line, each with the bytes that it stands for; what is unknown is the text itself.
    pub(super) fn segment(&self, line: &str) -> Vec<Token> {
        let inner = &*self.inner;
        let whole = || vec![Token::new(line, 0..line.len())];
        let Ok(encoding) = inner.tokenizer.encode(line, false) else { return whole() };
        let tokens = encoding.get_tokens().iter().zip(encoding.get_ids()).zip(encoding.get_offsets());
        let token = |((text, &id), &(start, end)): ((&String, &u32), &(usize, usize))| {
            let covered = line.get(start..end).unwrap_or_default();
            let control = inner.control.contains(&id);
            Token::new(if control { covered } else { text }, start..start + covered.len())
        };
        tokens.map(token).collect()
    }

    /// The line that tokens make.
    pub(super) fn join(&self, tokens: &[impl AsRef<str>]) -> String {
        let tokens: Vec<String> = tokens.iter().map(|token| token.as_ref().to_owned()).collect();
        match self.inner.tokenizer.get_decoder() {
            None => tokens.join(" "),
            Some(decoder) => decoder.decode(tokens.clone()).unwrap_or_else(|_| tokens.join(" ")),
        }
    }
}

/// The token for what is unknown, by name or by its place in a list of pieces.
fn unknown_token(file: &Value) -> Option<String> {
    let model = file.get("model")?;
    if let Some(token) = model.get("unk_token").and_then(Value::as_str) {
        return Some(token.to_owned());
    }
    let place = usize::try_from(model.get("unk_id")?.as_u64()?).ok()?;
    Some(model.get("vocab")?.get(place)?.get(0)?.as_str()?.to_owned())
}
