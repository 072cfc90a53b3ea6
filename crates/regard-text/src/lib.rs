//! Text ↔ ids ↔ padded batches. This crate knows no tensor.
//!
//! ```text
//! files ─ corpus ─→ lines ─ preparation ─ tokenizer ─ vocabulary ─→ ids ─ sampler ─ batch ─→ padded rows
//!                          └──────────── pipeline ────────────┘
//! ```
//!
//! A tokenizer is words, characters, subword-nmt's [`Bpe`], or a [`SentencePiece`] model, read from a `.model` file of the
//! package or trained here. With the feature `huggingface` it may be a `tokenizer.json` of Hugging Face too.
//!
//! Rules that hold everywhere: text is UTF-8 and only LF ends a line; what a user types is text and never a control
//! symbol; nothing depends on a clock, a thread or the order of a hash map.
//!
//! ```
//! use regard_text::{Batch, BatchSize, Bpe, Normalizer, ParallelText, Pipeline, Sampler, Tokenizer};
//!
//! let text = ParallelText::from_pairs([
//!     ("the black cat".to_owned(), "le chat noir".to_owned()),
//!     ("the cat".to_owned(), "le chat".to_owned()),
//!     ("a line without translation".to_owned(), "  ".to_owned()),
//! ]);
//! assert_eq!(text.report.blank, 1);
//!
//! let bpe = Bpe::learn(text.sources().chain(text.targets()), 10, 2);
//! let source = Pipeline::build(Normalizer::None, Tokenizer::Bpe(bpe.clone()), text.sources(), None, 1);
//! let target = Pipeline::build(Normalizer::None, Tokenizer::Bpe(bpe), text.targets(), None, 1);
//! let pairs = text.encode(&source, &target, &[])?;
//!
//! for indices in Sampler::new(&pairs, BatchSize::Tokens(4096), 1).epoch(0).iter() {
//!     let batch = Batch::read(&pairs, indices)?;
//!     assert_eq!(batch.source.rows(), 2);
//! }
//! assert_eq!(source.detokenize(&source.tokens_of(&pairs[0].source)), "the black cat");
//! # Ok::<(), regard_text::TextError>(())
//! ```

mod batch;
mod corpus;
mod error;
mod moses;
mod normalizer;
mod offsets;
mod parallel;
mod pipeline;
mod preparation;
mod random;
mod sampler;
mod shortlist;
pub mod special_tokens;
mod tokenizer;
mod vocabulary;

pub use batch::{Batch, Padded, Pair};
pub use corpus::{
    CacheWriter, CachedCorpus, Corpus, CorpusEncoder, CorpusFilters, CorpusFormat, CorpusReport,
    CorpusSource, EvenSample, Lines, LinkLines, PairLines, PairSource, ParallelText, Part, TextPair,
    is_blank, token_links,
};
pub use error::TextError;
pub use moses::{Moses, MosesLanguage};
pub use normalizer::Normalizer;
pub use pipeline::Pipeline;
pub use preparation::Preparation;
pub use sampler::{BatchOrder, BatchSize, Sampler};
pub use shortlist::Shortlist;
#[cfg(feature = "huggingface")]
pub use tokenizer::HuggingFace;
pub use tokenizer::{
    Bpe, PieceKind, SampleOptions, ScoredSegmentation, SentencePiece, SentencePieceAlgorithm,
    SentencePieceConfig, SentencePieceNormalization, SentencePieceProgress, SentencePieceToken, Token,
    Tokenizer,
};
pub use vocabulary::Vocabulary;
