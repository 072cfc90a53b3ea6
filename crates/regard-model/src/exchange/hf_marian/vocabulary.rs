//! `vocab.json`: the pieces of both SentencePiece models, in an order of its own.

use std::collections::BTreeMap;
use std::path::Path;

use regard_text::special_tokens::{EOS_TOKEN, PAD_TOKEN, SPECIAL_TOKENS, UNK_TOKEN};

use super::config::Settings;
use super::{damaged, read_json};
use crate::error::Result;

/// The tokens of a side in the order of our vocabulary: special tokens, tags, text.
pub(super) struct Pieces {
    /// The language tokens, `>>fra<<` there and `<fra>` here.
    pub(super) tags: Vec<String>,
    /// All tokens that are text.
    pub(super) text: Vec<String>,
    /// The row of their tables that each of our ids has; `<s>` has one that another id has too.
    pub(super) rows: Vec<usize>,
    /// The rows of their tables.
    pub(super) size: usize,
}

impl Pieces {
    /// Reads a file; `start` is what `<s>` becomes, `<pad>` where it is not named.
    pub(super) fn read(path: &Path, settings: &Settings, start: Option<u32>) -> Result<Self> {
        let ids: BTreeMap<String, u32> = read_json(path)?;
        let mut tokens: Vec<(u32, String)> = ids.iter().map(|(token, &id)| (id, token.clone())).collect();
        tokens.sort_unstable();
        if let Some((place, _)) = (0u32..).zip(&tokens).find(|(place, (id, _))| place != id) {
            let problem = format!("has {} tokens, but none or several with the id {place}", tokens.len());
            return Err(damaged(path, problem));
        }
        let id =
            |token: &str| ids.get(token).copied().ok_or_else(|| damaged(path, format!("has no {token}")));
        let (pad, unknown, end) = (id(PAD_TOKEN)?, id(UNK_TOKEN)?, id(EOS_TOKEN)?);
        let start = start.unwrap_or(pad);
        if settings.end != end {
            let problem = format!("eos_token_id = {} is not the id of {EOS_TOKEN}, {end}", settings.end);
            return Err(damaged(&settings.path, problem));
        }
        if start as usize >= tokens.len() {
            let problem = format!("decoder_start_token_id = {start} is none of {} tokens", tokens.len());
            return Err(damaged(&settings.path, problem));
        }
        let mut rows = [pad, unknown, start, end].map(|id| id as usize).to_vec();
        let size = tokens.len();
        tokens.retain(|&(id, _)| ![pad, unknown, end].contains(&id));
        let (tags, text): (Vec<_>, Vec<_>) = tokens.into_iter().partition(|(_, token)| tag(token).is_some());
        rows.extend(tags.iter().chain(&text).map(|&(id, _)| id as usize));
        Ok(Self {
            tags: tags.iter().filter_map(|(_, token)| tag(token)).collect(),
            text: text.into_iter().map(|(_, token)| token).collect(),
            rows,
            size,
        })
    }
}

/// The tag that a language token becomes, where it is one and can be written so.
fn tag(token: &str) -> Option<String> {
    let name = token.strip_prefix(">>")?.strip_suffix("<<")?;
    let fits = !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || "<>".contains(c));
    Some(format!("<{name}>")).filter(|tag| fits && !SPECIAL_TOKENS.contains(&tag.as_str()))
}

#[cfg(test)]
mod tests {
    use super::tag;

    #[test]
    fn language_tokens_become_tags() {
        assert_eq!(tag(">>cmn_Hans<<").as_deref(), Some("<cmn_Hans>"));
        for token in [">>fra", "fra", ">><<", ">>a b<<", ">>s<<", "<fra>"] {
            assert_eq!(tag(token), None, "{token}");
        }
    }
}
