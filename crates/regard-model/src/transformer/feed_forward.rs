//! The feed-forward part of a layer: two maps and a function between them, word by word.

use regard_tensor::Var;
use regard_tensor::ops::{self, Function};

use super::Around;
use crate::affine::Affine;
use crate::attention::Block;
use crate::config::{Activation, TransformerConfig};
use crate::error::Result;
use crate::parameters::Builder;
use crate::pass::Pass;
use crate::seq2seq::Row;

/// W₂ f(W₁ x + b₁) + b₂, or W₂ (f(V x) ∘ (W₁ x + b₁)) + b₂ with a gate, and what stands around it.
pub(crate) struct FeedForward {
    input: Affine,
    gate: Option<Affine>,
    output: Affine,
    activation: Activation,
    dropout: f64,
    around: Around,
}

impl FeedForward {
    pub(crate) fn new(builder: &mut Builder, name: &str, config: &TransformerConfig, block: Block) -> Self {
        let (width, inner) = (config.d_model, config.d_ff);
        Self {
            input: Affine::new(builder, &format!("{name}.input"), inner, width),
            gate: config.gated.then(|| Affine::without_bias(builder, &format!("{name}.gate"), inner, width)),
            output: Affine::new(builder, &format!("{name}.output"), width, inner),
            activation: config.activation,
            dropout: config.feed_forward_dropout,
            around: Around::new(builder, name, config, block),
        }
    }

    pub(crate) fn apply(&self, pass: &Pass, x: &Var, rows: &[Row]) -> Result<Var> {
        let input = self.around.input(pass, x)?;
        let inner = match &self.gate {
            Some(gate) => {
                let inner = self.input.apply(pass, &input)?;
                ops::mul(pass.tape, &gate.apply_then(pass, &input, self.function())?, &inner)?
            }
            None => self.input.apply_then(pass, &input, self.function())?,
        };
        let output = self.output.apply(pass, &pass.dropout(&inner, self.dropout)?)?;
        self.around.output(pass, x, &output, rows)
    }

    fn function(&self) -> Function {
        match self.activation {
            Activation::Relu => Function::Relu,
            Activation::Gelu => Function::Gelu,
            Activation::Swish => Function::Swish,
        }
    }
}
