//! The pieces of a model: their text, score and kind, and the ways to find them.

use std::collections::HashMap;

use super::double_array::DoubleArray;
use super::normalization::SPACE;
use super::proto::{ModelProto, PieceProto, TrainerProto, kind};

/// Longer pieces are refused, as SentencePiece does.
const MAX_PIECE_BYTES: usize = 8000;

/// What a piece is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// A piece of text.
    Normal,
    /// Stands for all that no piece covers.
    Unknown,
    /// Steers a model; no text becomes it, and it becomes no text.
    Control,
    /// Wherever it stands in a text, it is one piece.
    UserDefined,
    /// One byte of what no other piece covers, `<0x00>` to `<0xFF>`.
    Byte,
    /// No text becomes it.
    Unused,
}

impl PieceKind {
    fn of(piece: &PieceProto) -> Self {
        match piece.kind() {
            kind::UNKNOWN => Self::Unknown,
            kind::CONTROL => Self::Control,
            kind::USER_DEFINED => Self::UserDefined,
            kind::BYTE => Self::Byte,
            kind::UNUSED => Self::Unused,
            // A number that the format does not know reads as the default.
            _ => Self::Normal,
        }
    }

    fn is_text(self) -> bool {
        matches!(self, Self::Normal | Self::UserDefined | Self::Unused)
    }
}

/// The pieces of a model, checked.
#[derive(Clone, Debug)]
pub(super) struct Pieces {
    texts: Vec<Box<str>>,
    scores: Vec<f32>,
    kinds: Vec<PieceKind>,
    /// Pieces of text, those that are not used too.
    trie: DoubleArray,
    /// Unknown, control and byte pieces.
    reserved: HashMap<Box<str>, u32>,
    unknown: u32,
    bytes: Option<Box<[u32; 256]>>,
    words_apart: bool,
}

impl Pieces {
    pub(super) fn new(proto: &mut ModelProto) -> Result<Self, String> {
        let byte_fallback = proto.trainer.as_ref().is_some_and(TrainerProto::byte_fallback);
        let kinds: Vec<PieceKind> = proto.pieces.iter().map(PieceKind::of).collect();
        let scores: Vec<f32> = proto.pieces.iter().map(PieceProto::score).collect();
        let texts: Vec<Box<str>> =
            proto.pieces.drain(..).map(|piece| piece.piece.unwrap_or_default().into()).collect();
        for ((id, text), score) in texts.iter().enumerate().zip(&scores) {
            check(text, *score).map_err(|problem| format!("piece {id} {problem}"))?;
        }
        let mut sorted = Vec::new();
        let mut reserved: HashMap<Box<str>, u32> = HashMap::new();
        for ((id, text), kind) in (0u32..).zip(&texts).zip(&kinds) {
            if kind.is_text() {
                sorted.push((text.as_bytes(), id));
            } else if reserved.insert(text.clone(), id).is_some() {
                return Err(format!("`{text}` is there twice"));
            }
        }
        sorted.sort_unstable();
        let doubled = sorted.iter().zip(sorted.iter().skip(1)).find(|(one, next)| one.0 == next.0);
        if let Some(((text, _), _)) = doubled {
            return Err(format!("`{}` is there twice", String::from_utf8_lossy(text)));
        }
        let trie = DoubleArray::build(&sorted);
        let bytes = byte_ids(&texts, &kinds, byte_fallback)?;
        let holds_space =
            |text: &str| text.char_indices().skip(1).any(|(at, _)| text[at..].starts_with(SPACE));
        let words_apart = !texts.iter().zip(&kinds).any(|(text, kind)| kind.is_text() && holds_space(text));
        let unknown = the_unknown(&kinds)?;
        Ok(Self { texts, scores, kinds, trie, reserved, unknown, bytes, words_apart })
    }

    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    pub(super) fn text(&self, id: u32) -> Option<&str> {
        self.texts.get(id as usize).map(AsRef::as_ref)
    }

    #[inline]
    pub(super) fn score(&self, id: u32) -> f32 {
        self.scores.get(id as usize).copied().unwrap_or_default()
    }

    #[inline]
    pub(super) fn kind(&self, id: u32) -> Option<PieceKind> {
        self.kinds.get(id as usize).copied()
    }

    /// Scores of the normal pieces.
    pub(super) fn normal_scores(&self) -> impl Iterator<Item = f32> {
        let all = self.kinds.iter().zip(&self.scores);
        all.filter(|&(&kind, _)| kind == PieceKind::Normal).map(|(_, &score)| score)
    }

    pub(super) fn trie(&self) -> &DoubleArray {
        &self.trie
    }

    pub(super) fn unknown(&self) -> u32 {
        self.unknown
    }

    /// The ids of the 256 byte pieces, where the model falls back to bytes.
    pub(super) fn bytes(&self) -> Option<&[u32; 256]> {
        self.bytes.as_deref()
    }

    /// The id of a piece, control and byte pieces too; `None` for what is no piece.
    pub(super) fn id(&self, piece: &str) -> Option<u32> {
        self.reserved.get(piece).copied().or_else(|| self.trie.get(piece.as_bytes()))
    }

    pub(super) fn has_unused(&self) -> bool {
        self.kinds.contains(&PieceKind::Unused)
    }

    /// Whether no piece holds the mark of a space but at its start: words can then be merged one after the other.
    pub(super) fn words_apart(&self) -> bool {
        self.words_apart
    }

    /// The user-defined symbols, where there are any.
    pub(super) fn user_defined(&self) -> Option<DoubleArray> {
        let symbols = self.texts.iter().zip(&self.kinds).filter(|&(_, &kind)| kind == PieceKind::UserDefined);
        let mut keys: Vec<(&[u8], u32)> = symbols.map(|(text, _)| (text.as_bytes(), 0)).collect();
        keys.sort_unstable();
        (!keys.is_empty()).then(|| DoubleArray::build(&keys))
    }
}

fn check(text: &str, score: f32) -> Result<(), String> {
    match text {
        "" => Err("is empty".to_owned()),
        _ if text.contains('\0') => Err("holds a zero byte".to_owned()),
        _ if text.len() >= MAX_PIECE_BYTES => Err(format!("is longer than {MAX_PIECE_BYTES} bytes")),
        _ if !score.is_finite() => Err(format!("has the score {score}")),
        _ => Ok(()),
    }
}

fn the_unknown(kinds: &[PieceKind]) -> Result<u32, String> {
    let mut unknown = (0u32..).zip(kinds).filter(|&(_, &kind)| kind == PieceKind::Unknown);
    match (unknown.next(), unknown.next()) {
        (Some((id, _)), None) => Ok(id),
        (None, _) => Err("it has no piece for what is unknown".to_owned()),
        _ => Err("it has several pieces for what is unknown".to_owned()),
    }
}

fn byte_ids(
    texts: &[Box<str>],
    kinds: &[PieceKind],
    byte_fallback: bool,
) -> Result<Option<Box<[u32; 256]>>, String> {
    let mut ids: [Option<u32>; 256] = [None; 256];
    for ((id, text), _) in (0u32..).zip(texts).zip(kinds).filter(|&(_, &kind)| kind == PieceKind::Byte) {
        let byte = byte_of(text).ok_or_else(|| format!("`{text}` is marked as a byte and is none"))?;
        ids[usize::from(byte)] = Some(id);
    }
    let complete = ids.iter().all(Option::is_some);
    match (byte_fallback, ids.iter().any(Option::is_some)) {
        (true, _) if complete => Ok(Some(Box::new(ids.map(Option::unwrap_or_default)))),
        (true, _) => Err("it falls back to bytes, and has not all 256 of them".to_owned()),
        (false, true) => Err("it has byte pieces, and does not fall back to bytes".to_owned()),
        (false, false) => Ok(None),
    }
}

/// The name of a byte piece.
pub(super) fn byte_piece(byte: u8) -> String {
    format!("<0x{byte:02X}>")
}

/// The byte that a piece names.
pub(super) fn byte_of(piece: &str) -> Option<u8> {
    let digits = piece.strip_prefix("<0x")?.strip_suffix('>')?;
    let byte = u8::from_str_radix(digits, 16).ok()?;
    (byte_piece(byte) == piece).then_some(byte)
}
