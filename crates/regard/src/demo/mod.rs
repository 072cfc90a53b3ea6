//! The demonstration: a small language that the program speaks perfectly, to learn from and to be measured on.
//!
//! Two models of equal size learn it for the same number of updates. One hands the source over as one vector, the other
//! looks at the source at every word. The difference grows with the length of the sentence.

pub mod grammar;

mod alignment;
mod contestants;
mod data;
mod generator;
mod lexicon;
mod measure;
mod phrase;
mod random;
mod report;

pub use alignment::{ContentHits, content_hits};
pub use contestants::{Contestant, Kind};
pub use data::{BUCKETS, DemoData, Sizes};
pub use measure::{Measured, Trained, heatmap, measure, source_line, target_line};
pub use report::report;
