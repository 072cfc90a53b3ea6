//! The Transformer: attention in place of recurrence (Vaswani et al. 2017).

mod decoder;
mod encoder;
mod feed_forward;
mod layer;
mod model;
mod positions;
mod reach;
mod words;

pub use model::TransformerModel;
pub(crate) use positions::{Waves, waves};

use decoder::{Decoder, Past, SourceMemory};
pub(crate) use encoder::Encoder;
use feed_forward::FeedForward;
use layer::{Around, Normalization};
use positions::PositionVectors;
use words::Words;
