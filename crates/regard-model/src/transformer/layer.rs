//! What stands around each part of a layer: normalisation, dropout, and the way around it.

use regard_tensor::ops;
use regard_tensor::{List, Var};

use crate::attention::{Block, Place};
use crate::config::{Norm, NormPosition, TransformerConfig};
use crate::error::Result;
use crate::layer_norm::LayerNorm;
use crate::parameters::{Builder, ParameterId};
use crate::pass::Pass;
use crate::seq2seq::Row;

/// A normalisation with its weights.
pub(crate) enum Normalization {
    Layer(LayerNorm),
    Rms { gain: ParameterId, epsilon: f64 },
}

impl Normalization {
    pub(crate) fn new(builder: &mut Builder, name: &str, config: &TransformerConfig) -> Self {
        let (size, epsilon) = (config.d_model, config.epsilon());
        match config.norm {
            Norm::Layer => Self::Layer(LayerNorm::new(builder, name, size, 0..0, epsilon)),
            Norm::Rms => Self::Rms { gain: builder.vector(&format!("{name}.gain"), size, 0..size), epsilon },
        }
    }

    /// The one after the last layer, where the layers normalise their inputs and nobody else their output.
    pub(crate) fn last(builder: &mut Builder, name: &str, config: &TransformerConfig) -> Option<Self> {
        (config.norm_position == NormPosition::Pre).then(|| Self::new(builder, name, config))
    }

    pub(crate) fn apply(&self, pass: &Pass, x: &Var) -> Result<Var> {
        match self {
            Self::Layer(norm) => norm.apply(pass, x),
            Self::Rms { gain, epsilon } => Ok(ops::rms_norm(pass.tape, x, pass.weight(*gain), *epsilon)?),
        }
    }
}

/// The surroundings of a part: x + f(norm x), or norm(x + f(x)).
pub(crate) struct Around {
    norm: Normalization,
    position: NormPosition,
    dropout: f64,
    block: Block,
}

impl Around {
    pub(crate) fn new(builder: &mut Builder, name: &str, config: &TransformerConfig, block: Block) -> Self {
        let norm = Normalization::new(builder, &format!("{name}.norm"), config);
        Self { norm, position: config.norm_position, dropout: config.dropout, block }
    }

    /// What goes into the part.
    pub(crate) fn input(&self, pass: &Pass, x: &Var) -> Result<Var> {
        match self.position {
            NormPosition::Pre | NormPosition::PreOnly => self.norm.apply(pass, x),
            NormPosition::Post => Ok(x.clone()),
        }
    }

    /// What leaves the whole, where the part made `y` of `x`.
    pub(crate) fn output(&self, pass: &Pass, x: &Var, y: &Var, rows: &[Row]) -> Result<Var> {
        let hooked =
            |place: fn(Block) -> Place, x: Var| pass.hooked(place(self.block), x, || List::from(rows));
        let x = hooked(Place::Around, x.clone())?;
        let y = hooked(Place::Branch, pass.dropout(y, self.dropout)?)?;
        let sum = ops::add(pass.tape, &x, &y)?;
        let output = match self.position {
            NormPosition::Pre | NormPosition::PreOnly => sum,
            NormPosition::Post => self.norm.apply(pass, &sum)?,
        };
        hooked(Place::Output, output)
    }
}
