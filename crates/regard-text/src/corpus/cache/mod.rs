//! Pairs of ids in a file, for corpora that are larger than memory.
//!
//! ```text
//! header                64 bytes, see `header.rs`
//! ids                   u32: source then target of each pair
//! lengths               u32, u32: tokens of both sides of each pair
//! description           JSON: what the pairs were made of, and the report of each corpus
//! ```
//!
//! All numbers are little-endian. Only the lengths are in memory; ids are read when a batch wants them.

mod header;
mod reader;
mod writer;

pub use reader::CachedCorpus;
pub use writer::CacheWriter;

use serde::{Deserialize, Serialize};

use super::filters::CorpusReport;

/// The last part of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    /// Stands for everything that the pairs depend on.
    key: String,
    /// What became of the lines of each corpus.
    reports: Vec<CorpusReport>,
}
