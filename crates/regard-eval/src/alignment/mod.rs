//! Word alignments: files of links, error rates against links that people made, and one alignment out of two.

mod file;
mod links;
mod score;
mod symmetrize;

pub use file::{AlignmentError, AlignmentFile};
pub use links::{GoldLinks, Links, transpose};
pub use score::{AlignmentCounts, AlignmentScore, alignment_counts};
pub use symmetrize::Symmetrization;
