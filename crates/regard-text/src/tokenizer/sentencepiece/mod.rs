//! SentencePiece: pieces of raw text, with the spaces in them.
//!
//! Kudo and Richardson, "SentencePiece: A simple and language independent subword tokenizer and detokenizer for Neural
//! Text Processing", EMNLP 2018. `.model` files of the package are read, and those that are trained here can be read by
//! it. A text is normalised (rules of the file, white space, a mark `▁` for every space and one before the first word),
//! then cut by the file's algorithm: unigram, BPE, words or characters.

mod bpe;
mod charsmap;
mod decode;
mod double_array;
mod lattice;
mod nbest;
mod normalization;
mod pieces;
mod proto;
mod sample;
mod train;
mod unigram;
mod units;

use std::fs::{self, File};
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use prost::Message;

use crate::error::TextError;
use lattice::Lattice;
use normalization::{Normalization, Normalized};
use pieces::{Pieces, byte_piece};
use proto::{ModelProto, algorithm};
use unigram::Unigram;

pub use pieces::PieceKind;
pub use sample::SampleOptions;
pub use train::{
    SentencePieceAlgorithm, SentencePieceConfig, SentencePieceNormalization, SentencePieceProgress,
};

/// Larger files are no models: the largest that are known have some ten MiB.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// A SentencePiece model.
///
/// ```
/// use regard_text::{SentencePiece, SentencePieceAlgorithm, SentencePieceConfig};
/// let algorithm = SentencePieceAlgorithm::Bpe;
/// let config = SentencePieceConfig { algorithm, vocabulary_size: 14, ..SentencePieceConfig::default() };
/// let model = SentencePiece::train(["the cat", "the hat", "that cat"], &config, 1, &mut |_| {})?;
/// let tokens = model.segment("that  hat");
/// assert_eq!(tokens[0].piece.chars().next(), Some('▁'));
/// assert_eq!(tokens.last().unwrap().range.end, 9);
/// assert_eq!(model.decode(&model.encode("that  hat")), "that hat");
/// # Ok::<(), regard_text::TextError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SentencePiece {
    inner: Arc<Inner>,
}

/// What copies of a model share.
#[derive(Debug)]
struct Inner {
    /// The file as it was read, with all that is not used here.
    file: Vec<u8>,
    pieces: Pieces,
    algorithm: Algorithm,
    normalization: Normalization,
    denormalization: Option<Normalization>,
    unknown_surface: String,
}

#[derive(Debug)]
enum Algorithm {
    Unigram(Unigram),
    Bpe,
    Word,
    Character,
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentencePieceToken {
    /// The piece; where it is unknown, the normalised text that it stands for.
    pub piece: String,
    /// Its number in the file.
    pub id: u32,
    /// The bytes of the original text that it covers. It is empty for a `▁` that was put in, and for all byte pieces of a
    /// character but the last.
    pub range: Range<usize>,
}

/// A segmentation and its score, a sum of log-probabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredSegmentation {
    /// The pieces.
    pub tokens: Vec<SentencePieceToken>,
    /// The score.
    pub score: f32,
}

/// A stretch of the normalised text, from the end of the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    end: usize,
    id: u32,
}

impl SentencePiece {
    /// Reads a `.model` or `.spm` file.
    ///
    /// # Errors
    /// [`TextError::Read`]; [`TextError::BadModel`] for a file that is cut, damaged or of another format.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, TextError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes))
            .map_err(|source| TextError::Read { file: name.clone(), line: 0, source })?;
        Self::from_bytes(bytes, &name)
    }

    /// Reads the content of such a file; `name` stands for it in messages.
    ///
    /// # Errors
    /// [`TextError::BadModel`].
    pub fn from_bytes(file: Vec<u8>, name: &str) -> Result<Self, TextError> {
        let bad = |problem: String| TextError::BadModel { file: name.to_owned(), problem };
        if file.len() as u64 > MAX_FILE_BYTES {
            return Err(bad(format!("it has more than {MAX_FILE_BYTES} bytes")));
        }
        let proto = ModelProto::decode(file.as_slice()).map_err(|error| bad(error.to_string()))?;
        Self::from_proto(proto, file).map_err(bad)
    }

    fn from_proto(mut proto: ModelProto, file: Vec<u8>) -> Result<Self, String> {
        let pieces = Pieces::new(&mut proto)?;
        let trainer = proto.trainer.unwrap_or_default();
        let algorithm = match trainer.algorithm() {
            algorithm::UNIGRAM => Algorithm::Unigram(Unigram::new(&pieces)),
            algorithm::BPE => Algorithm::Bpe,
            algorithm::WORD => Algorithm::Word,
            algorithm::CHAR => Algorithm::Character,
            other => return Err(format!("its algorithm has the number {other}, which is not known")),
        };
        let normalizer = proto.normalizer.unwrap_or_default();
        let denormalizer = proto.denormalizer.filter(|spec| !spec.charsmap().is_empty());
        let inner = Inner {
            file,
            algorithm,
            normalization: Normalization::new(
                &normalizer,
                trainer.whitespace_as_suffix(),
                pieces.user_defined(),
            )?,
            denormalization: denormalizer.map(|spec| Normalization::new(&spec, false, None)).transpose()?,
            unknown_surface: trainer.unknown_surface().to_owned(),
            pieces,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Writes the file that was read or trained, byte for byte.
    ///
    /// # Errors
    /// [`TextError::Write`].
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), TextError> {
        let path = path.as_ref();
        fs::write(path, &self.inner.file)
            .map_err(|source| TextError::Write { file: path.display().to_string(), source })
    }

    /// Number of pieces, control pieces included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.pieces.len()
    }

    /// Never true: there is a piece for what is unknown.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The piece of an id.
    #[must_use]
    pub fn piece(&self, id: u32) -> Option<&str> {
        self.inner.pieces.text(id)
    }

    /// What the piece of an id is for.
    #[must_use]
    pub fn kind(&self, id: u32) -> Option<PieceKind> {
        self.inner.pieces.kind(id)
    }

    /// The score of a piece: a log-probability (unigram), or minus the rank of its merge (BPE).
    #[must_use]
    pub fn score(&self, id: u32) -> Option<f32> {
        self.piece(id).map(|_| self.inner.pieces.score(id))
    }

    /// The id of a piece; control pieces have theirs.
    #[must_use]
    pub fn id(&self, piece: &str) -> Option<u32> {
        self.inner.pieces.id(piece)
    }

    /// The pieces that text can become, byte pieces too, in the order of the file.
    pub(crate) fn text_pieces(&self) -> impl Iterator<Item = &str> {
        let is_text = |&id: &u32| {
            matches!(self.kind(id), Some(PieceKind::Normal | PieceKind::UserDefined | PieceKind::Byte))
        };
        (0..self.len() as u32).filter(is_text).filter_map(|id| self.piece(id))
    }

    /// The text that is cut into pieces.
    #[must_use]
    pub fn normalize(&self, text: &str) -> String {
        self.inner.normalization.normalize(text, false).text
    }

    /// The ids of a text's pieces, without begin and end. No text gives the id of a control piece.
    #[must_use]
    pub fn encode(&self, text: &str) -> Vec<u32> {
        let inner = &*self.inner;
        let normalized = inner.normalization.normalize(text, false).text;
        let segments = inner.best_segments(&normalized);
        let mut ids = Vec::with_capacity(segments.len());
        let mut start = 0;
        let mut after_unknown = false;
        for Segment { end, id } in segments {
            let unknown = id == inner.pieces.unknown();
            match inner.pieces.bytes().filter(|_| unknown) {
                Some(bytes) => {
                    let text = normalized.as_bytes().get(start..end).unwrap_or_default();
                    ids.extend(text.iter().map(|&byte| bytes[usize::from(byte)]));
                }
                // Unknown characters in a row are one piece.
                None if unknown && after_unknown => {}
                None => ids.push(id),
            }
            after_unknown = unknown;
            start = end;
        }
        ids
    }

    /// The pieces of a text, with what they cover.
    #[must_use]
    pub fn segment(&self, text: &str) -> Vec<SentencePieceToken> {
        let inner = &*self.inner;
        let normalized = inner.normalization.normalize(text, true);
        inner.tokens(&normalized, &inner.best_segments(&normalized.text))
    }

    /// Up to `count` (at most 1024) segmentations, best first, as SentencePiece gives them: for 1 it is the best, with
    /// the score 0.
    ///
    /// # Errors
    /// [`TextError::NoNbest`] for a model other than unigram.
    pub fn nbest(&self, text: &str, count: usize) -> Result<Vec<ScoredSegmentation>, TextError> {
        let inner = &*self.inner;
        let Algorithm::Unigram(unigram) = &inner.algorithm else { return Err(TextError::NoNbest) };
        let normalized = inner.normalization.normalize(text, true);
        if count <= 1 || normalized.text.is_empty() {
            let tokens = inner.tokens(&normalized, &inner.best_segments(&normalized.text));
            return Ok(vec![ScoredSegmentation { tokens, score: 0.0 }]);
        }
        let mut lattice = Lattice::new(unigram, &inner.pieces, &normalized.text);
        let paths = nbest::best_paths(&mut lattice, count.min(nbest::MAX_PATHS));
        let scored = |(path, score): (Vec<Segment>, f32)| ScoredSegmentation {
            tokens: inner.tokens(&normalized, &path),
            score,
        };
        Ok(paths.into_iter().map(scored).collect())
    }
}

impl Inner {
    fn best_segments(&self, normalized: &str) -> Vec<Segment> {
        if normalized.is_empty() {
            return Vec::new();
        }
        let user_defined = self.normalization.user_defined.as_ref();
        match &self.algorithm {
            Algorithm::Unigram(unigram) => unigram.segment(&self.pieces, normalized),
            Algorithm::Bpe => bpe::segment(&self.pieces, user_defined, normalized, || false),
            Algorithm::Word => units::words(&self.pieces, normalized),
            Algorithm::Character => units::characters(&self.pieces, user_defined, normalized),
        }
    }

    /// Segments as pieces with their place in the original text.
    fn tokens(&self, normalized: &Normalized, segments: &[Segment]) -> Vec<SentencePieceToken> {
        let origin = |at: usize| normalized.origins.get(at).copied().unwrap_or_default();
        let mut tokens: Vec<SentencePieceToken> = Vec::with_capacity(segments.len());
        let mut start = 0;
        let mut after_unknown = false;
        for &Segment { end, id } in segments {
            let text = normalized.text.get(start..end).unwrap_or_default();
            let range = origin(start)..origin(end);
            let unknown = id == self.pieces.unknown();
            match (self.pieces.bytes().filter(|_| unknown), tokens.last_mut()) {
                (Some(ids), _) => push_bytes(&mut tokens, ids, text, range),
                (None, Some(last)) if unknown && after_unknown => {
                    last.piece.push_str(text);
                    last.range.end = range.end;
                }
                (None, _) => tokens.push(SentencePieceToken { piece: text.to_owned(), id, range }),
            }
            after_unknown = unknown;
            start = end;
        }
        tokens
    }
}

/// The byte pieces of an unknown character; the last one covers it.
fn push_bytes(tokens: &mut Vec<SentencePieceToken>, ids: &[u32; 256], text: &str, range: Range<usize>) {
    for byte in text.bytes() {
        let range = range.start..range.start;
        tokens.push(SentencePieceToken { piece: byte_piece(byte), id: ids[usize::from(byte)], range });
    }
    if let Some(last) = tokens.last_mut() {
        last.range = range;
    }
}
