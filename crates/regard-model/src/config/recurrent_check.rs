//! What a recurrent configuration must not ask for.

use super::{
    Bidirectional, CellKind, ContextKind, ContextLayers, CrossAttention, InitialState, Query, QueryLayer,
    Readout, RecurrentConfig, Score, TiedEmbeddings, Window, check_epsilon, require,
};
use crate::error::{ModelError, Result};

impl RecurrentConfig {
    /// Whether a model can be made from this configuration.
    ///
    /// # Errors
    /// With the field that is wrong and what it may be.
    pub fn check(&self) -> Result<()> {
        self.check_sizes()?;
        check_epsilon(self.norm_epsilon)?;
        match self.reader {
            Some(_) => self.check_reader()?,
            None => self.check_initial_state()?,
        }
        self.check_residual()?;
        self.check_readout()?;
        self.check_attention()
    }

    fn check_sizes(&self) -> Result<()> {
        let sizes = [
            ("embedding", self.embedding),
            ("encoder.layers", self.encoder.layers),
            ("encoder.hidden", self.encoder.hidden),
            ("decoder.layers", self.decoder.layers),
            ("decoder.hidden", self.decoder.hidden),
            ("decoder.readout_width", self.decoder.readout_width),
            ("attention.width", self.attention.width),
        ];
        for (name, size) in sizes {
            require((1..=65_536).contains(&size), || format!("{name} = {size} must be from 1 to 65536"))?;
        }
        let layers = self.encoder.layers.max(self.decoder.layers);
        require(layers <= 64, || format!("{layers} layers are too many: at most 64"))?;
        let rates = [
            ("dropout", self.dropout),
            ("recurrent_dropout", self.recurrent_dropout),
            ("word_dropout", self.word_dropout),
        ];
        for (name, rate) in rates {
            require((0.0..1.0).contains(&rate), || {
                format!("{name} = {rate} must be at least 0 and below 1")
            })?;
        }
        Ok(())
    }

    fn check_initial_state(&self) -> Result<()> {
        let (encoder, decoder) = (&self.encoder, &self.decoder);
        match decoder.initial_state {
            InitialState::Last => {
                require(encoder.layers >= decoder.layers, || {
                    format!(
                        "decoder.initial_state = \"last\" needs an encoder layer for each of the {} decoder layers, \
                         found {}; use \"bridge\" or \"zero\"",
                        decoder.layers, encoder.layers
                    )
                })?;
                for layer in 0..decoder.layers {
                    let fits = encoder.width(layer) == decoder.hidden || encoder.hidden == decoder.hidden;
                    require(fits, || {
                        format!(
                            "decoder.initial_state = \"last\" needs decoder.hidden = {} to be the width of the \
                             encoder's state, {}; use \"bridge\"",
                            decoder.hidden,
                            encoder.width(layer)
                        )
                    })?;
                }
                Ok(())
            }
            InitialState::BackwardBridge => require(encoder.is_bidirectional(encoder.layers - 1), || {
                "decoder.initial_state = \"backward_bridge\" needs a bidirectional top encoder layer; use \"bridge\""
                    .to_owned()
            }),
            InitialState::Zero | InitialState::Bridge | InitialState::MeanBridge => Ok(()),
        }
    }

    fn check_residual(&self) -> Result<()> {
        if self.residual_from == 0 {
            return Ok(());
        }
        let recurrent = if self.reader.is_none() { self.encoder.layers } else { 0 };
        for layer in self.residual_from - 1..recurrent {
            let input = self.encoder.input_width(layer, self.embedding);
            let output = match self.encoder.bidirectional {
                Bidirectional::Stacks => self.encoder.hidden,
                _ => self.encoder.width(layer),
            };
            require(input == output, || {
                format!("residual_from: encoder layer {} has {input} inputs and {output} outputs", layer + 1)
            })?;
        }
        let bottom = self.residual_from == 1;
        require(!bottom || self.embedding == self.decoder.hidden, || {
            format!("residual_from = 1 needs embedding = decoder.hidden = {}", self.decoder.hidden)
        })
    }

    fn check_readout(&self) -> Result<()> {
        let needs_context = matches!(self.decoder.readout, Readout::Attentional | Readout::Concat);
        require(!needs_context || self.context != ContextKind::Once, || {
            "decoder.readout = \"attentional\" and \"concat\" need a context; use \"linear\" or \"tanh\" with context = \"once\"".to_owned()
        })?;
        let tied = self.tied_embeddings != TiedEmbeddings::None;
        require(!tied || self.readout_width() == self.embedding, || {
            format!(
                "tied_embeddings needs a readout of the width of the embedding, {}, found {}",
                self.embedding,
                self.readout_width()
            )
        })
    }

    fn check_attention(&self) -> Result<()> {
        if self.context != ContextKind::Attention {
            return require(self.cross_attention == CrossAttention::Learned, || {
                "cross_attention = \"uniform\" needs context = \"attention\": this model does not look at the source"
                    .to_owned()
            });
        }
        let (attention, width) = (&self.attention, self.memory_width());
        let by_dot = match attention.score {
            Score::Dot => Some("dot"),
            Score::ScaledDot => Some("scaled_dot"),
            _ => None,
        };
        if let Some(score) = by_dot.filter(|_| width != self.decoder.hidden) {
            return Err(ModelError::Config(format!(
                "attention.score = \"{score}\" needs decoder.hidden = {} to be the encoder's width, {width}; use \"general\"",
                self.decoder.hidden
            )));
        }
        require((1..=65_536).contains(&attention.radius), || {
            format!("attention.radius = {} must be from 1 to 65536", attention.radius)
        })?;
        let everywhere =
            self.cross_attention == CrossAttention::Learned || attention.window == Window::Global;
        require(everywhere, || {
            "cross_attention = \"uniform\" needs attention.window = \"global\"".to_owned()
        })?;
        let enters_layers = attention.query != Query::Current
            || (attention.query_layer == QueryLayer::Bottom
                && self.decoder.layers > 1
                && self.decoder.context_layers == ContextLayers::All);
        require(enters_layers || self.decoder.readout != Readout::Linear, || {
            "the attention would have no effect: with attention.query = \"current\" and decoder.readout = \"linear\" \
             nothing uses its context; use decoder.readout = \"attentional\""
                .to_owned()
        })?;
        let between = attention.query == Query::Intermediate;
        require(!between || attention.query_layer == QueryLayer::Bottom || self.decoder.layers == 1, || {
            "attention.query = \"intermediate\" needs attention.query_layer = \"bottom\"".to_owned()
        })
    }
}

impl CellKind {
    /// How many gates a cell has: the rows of its input weights are this many times its width.
    #[must_use]
    pub fn gates(self) -> usize {
        match self {
            Self::Lstm => 4,
            Self::GruResetAfter | Self::GruResetBefore => 3,
        }
    }
}
