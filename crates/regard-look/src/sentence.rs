//! A sentence as a model reads it.

use regard_decode::{MAX_SOURCE_TOKENS, Translator};
use regard_text::special_tokens::{EOS, EOS_TOKEN, UNK};
use regard_text::{Padded, Pipeline, Token};

use crate::error::{LookError, Result};

/// A source sentence.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// Its tokens, the end symbol not included.
    pub(crate) tokens: Vec<Token>,
    /// Their ids.
    pub(crate) ids: Vec<u32>,
    /// The number of tokens, where not all were read.
    pub(crate) cut_from: Option<usize>,
}

impl Source {
    /// Reads a line as the translator does.
    pub(crate) fn read(translator: &Translator, text: &str) -> Result<Self> {
        let mut tokens = translator.tokenize(text);
        if tokens.is_empty() {
            return Err(LookError::Nothing);
        }
        let cut_from = (tokens.len() > MAX_SOURCE_TOKENS).then_some(tokens.len());
        tokens.truncate(MAX_SOURCE_TOKENS);
        let texts: Vec<String> = tokens.iter().map(|token| token.text.clone()).collect();
        let ids = translator.source().ids(&texts);
        Ok(Self { tokens, ids, cut_from })
    }

    /// The end symbol included.
    pub(crate) fn positions(&self) -> usize {
        self.ids.len() + 1
    }

    /// A batch of this sentence.
    pub(crate) fn padded(&self) -> Padded {
        Padded::from_sentences(std::iter::once(self.ids.as_slice()))
    }

    /// The tokens as text, the end symbol included.
    pub(crate) fn labels(&self) -> Vec<String> {
        let texts = self.tokens.iter().map(|token| token.text.clone());
        texts.chain([EOS_TOKEN.to_owned()]).collect()
    }

    /// The places of tokens that the model does not know: it has read `<unk>` there.
    pub(crate) fn unknown(&self) -> Vec<usize> {
        unknown(&self.ids)
    }
}

/// A target as the model writes it.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// The ids, the end symbol included where it was written.
    pub(crate) ids: Vec<u32>,
    /// What they are called.
    pub(crate) labels: Vec<String>,
    /// The places of tokens of a given text that the model does not know.
    pub(crate) unknown: Vec<usize>,
    /// The text.
    pub(crate) text: String,
}

impl Target {
    /// A given text, with the end symbol after it.
    pub(crate) fn given(pipeline: &Pipeline, text: &str) -> Self {
        let mut labels = pipeline.tokenize(text);
        labels.truncate(MAX_SOURCE_TOKENS);
        let mut ids = pipeline.ids(&labels);
        let unknown = unknown(&ids);
        ids.push(EOS);
        labels.push(EOS_TOKEN.to_owned());
        Self { ids, labels, unknown, text: text.to_owned() }
    }
}

fn unknown(ids: &[u32]) -> Vec<usize> {
    (0..ids.len()).filter(|&place| ids[place] == UNK).collect()
}
