//! Their vocabularies: SentencePiece models, YAML and JSON files that number tokens, and lists of tokens.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use regard_text::special_tokens::{EOS_TOKEN, UNK_TOKEN};
use regard_text::{Normalizer, PieceKind, Pipeline, SentencePiece, Tokenizer};

use super::damaged;
use super::options::Options;
use super::yaml::{self, Value};
use crate::error::{ModelError, Result};

/// The two vocabularies that the files beside a model name.
pub(super) fn beside(model: &Path) -> Result<[PathBuf; 2]> {
    let unnamed = || {
        damaged(
            model,
            "has no .decoder.yml or .yml beside it that names two vocabularies; name them (--vocabs)".into(),
        )
    };
    for end in ["decoder.yml", "yml"] {
        let path = PathBuf::from(format!("{}.{end}", model.display()));
        if !path.exists() {
            continue;
        }
        let options = Options::parse(&path, &read_text(&path)?);
        let options = options
            .map_err(|problem| damaged(&path, format!("{problem}; name the vocabularies (--vocabs)")))?;
        let [source, target] = options.list("vocabs") else { return Err(unnamed()) };
        return Ok([source, target].map(|name| place(&path, name)));
    }
    Err(unnamed())
}

/// Where a file is that a configuration names: where it says, else beside the configuration.
fn place(configuration: &Path, name: &str) -> PathBuf {
    let directory = configuration.parent().unwrap_or(Path::new(""));
    let named = directory.join(name);
    let last = Path::new(name).file_name().map(|last| directory.join(last));
    match last {
        Some(last) if !named.exists() => last,
        _ => named,
    }
}

/// The tokens of a side in the order of our vocabulary.
pub(super) struct Words {
    tokenizer: Tokenizer,
    /// All tokens that are text.
    text: Vec<String>,
    /// The row of their tables that each of our ids has; none for `<pad>` and `<s>`, which they do not have.
    pub(super) rows: Vec<Option<usize>>,
}

/// Tokens by their ids there, some of which may be free, and the two that mean something.
struct Numbered {
    tokens: Vec<Option<String>>,
    end: usize,
    unknown: usize,
}

impl Words {
    /// Reads a vocabulary of which a model knows the first `size` ids.
    pub(super) fn read(path: &Path, size: usize) -> Result<Self> {
        let (tokenizer, numbered) = match path.extension().and_then(|extension| extension.to_str()) {
            Some("spm") => {
                let model = SentencePiece::read(path)?;
                let numbered = pieces(&model, size);
                (Tokenizer::SentencePiece(model), numbered)
            }
            Some("yml" | "yaml" | "json") => (Tokenizer::Word, from_map(&read_map(path)?, size)),
            _ => (Tokenizer::Word, from_lines(&read_text(path)?, size)),
        };
        let Numbered { tokens, end, unknown } = numbered.map_err(|problem| damaged(path, problem))?;
        let text = || (0..size).filter(|&id| id != end && id != unknown);
        // A model may have rows that its vocabulary does not fill; they have their share in probabilities.
        let name = |id: usize| tokens[id].clone().unwrap_or_else(|| format!("<unused-{id}>"));
        let rows = [None, Some(unknown), None, Some(end)].into_iter().chain(text().map(Some)).collect();
        Ok(Self { tokenizer, text: text().map(name).collect(), rows })
    }

    /// The same tokens in the same places.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.text == other.text && self.rows == other.rows
    }

    pub(super) fn into_pipeline(self) -> Result<Pipeline> {
        Ok(Pipeline::new(Normalizer::None, self.tokenizer).with_text_tokens(self.text)?)
    }
}

/// The pieces of a model. Control pieces that mean nothing here are kept: they are never in a text.
fn pieces(model: &SentencePiece, size: usize) -> std::result::Result<Numbered, String> {
    let ids = 0..size.min(model.len());
    let kind = |id: usize| model.kind(id as u32);
    let unknown = ids.clone().find(|&id| kind(id) == Some(PieceKind::Unknown));
    let end = model.id(EOS_TOKEN).map(|id| id as usize).filter(|&id| kind(id) == Some(PieceKind::Control));
    let mut tokens: Vec<Option<String>> = ids.map(|id| model.piece(id as u32).map(str::to_owned)).collect();
    tokens.resize(size, None);
    checked(tokens, end, unknown)
}

fn from_lines(text: &str, size: usize) -> std::result::Result<Numbered, String> {
    let lines = text.strip_suffix('\n').unwrap_or(text).split('\n');
    let mut tokens: Vec<Option<String>> = lines.take(size).map(|line| Some(line.to_owned())).collect();
    tokens.resize(size, None);
    let id = |token: &str| tokens.iter().position(|found| found.as_deref() == Some(token));
    let (end, unknown) = (id(EOS_TOKEN), id(UNK_TOKEN));
    checked(tokens, end, unknown)
}

fn from_map(ids: &BTreeMap<String, usize>, size: usize) -> std::result::Result<Numbered, String> {
    let mut tokens = vec![None; size];
    for (token, &id) in ids {
        let Some(place) = tokens.get_mut(id) else { continue };
        if let Some(first) = place.replace(token.clone()) {
            return Err(format!("has two tokens with the id {id}, \"{first}\" and \"{token}\""));
        }
    }
    // Nematus left the first two ids free, or called them so.
    let special = |token: &str, id: usize, nematus: &str| match tokens.get(id) {
        Some(None) => Some(id),
        Some(Some(found)) if found == nematus => Some(id),
        _ => ids.get(token).copied(),
    };
    let (end, unknown) = (special(EOS_TOKEN, 0, "eos"), special(UNK_TOKEN, 1, "UNK"));
    checked(tokens, end, unknown)
}

fn checked(
    tokens: Vec<Option<String>>,
    end: Option<usize>,
    unknown: Option<usize>,
) -> std::result::Result<Numbered, String> {
    let inside = |id: Option<usize>, token| {
        let id = id.filter(|&id| id < tokens.len());
        id.ok_or_else(|| format!("has no {token} among the {} tokens that the model knows", tokens.len()))
    };
    let (end, unknown) = (inside(end, EOS_TOKEN)?, inside(unknown, UNK_TOKEN)?);
    if end == unknown {
        return Err(format!("has one id for {EOS_TOKEN} and {UNK_TOKEN}"));
    }
    Ok(Numbered { tokens, end, unknown })
}

/// The ids of tokens in a YAML or JSON file; Nematus' YAML files are JSON.
fn read_map(path: &Path) -> Result<BTreeMap<String, usize>> {
    let text = read_text(path)?;
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(&text).map_err(|error| damaged(path, error.to_string()));
    }
    let number = |(token, value): (String, Value)| {
        let id = if let Value::Scalar(id) = &value { id.parse().ok() } else { None };
        id.map(|id| (token.clone(), id))
            .ok_or_else(|| damaged(path, format!("the value of \"{token}\" is not an id")))
    };
    let mapping = yaml::mapping(&text).map_err(|problem| damaged(path, problem))?;
    mapping.into_iter().map(number).collect()
}

fn read_text(path: &Path) -> Result<String> {
    let bytes = fs::read(path).map_err(|source| ModelError::Io { path: path.to_owned(), source })?;
    String::from_utf8(bytes).map_err(|_| damaged(path, "is not UTF-8".into()))
}
