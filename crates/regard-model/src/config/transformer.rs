//! The configuration of a Transformer.

use serde::{Deserialize, Serialize};

use super::{CrossAttention, LAYER_NORM_EPSILON, TiedEmbeddings, check_epsilon, require};
use crate::error::Result;

/// A Transformer encoder-decoder (Vaswani et al. 2017).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransformerConfig {
    /// The width of word embeddings and of what goes from layer to layer.
    pub d_model: usize,
    /// The inner width of the feed-forward layers.
    pub d_ff: usize,
    /// Which embeddings share their weights.
    pub tied_embeddings: TiedEmbeddings,
    /// Word embeddings are multiplied by `√d_model`.
    pub scale_embeddings: bool,
    /// How a word's place is told.
    pub positions: Positions,
    /// Rows of the table of `learned` positions; what stands further out has the place of the last row.
    pub max_positions: usize,
    /// The normalisation.
    pub norm: Norm,
    /// What it adds to the variance or the mean of squares; where it is not said 1e-5, or 1e-6 with `rms`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub norm_epsilon: Option<f64>,
    /// Where it stands.
    pub norm_position: NormPosition,
    /// The function of the feed-forward layers.
    pub activation: Activation,
    /// A second map, without a bias, goes through the function and lets the first one through (Shazeer 2020).
    pub gated: bool,
    /// The output layer has a bias.
    pub output_bias: bool,
    /// The reader.
    pub encoder: StackConfig,
    /// The writer.
    pub decoder: StackConfig,
    /// How the decoder's looks at the source are weighed.
    #[serde(default, skip_serializing_if = "CrossAttention::is_learned")]
    pub cross_attention: CrossAttention,
    /// Dropout on embeddings and on what each part of a layer adds.
    pub dropout: f64,
    /// Dropout on attention weights.
    pub attention_dropout: f64,
    /// Dropout inside the feed-forward layers, after the function.
    pub feed_forward_dropout: f64,
}

/// A stack of layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StackConfig {
    /// Layers.
    pub layers: usize,
    /// Heads of each attention, each `d_model / heads` wide.
    pub heads: usize,
}

/// How a word's place is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Positions {
    /// Sines and cosines of 10000^(−2i/d) · p in turn are added to the embedding (Vaswani et al. 2017).
    Sinusoidal,
    /// The same numbers, all sines before all cosines (`MarianMTModel` of Hugging Face).
    SinusoidalHalves,
    /// Sines and cosines of 10000^(−i/(d/2 − 1)) · p, all sines before all cosines: the slowest frequency is 1/10000 itself
    /// (tensor2tensor, Marian).
    SinusoidalTensor2tensor,
    /// A learned vector for each place is added to the embedding.
    Learned,
    /// Queries and keys of self-attention are turned by the place (Su et al. 2021).
    Rotary,
}

/// A normalisation over the width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Norm {
    /// By mean and variance (Ba et al. 2016).
    Layer,
    /// By the root mean square (Zhang & Sennrich 2019).
    Rms,
}

/// Where the normalisation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NormPosition {
    /// Before each part of a layer, within the way around it, and once more after the last layer.
    Pre,
    /// Before each part of a layer, and nowhere else (Marian's `--transformer-preprocess n`).
    PreOnly,
    /// After each part and the way around it (Vaswani et al. 2017).
    Post,
}

/// The function of a feed-forward layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// `max(x, 0)`.
    Relu,
    /// `x·Φ(x)` in its exact form.
    Gelu,
    /// `x·σ(x)`.
    Swish,
}

/// What the keys of a Transformer are called in messages: it may be a part of another network.
pub(super) struct Keys<'a> {
    /// The key of the width.
    pub(super) width: &'a str,
    /// What stands before the other keys of the network.
    pub(super) own: &'a str,
    /// What stands before the keys of the stacks that there are: the encoder's, the decoder's.
    pub(super) stacks: &'a [&'a str],
}

impl TransformerConfig {
    /// 6 + 6 layers of width 512 and 8 heads (Vaswani et al. 2017, table 3, `base`).
    #[must_use]
    pub fn base() -> Self {
        Self {
            d_model: 512,
            d_ff: 2048,
            tied_embeddings: TiedEmbeddings::All,
            scale_embeddings: true,
            positions: Positions::Sinusoidal,
            max_positions: 1024,
            norm: Norm::Layer,
            norm_epsilon: None,
            norm_position: NormPosition::Post,
            activation: Activation::Relu,
            gated: false,
            output_bias: true,
            encoder: StackConfig { layers: 6, heads: 8 },
            decoder: StackConfig { layers: 6, heads: 8 },
            dropout: 0.1,
            attention_dropout: 0.0,
            feed_forward_dropout: 0.0,
            cross_attention: CrossAttention::Learned,
        }
    }

    /// 4 + 4 layers of width 128 and 4 heads, for small corpora.
    #[must_use]
    pub fn tiny() -> Self {
        let stack = StackConfig { layers: 4, heads: 4 };
        Self {
            d_model: 128,
            d_ff: 256,
            tied_embeddings: TiedEmbeddings::TargetOutput,
            encoder: stack,
            decoder: stack,
            dropout: 0.3,
            ..Self::base()
        }
    }

    /// Whether a model can be made from this configuration.
    ///
    /// # Errors
    /// With the field that is wrong and what it may be.
    pub fn check(&self) -> Result<()> {
        self.check_as(&Keys { width: "d_model", own: "", stacks: &["encoder.", "decoder."] })
    }

    /// The same of a Transformer that is a part of another network.
    pub(super) fn check_as(&self, keys: &Keys) -> Result<()> {
        let Keys { width, own, stacks } = keys;
        let mut sizes = vec![((*width).to_owned(), self.d_model), (format!("{own}d_ff"), self.d_ff)];
        sizes.push((format!("{own}max_positions"), self.max_positions));
        let stacks = stacks.iter().zip([self.encoder, self.decoder]);
        for (of, stack) in stacks.clone() {
            sizes.push((format!("{of}layers"), stack.layers));
            sizes.push((format!("{of}heads"), stack.heads));
        }
        for (key, size) in sizes {
            require((1..=65_536).contains(&size), || format!("{key} = {size} must be from 1 to 65536"))?;
        }
        for (of, stack) in stacks {
            self.check_stack(keys, of, stack)?;
        }
        self.check_positions(keys)?;
        check_epsilon(self.norm_epsilon)?;
        self.check_rates(own)
    }

    /// A stack whose keys begin with `of`.
    fn check_stack(&self, Keys { width, own, .. }: &Keys, of: &str, stack: StackConfig) -> Result<()> {
        let StackConfig { layers, heads } = stack;
        let d_model = self.d_model;
        require(layers <= 64, || format!("{of}layers = {layers} are too many: at most 64"))?;
        require(d_model.is_multiple_of(heads), || {
            format!("{of}heads = {heads} must divide {width} = {d_model}")
        })?;
        let turns = self.positions == Positions::Rotary;
        require(!turns || (d_model / heads).is_multiple_of(2), || {
            format!(
                "{own}positions = \"rotary\" needs heads of an even width, found {of}heads = {heads} of {width} = {d_model}"
            )
        })
    }

    fn check_positions(&self, Keys { width, own, .. }: &Keys) -> Result<()> {
        let (d_model, positions) = (self.d_model, self.positions);
        let least = match positions {
            Positions::Sinusoidal | Positions::SinusoidalHalves => 2,
            Positions::SinusoidalTensor2tensor => 4,
            Positions::Learned | Positions::Rotary => 0,
        };
        require(least == 0 || (d_model.is_multiple_of(2) && d_model >= least), || {
            format!(
                "{own}positions = \"sinusoidal\" needs an even {width} of at least {least}, found {d_model}"
            )
        })
    }

    /// What the normalisation adds to the variance or the mean of squares.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        self.norm_epsilon.unwrap_or(match self.norm {
            Norm::Layer => LAYER_NORM_EPSILON,
            Norm::Rms => 1e-6,
        })
    }

    fn check_rates(&self, own: &str) -> Result<()> {
        let rates = [
            ("", "dropout", self.dropout),
            (own, "attention_dropout", self.attention_dropout),
            (own, "feed_forward_dropout", self.feed_forward_dropout),
        ];
        for (of, name, rate) in rates {
            require((0.0..1.0).contains(&rate), || {
                format!("{of}{name} = {rate} must be at least 0 and below 1")
            })?;
        }
        Ok(())
    }
}
