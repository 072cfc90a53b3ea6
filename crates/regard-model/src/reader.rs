//! What reads for a recurrent writer: recurrent layers, or the encoder of a Transformer.

use regard_tensor::List;
use regard_text::Padded;

use crate::config::RecurrentConfig;
use crate::error::Result;
use crate::parameters::{Builder, ParameterId};
use crate::pass::Pass;
use crate::rnn;
use crate::seq2seq::SiteAttention;
use crate::transformer;

pub(crate) enum Reader {
    Recurrent(rnn::Encoder),
    Transformer(transformer::Encoder),
}

impl Reader {
    /// The reader of a configuration, which embeds words by a table of the model.
    pub(crate) fn new(builder: &mut Builder, config: &RecurrentConfig, table: ParameterId) -> Self {
        match config.reading_transformer() {
            Some(config) => Self::Transformer(transformer::Encoder::new(builder, &config, table)),
            None => Self::Recurrent(rnn::Encoder::new(builder, config, table)),
        }
    }

    /// Reads rows of ids, each ended by the end symbol; with what it looked at, where that is wanted.
    pub(crate) fn encode(&self, pass: &Pass, source: &Padded) -> Result<(rnn::Encoded, Vec<SiteAttention>)> {
        match self {
            Self::Recurrent(encoder) => Ok((encoder.encode(pass, source)?, Vec::new())),
            Self::Transformer(encoder) => {
                let encoded = encoder.encode(pass, source)?;
                Ok((rnn::Encoded { states: encoded.states, finals: List::default() }, encoded.attention))
            }
        }
    }
}
