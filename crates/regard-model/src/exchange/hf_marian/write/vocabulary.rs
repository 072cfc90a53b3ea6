//! `vocab.json` and `target_vocab.json`: `</s>` and `<unk>` first, then language tokens and text, `<pad>` last.

use std::collections::BTreeSet;

use regard_text::Pipeline;
use regard_text::special_tokens::{BOS, EOS, EOS_TOKEN, PAD, PAD_TOKEN, SPECIAL_TOKENS, UNK, UNK_TOKEN};
use serde::{Serialize, Serializer};

use crate::checkpoint::ModelInfo;
use crate::config::TiedEmbeddings;
use crate::error::{ModelError, Result};

/// The id of `</s>` there.
pub(super) const END: usize = 0;

/// The vocabularies of both sides.
pub(super) struct Vocabularies {
    pub(super) source: Side,
    pub(super) target: Side,
    /// Each side has a vocabulary and a table of its own.
    pub(super) separate: bool,
    /// The id of `<pad>`, the same on both sides, since their configuration names one.
    pub(super) pad: usize,
}

impl Vocabularies {
    pub(super) fn new(info: &ModelInfo) -> Result<Self> {
        let separate = info.config.tied_embeddings() != TiedEmbeddings::All;
        if !separate && info.source.vocabulary != info.target.vocabulary {
            let problem = "model.tied_embeddings = \"all\", and the sides have different vocabularies";
            return Err(ModelError::Export(problem.to_owned()));
        }
        let (mut source, mut target) = (Side::new(&info.source)?, Side::new(&info.target)?);
        // The last place; of two vocabularies the last one that both have.
        let pad = source.len().min(target.len());
        source.insert_pad(pad, if separate { PAD } else { BOS });
        // What the decoder reads first: `<pad>` there, `<s>` here.
        target.insert_pad(pad, BOS);
        Ok(Self { source, target, separate, pad })
    }
}

/// The vocabulary of a side in their order. Serialised it is an object of tokens and their ids.
pub(super) struct Side {
    tokens: Vec<String>,
    /// Our id of each token, whose row it gets.
    pub(super) rows: Vec<usize>,
}

impl Side {
    fn new(pipeline: &Pipeline) -> Result<Self> {
        let special = [(EOS_TOKEN.to_owned(), EOS as usize), (UNK_TOKEN.to_owned(), UNK as usize)];
        let tags = pipeline.tags().iter().map(|tag| language_token(tag));
        let text = pipeline.text_tokens().map(str::to_owned);
        let ours = tags.chain(text).zip(SPECIAL_TOKENS.len()..);
        let (tokens, rows): (Vec<_>, Vec<_>) = special.into_iter().chain(ours).unzip();
        let mut seen = BTreeSet::from([PAD_TOKEN]);
        match tokens.iter().find(|token| !seen.insert(token)) {
            None => Ok(Self { tokens, rows }),
            Some(token) => {
                Err(ModelError::Export(format!("two of its tokens would be {token} in vocab.json")))
            }
        }
    }

    fn insert_pad(&mut self, place: usize, row: u32) {
        self.tokens.insert(place, PAD_TOKEN.to_owned());
        self.rows.insert(place, row as usize);
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }
}

impl Serialize for Side {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.tokens.iter().zip(0_usize..))
    }
}

/// `>>fra<<` for `<fra>`.
fn language_token(tag: &str) -> String {
    let name = tag.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).unwrap_or(tag);
    format!(">>{name}<<")
}
