//! Their vocabularies: SentencePiece models, YAML and JSON files that number tokens, and lists of tokens.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
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

/// A vocabulary that numbers more or fewer tokens than its model knows. `--dim-vocabs` may have asked Marian for either:
/// it cuts a longer list at that size and leaves the rows after a shorter one untrained. The archive has only the
/// resulting size, so that nothing tells this from the vocabulary of another model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherSize {
    /// The file.
    pub path: PathBuf,
    /// Its tokens: one more than the largest id.
    pub tokens: usize,
    /// The rows of the model's table.
    pub rows: usize,
}

impl Display for OtherSize {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let Self { path, tokens, rows } = self;
        let rest =
            if tokens < rows { "the other rows have no token" } else { "the other tokens are unknown" };
        write!(
            f,
            "{}: {tokens} tokens, and the model's table has {rows} rows: {rest}. This is right where --dim-vocabs was {rows}; \
             else it is another model's vocabulary",
            path.display()
        )
    }
}

/// The tokens of a side in the order of our vocabulary.
pub(super) struct Words {
    tokenizer: Tokenizer,
    /// All tokens that are text.
    text: Vec<String>,
    /// The row of their tables that each of our ids has; none for `<pad>` and `<s>`, which they do not have.
    pub(super) rows: Vec<Option<usize>>,
    /// Where the file has not as many tokens as the model.
    pub(super) other_size: Option<OtherSize>,
}

/// Tokens by their ids there, some of which may be free, and the two that mean something.
struct Numbered {
    tokens: Vec<Option<String>>,
    /// How many the file has.
    count: usize,
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
        let Numbered { tokens, count, end, unknown } = numbered.map_err(|problem| damaged(path, problem))?;
        let text = || (0..size).filter(|&id| id != end && id != unknown);
        // A model may have rows that its vocabulary does not fill; they have their share in probabilities.
        let name = |id: usize| tokens[id].clone().unwrap_or_else(|| format!("<unused-{id}>"));
        let rows = [None, Some(unknown), None, Some(end)].into_iter().chain(text().map(Some)).collect();
        let other_size =
            (count != size).then(|| OtherSize { path: path.to_owned(), tokens: count, rows: size });
        Ok(Self { tokenizer, text: text().map(name).collect(), rows, other_size })
    }

    /// The same tokens in the same places.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.text == other.text && self.rows == other.rows
    }

    pub(super) fn into_pipeline(self) -> Result<Pipeline> {
        Ok(Pipeline::new(Normalizer::None, self.tokenizer).with_text_tokens(self.text)?)
    }
}

/// The pieces of a model, which Marian neither cuts nor pads. Control pieces that mean nothing here are kept: they are
/// never in a text.
fn pieces(model: &SentencePiece, size: usize) -> std::result::Result<Numbered, String> {
    if model.len() != size {
        return Err(format!(
            "has {} pieces, and the model's table {size} rows: it is another model's",
            model.len()
        ));
    }
    let ids = 0..size;
    let kind = |id: usize| model.kind(id as u32);
    let unknown = ids.clone().find(|&id| kind(id) == Some(PieceKind::Unknown));
    let end = model.id(EOS_TOKEN).map(|id| id as usize).filter(|&id| kind(id) == Some(PieceKind::Control));
    let tokens: Vec<Option<String>> = ids.map(|id| model.piece(id as u32).map(str::to_owned)).collect();
    checked(tokens, size, end, unknown)
}

/// One token a line; like Marian it has no empty lines.
fn from_lines(text: &str, size: usize) -> std::result::Result<Numbered, String> {
    let lines: Vec<&str> = text.strip_suffix('\n').unwrap_or(text).split('\n').collect();
    let mut ids = BTreeMap::new();
    for (id, &line) in lines.iter().enumerate() {
        if line.is_empty() {
            return Err(format!("line {} is empty; a line is a token", id + 1));
        }
        if let Some(first) = ids.insert(line, id) {
            return Err(format!("line {} has the token of line {}, \"{line}\"", id + 1, first + 1));
        }
    }
    let (end, unknown) = (ids.get(EOS_TOKEN).copied(), ids.get(UNK_TOKEN).copied());
    let mut tokens: Vec<Option<String>> = lines.iter().map(|&line| Some(line.to_owned())).collect();
    tokens.resize(size, None);
    checked(tokens, lines.len(), end, unknown)
}

fn from_map(ids: &BTreeMap<String, usize>, size: usize) -> std::result::Result<Numbered, String> {
    let Some(largest) = ids.values().max() else { return Err("has no tokens".to_owned()) };
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
    checked(tokens, largest.saturating_add(1), end, unknown)
}

fn checked(
    tokens: Vec<Option<String>>,
    count: usize,
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
    Ok(Numbered { tokens, count, end, unknown })
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
