//! Files → lines → pairs of ids, in memory or in a cache.
//!
//! ```text
//! source ─→ pairs (reader, json_lines, parquet) ─→ encoder (filters) ─→ pair_source: Corpus or cache
//! ```

mod cache;
mod encoder;
mod filters;
mod json_lines;
mod json_value;
mod links;
mod pair_source;
mod pairs;
#[cfg(feature = "parquet")]
mod parquet;
mod reader;
mod sample;
mod source;
mod text;

pub use cache::{CacheWriter, CachedCorpus};
pub use encoder::CorpusEncoder;
pub use filters::{CorpusFilters, CorpusReport};
pub use links::{LinkLines, token_links};
pub use pair_source::{Corpus, PairSource, Part};
pub use pairs::PairLines;
pub(crate) use reader::read_utf8;
pub use reader::{Lines, is_blank};
pub use sample::EvenSample;
pub use source::{CorpusFormat, CorpusSource};
pub use text::{ParallelText, TextPair};
