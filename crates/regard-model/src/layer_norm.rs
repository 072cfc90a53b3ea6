//! Layer normalisation with its weights (Ba et al. 2016).

use std::ops::Range;

use regard_tensor::Var;
use regard_tensor::ops;

use crate::error::Result;
use crate::parameters::{Builder, ParameterId};
use crate::pass::Pass;

/// `(x − mean) / √(variance + ε) ∘ gain + bias`.
#[derive(Clone, Copy)]
pub(crate) struct LayerNorm {
    gain: ParameterId,
    bias: ParameterId,
    epsilon: f64,
}

impl LayerNorm {
    /// `NAME.gain` and `NAME.bias`, the latter 1 in `ones` and else 0.
    pub(crate) fn new(
        builder: &mut Builder,
        name: &str,
        size: usize,
        ones: Range<usize>,
        epsilon: f64,
    ) -> Self {
        let gain = builder.vector(&format!("{name}.gain"), size, 0..size);
        Self { gain, bias: builder.vector(&format!("{name}.bias"), size, ones), epsilon }
    }

    pub(crate) fn apply(&self, pass: &Pass, x: &Var) -> Result<Var> {
        let (gain, bias) = (pass.weight(self.gain), pass.weight(self.bias));
        Ok(ops::layer_norm(pass.tape, x, gain, bias, self.epsilon)?)
    }
}
