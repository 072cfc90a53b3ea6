//! A learned map.

use regard_tensor::Var;
use regard_tensor::ops;

use crate::error::Result;
use crate::parameters::{Builder, ParameterId};
use crate::pass::Pass;

/// `x · Wᵀ + b`, or without b.
pub(crate) struct Affine {
    weight: ParameterId,
    bias: Option<ParameterId>,
}

impl Affine {
    /// `NAME.weight` `[output, input]` and `NAME.bias`.
    pub(crate) fn new(builder: &mut Builder, name: &str, output: usize, input: usize) -> Self {
        let without = Self::without_bias(builder, name, output, input);
        Self { bias: Some(builder.vector(&format!("{name}.bias"), output, 0..0)), ..without }
    }

    /// `NAME.weight` alone.
    pub(crate) fn without_bias(builder: &mut Builder, name: &str, output: usize, input: usize) -> Self {
        Self { weight: builder.matrix(&format!("{name}.weight"), output, input, 1), bias: None }
    }

    pub(crate) fn apply(&self, pass: &Pass, x: &Var) -> Result<Var> {
        let bias = self.bias.map(|bias| pass.weight(bias));
        Ok(ops::linear(pass.tape, x, pass.weight(self.weight), bias)?)
    }
}
