//! A learned map.

use regard_tensor::Var;
use regard_tensor::ops::{self, Function};

use crate::error::Result;
use crate::layer_norm::LayerNorm;
use crate::parameters::{Builder, ParameterId};
use crate::pass::Pass;

/// `x · Wᵀ + b`, or without b, or normalised.
pub(crate) struct Affine {
    weight: ParameterId,
    bias: Option<ParameterId>,
    norm: Option<LayerNorm>,
}

impl Affine {
    /// `NAME.weight` `[output, input]` and `NAME.bias`.
    pub(crate) fn new(builder: &mut Builder, name: &str, output: usize, input: usize) -> Self {
        let without = Self::without_bias(builder, name, output, input);
        Self { bias: Some(builder.vector(&format!("{name}.bias"), output, 0..0)), ..without }
    }

    /// `NAME.weight` alone.
    pub(crate) fn without_bias(builder: &mut Builder, name: &str, output: usize, input: usize) -> Self {
        let weight = builder.matrix(&format!("{name}.weight"), output, input, 1);
        Self { weight, bias: None, norm: None }
    }

    /// `NAME.weight` and `NAME.norm.{gain,bias}`: layer normalisation of `x · Wᵀ`.
    pub(crate) fn normed(
        builder: &mut Builder,
        name: &str,
        output: usize,
        input: usize,
        epsilon: f64,
    ) -> Self {
        let without = Self::without_bias(builder, name, output, input);
        let norm = LayerNorm::new(builder, &format!("{name}.norm"), output, 0..0, epsilon);
        Self { norm: Some(norm), ..without }
    }

    /// A function of the mapped.
    pub(crate) fn apply_then(&self, pass: &Pass, x: &Var, function: Function) -> Result<Var> {
        if self.norm.is_some() {
            return Ok(function.apply(pass.tape, &self.apply(pass, x)?)?);
        }
        let bias = self.bias.map(|bias| pass.weight(bias));
        Ok(ops::linear_then(pass.tape, x, pass.weight(self.weight), bias, function)?)
    }

    pub(crate) fn apply(&self, pass: &Pass, x: &Var) -> Result<Var> {
        let bias = self.bias.map(|bias| pass.weight(bias));
        let y = ops::linear(pass.tape, x, pass.weight(self.weight), bias)?;
        match &self.norm {
            Some(norm) => norm.apply(pass, &y),
            None => Ok(y),
        }
    }
}
