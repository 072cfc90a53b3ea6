//! Putting a `.model` file together.

use prost::Message;

use super::super::pieces::{PieceKind, byte_piece};
use super::super::proto::{ModelProto, NormalizerProto, PieceProto, TrainerProto, algorithm, kind};
use super::{Scored, SentencePieceAlgorithm, SentencePieceConfig, SentencePieceNormalization};
use crate::special_tokens::{BOS_TOKEN, EOS_TOKEN, UNK_TOKEN};

/// The pieces that are not learned, in the order of their ids: unknown, begin, end, the user's, the bytes.
pub(super) fn meta_pieces(config: &SentencePieceConfig) -> Result<Vec<(String, PieceKind)>, String> {
    if !(config.character_coverage > 0.0 && config.character_coverage <= 1.0) {
        return Err(format!(
            "a character coverage of {}: it must be above 0 and at most 1",
            config.character_coverage
        ));
    }
    let mut pieces = vec![
        (UNK_TOKEN.to_owned(), PieceKind::Unknown),
        (BOS_TOKEN.to_owned(), PieceKind::Control),
        (EOS_TOKEN.to_owned(), PieceKind::Control),
    ];
    pieces.extend(config.user_defined_symbols.iter().map(|symbol| (symbol.clone(), PieceKind::UserDefined)));
    if config.byte_fallback {
        pieces.extend((0..=u8::MAX).map(|byte| (byte_piece(byte), PieceKind::Byte)));
    }
    let mut names: Vec<&str> = pieces.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    if let Some((name, _)) = names.iter().zip(names.iter().skip(1)).find(|(name, next)| name == next) {
        return Err(format!("the user-defined symbol `{name}` is there already"));
    }
    if let Some(symbol) = config.user_defined_symbols.iter().find(|symbol| symbol.contains(['\0', '\n'])) {
        return Err(format!(
            "the user-defined symbol {symbol:?}: a zero byte or a line feed cannot be in a symbol"
        ));
    }
    if config.user_defined_symbols.iter().any(String::is_empty) {
        return Err("a user-defined symbol is empty".to_owned());
    }
    Ok(pieces)
}

/// The bytes of the file.
pub(super) fn assemble(
    config: &SentencePieceConfig,
    meta: &[(String, PieceKind)],
    learned: Vec<Scored>,
    charsmap: Option<&[u8]>,
) -> Vec<u8> {
    let piece = |piece, score, kind| PieceProto { piece: Some(piece), score: Some(score), kind: Some(kind) };
    let number = |kind| match kind {
        PieceKind::Normal => kind::NORMAL,
        PieceKind::Unknown => kind::UNKNOWN,
        PieceKind::Control => kind::CONTROL,
        PieceKind::UserDefined => kind::USER_DEFINED,
        PieceKind::Byte => kind::BYTE,
        PieceKind::Unused => kind::UNUSED,
    };
    let fixed = meta.iter().map(|(name, kind)| piece(name.clone(), 0.0, number(*kind)));
    let learned = learned.into_iter().map(|(name, score)| piece(name, score, kind::NORMAL));
    let pieces: Vec<PieceProto> = fixed.chain(learned).collect();
    let algorithm = match config.algorithm {
        SentencePieceAlgorithm::Unigram => algorithm::UNIGRAM,
        SentencePieceAlgorithm::Bpe => algorithm::BPE,
    };
    let trainer = TrainerProto {
        algorithm: Some(algorithm),
        vocabulary_size: i32::try_from(pieces.len()).ok(),
        character_coverage: Some(config.character_coverage as f32),
        user_defined_symbols: config.user_defined_symbols.clone(),
        byte_fallback: Some(config.byte_fallback),
        ..TrainerProto::default()
    };
    let name = match config.normalization {
        SentencePieceNormalization::NmtNfkc => "nmt_nfkc",
        SentencePieceNormalization::Nfkc => "nfkc",
        SentencePieceNormalization::Identity => "identity",
    };
    let normalizer = NormalizerProto {
        name: Some(name.to_owned()),
        charsmap: charsmap.map(<[u8]>::to_vec),
        add_dummy_prefix: Some(true),
        remove_extra_whitespaces: Some(true),
        escape_whitespaces: Some(true),
    };
    ModelProto { pieces, trainer: Some(trainer), normalizer: Some(normalizer), denormalizer: None }
        .encode_to_vec()
}
