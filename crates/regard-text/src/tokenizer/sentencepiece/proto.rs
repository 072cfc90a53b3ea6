//! The messages of a `.model` file, as far as they are used here; a reader skips the other fields.
//!
//! Protocol buffers, syntax 2: a field that is not there has the default that stands beside it.

/// What an enumeration of the format calls the kind of a piece.
pub(super) mod kind {
    pub(in super::super) const NORMAL: i32 = 1;
    pub(in super::super) const UNKNOWN: i32 = 2;
    pub(in super::super) const CONTROL: i32 = 3;
    pub(in super::super) const USER_DEFINED: i32 = 4;
    pub(in super::super) const UNUSED: i32 = 5;
    pub(in super::super) const BYTE: i32 = 6;
}

/// What an enumeration of the format calls the algorithm.
pub(super) mod algorithm {
    pub(in super::super) const UNIGRAM: i32 = 1;
    pub(in super::super) const BPE: i32 = 2;
    pub(in super::super) const WORD: i32 = 3;
    pub(in super::super) const CHAR: i32 = 4;
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ModelProto {
    #[prost(message, repeated, tag = "1")]
    pub(super) pieces: Vec<PieceProto>,
    #[prost(message, optional, tag = "2")]
    pub(super) trainer: Option<TrainerProto>,
    #[prost(message, optional, tag = "3")]
    pub(super) normalizer: Option<NormalizerProto>,
    #[prost(message, optional, tag = "5")]
    pub(super) denormalizer: Option<NormalizerProto>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct PieceProto {
    #[prost(string, optional, tag = "1")]
    pub(super) piece: Option<String>,
    #[prost(float, optional, tag = "2")]
    pub(super) score: Option<f32>,
    #[prost(int32, optional, tag = "3", default = "1")]
    pub(super) kind: Option<i32>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TrainerProto {
    #[prost(int32, optional, tag = "3", default = "1")]
    pub(super) algorithm: Option<i32>,
    #[prost(int32, optional, tag = "4")]
    pub(super) vocabulary_size: Option<i32>,
    #[prost(float, optional, tag = "10")]
    pub(super) character_coverage: Option<f32>,
    #[prost(bool, optional, tag = "24")]
    pub(super) whitespace_as_suffix: Option<bool>,
    #[prost(string, repeated, tag = "31")]
    pub(super) user_defined_symbols: Vec<String>,
    #[prost(bool, optional, tag = "35")]
    pub(super) byte_fallback: Option<bool>,
    #[prost(string, optional, tag = "44", default = " \u{2047} ")]
    pub(super) unknown_surface: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct NormalizerProto {
    #[prost(string, optional, tag = "1")]
    pub(super) name: Option<String>,
    #[prost(bytes = "vec", optional, tag = "2")]
    pub(super) charsmap: Option<Vec<u8>>,
    #[prost(bool, optional, tag = "3", default = "true")]
    pub(super) add_dummy_prefix: Option<bool>,
    #[prost(bool, optional, tag = "4", default = "true")]
    pub(super) remove_extra_whitespaces: Option<bool>,
    #[prost(bool, optional, tag = "5", default = "true")]
    pub(super) escape_whitespaces: Option<bool>,
}
