//! Recurrent cells: LSTM and both forms of the GRU, with layer normalisation where it is asked for.

use regard_tensor::Var;
use regard_tensor::ops::{self, DropoutMask};

use crate::config::CellKind;
use crate::error::Result;
use crate::layer_norm::LayerNorm;
use crate::parameters::{Builder, ParameterId};
use crate::pass::Pass;

/// A cell of `width` units: `input` is its main input, context and feed are further ones.
pub(crate) struct Cell {
    kind: CellKind,
    width: usize,
    input: ParameterId,
    context: Option<ParameterId>,
    feed: Option<ParameterId>,
    hidden: ParameterId,
    candidate: Option<ParameterId>,
    scale: Scale,
}

/// What brings the products into range: plain biases, or layer normalisation with its own.
enum Scale {
    Bias { input: ParameterId, hidden: Option<ParameterId> },
    Norm { input: LayerNorm, hidden: LayerNorm, inner: Option<LayerNorm> },
}

/// The state of a cell: `h`, and `c` in an LSTM, each `[rows, width]`.
#[derive(Clone)]
pub(crate) struct CellState {
    pub(crate) h: Var,
    pub(crate) c: Option<Var>,
}

/// The mask of variational dropout on the recurrent state, the same at every step.
pub(crate) type RecurrentMask = Option<DropoutMask>;

/// The inputs of one step: the product of the main input, made by [`Cell::project`], and what else comes in.
pub(crate) struct CellInputs<'a> {
    pub(crate) projected: &'a Var,
    pub(crate) context: Option<&'a Var>,
    pub(crate) feed: Option<&'a Var>,
}

/// The widths of what comes into a cell; 0 where it does not.
pub(crate) struct CellWidths {
    pub(crate) input: usize,
    pub(crate) context: usize,
    pub(crate) feed: usize,
    pub(crate) hidden: usize,
}

impl Cell {
    pub(crate) fn new(
        builder: &mut Builder,
        name: &str,
        kind: CellKind,
        norm: Option<f64>,
        widths: &CellWidths,
    ) -> Self {
        let (gates, width) = (kind.gates(), widths.hidden);
        let rows = gates * width;
        let mut optional = |part: &str, size: usize| {
            (size > 0).then(|| builder.matrix(&format!("{name}.{part}.weight"), rows, size, gates))
        };
        let (context, feed) = (optional("context", widths.context), optional("feed", widths.feed));
        let input = builder.matrix(&format!("{name}.input.weight"), rows, widths.input, gates);
        let before = kind == CellKind::GruResetBefore;
        let hidden_rows = if before { 2 * width } else { rows };
        let hidden =
            builder.matrix(&format!("{name}.hidden.weight"), hidden_rows, width, hidden_rows / width);
        let candidate = before.then(|| builder.matrix(&format!("{name}.candidate.weight"), width, width, 1));
        // An LSTM starts by remembering: the bias of its forget gate is 1 (Jozefowicz et al. 2015).
        let ones = if kind == CellKind::Lstm { width..2 * width } else { 0..0 };
        let scale = if let Some(epsilon) = norm {
            let mut norm = |part: &str, size: usize, ones| {
                LayerNorm::new(builder, &format!("{name}.{part}"), size, ones, epsilon)
            };
            Scale::Norm {
                input: norm("input_norm", rows, ones),
                hidden: norm("hidden_norm", hidden_rows, 0..0),
                inner: match kind {
                    CellKind::Lstm => Some(norm("cell_norm", width, 0..0)),
                    CellKind::GruResetBefore => Some(norm("candidate_norm", width, 0..0)),
                    CellKind::GruResetAfter => None,
                },
            }
        } else {
            Scale::Bias {
                input: builder.vector(&format!("{name}.input.bias"), rows, ones),
                hidden: (kind == CellKind::GruResetAfter)
                    .then(|| builder.vector(&format!("{name}.hidden.bias"), rows, 0..0)),
            }
        };
        Self { kind, width, input, context, feed, hidden, candidate, scale }
    }

    /// Whether the context is one of the inputs.
    pub(crate) fn takes_context(&self) -> bool {
        self.context.is_some()
    }

    /// A state of zeros.
    pub(crate) fn zero_state(&self, rows: usize) -> CellState {
        let zeros = || Pass::zeros(rows, self.width);
        CellState { h: zeros(), c: (self.kind == CellKind::Lstm).then(zeros) }
    }

    /// The product of the main input, for one step `[rows, in]` or all of them `[time, rows, in]` at once.
    pub(crate) fn project(&self, pass: &Pass, x: &Var) -> Result<Var> {
        let bias = match self.scale {
            Scale::Bias { input, .. } => Some(pass.weight(input)),
            Scale::Norm { .. } => None,
        };
        Ok(ops::linear(pass.tape, x, pass.weight(self.input), bias)?)
    }

    /// One step from `state`.
    pub(crate) fn step(
        &self,
        pass: &Pass,
        inputs: &CellInputs,
        state: &CellState,
        mask: RecurrentMask,
    ) -> Result<CellState> {
        let h = pass.masked(&state.h, mask)?;
        match (self.kind, &state.c) {
            (CellKind::Lstm, Some(c)) => self.lstm(pass, inputs, &h, c),
            (CellKind::GruResetBefore, _) => self.gru_reset_before(pass, inputs, &h, &state.h),
            _ => self.gru_reset_after(pass, inputs, &h, &state.h),
        }
    }

    fn lstm(&self, pass: &Pass, inputs: &CellInputs, h: &Var, c: &Var) -> Result<CellState> {
        let tape = pass.tape;
        let Scale::Norm { hidden, inner, .. } = &self.scale else {
            let gates = self.input_sum(pass, inputs, Some(h))?;
            let (h, c) = ops::lstm_cell(tape, &gates, c)?;
            return Ok(CellState { h, c: Some(c) });
        };
        let recurrent = hidden.apply(pass, &ops::linear(tape, h, pass.weight(self.hidden), None)?)?;
        let gates = ops::add(tape, &self.normalised_inputs(pass, inputs)?, &recurrent)?;
        let (h, c) = ops::lstm_cell(tape, &gates, c)?;
        let Some(inner) = inner else { return Ok(CellState { h, c: Some(c) }) };
        let output = ops::sigmoid(tape, &ops::slice_last(tape, &gates, 3 * self.width..4 * self.width)?)?;
        let h = ops::mul(tape, &output, &ops::tanh(tape, &inner.apply(pass, &c)?)?)?;
        Ok(CellState { h, c: Some(c) })
    }

    fn gru_reset_after(&self, pass: &Pass, inputs: &CellInputs, h: &Var, kept: &Var) -> Result<CellState> {
        let (x_gates, h_gates) = match &self.scale {
            Scale::Bias { hidden, .. } => {
                let bias = hidden.map(|bias| pass.weight(bias));
                let h_gates = ops::linear(pass.tape, h, pass.weight(self.hidden), bias)?;
                (self.input_sum(pass, inputs, None)?, h_gates)
            }
            Scale::Norm { hidden, .. } => {
                let h_gates = ops::linear(pass.tape, h, pass.weight(self.hidden), None)?;
                (self.normalised_inputs(pass, inputs)?, hidden.apply(pass, &h_gates)?)
            }
        };
        Ok(CellState { h: ops::gru_cell(pass.tape, &x_gates, &h_gates, kept)?, c: None })
    }

    fn gru_reset_before(&self, pass: &Pass, inputs: &CellInputs, h: &Var, kept: &Var) -> Result<CellState> {
        let (tape, width) = (pass.tape, self.width);
        let (x, recurrent, inner) = match &self.scale {
            Scale::Bias { .. } => {
                let recurrent = ops::linear(tape, h, pass.weight(self.hidden), None)?;
                (self.input_sum(pass, inputs, None)?, recurrent, None)
            }
            Scale::Norm { hidden, inner, .. } => {
                let recurrent = ops::linear(tape, h, pass.weight(self.hidden), None)?;
                (self.normalised_inputs(pass, inputs)?, hidden.apply(pass, &recurrent)?, *inner)
            }
        };
        let gates = ops::add(tape, &ops::slice_last(tape, &x, 0..2 * width)?, &recurrent)?;
        let gates = ops::sigmoid(tape, &gates)?;
        let (r, z) =
            (ops::slice_last(tape, &gates, 0..width)?, ops::slice_last(tape, &gates, width..2 * width)?);
        let reset = ops::mul(tape, &r, h)?;
        let x_n = ops::slice_last(tape, &x, 2 * width..3 * width)?;
        let candidate = self.candidate.map_or(Ok(reset.clone()), |weight| match inner {
            Some(norm) => {
                let product = ops::linear(tape, &reset, pass.weight(weight), None)?;
                Ok::<_, crate::ModelError>(ops::add(tape, &x_n, &norm.apply(pass, &product)?)?)
            }
            None => Ok(ops::linear_sum(tape, [(&reset, pass.weight(weight))], None, Some(&x_n))?),
        })?;
        let n = ops::tanh(tape, &candidate)?;
        // h' = n + z ∘ (h - n)
        let difference = ops::add(tape, kept, &ops::scale(tape, &n, -1.0)?)?;
        let h = ops::add(tape, &n, &ops::mul(tape, &z, &difference)?)?;
        Ok(CellState { h, c: None })
    }

    /// The sum of all input products, and of the state's where it is given.
    fn input_sum(&self, pass: &Pass, inputs: &CellInputs, h: Option<&Var>) -> Result<Var> {
        let parts = [(inputs.context, self.context), (inputs.feed, self.feed), (h, Some(self.hidden))];
        let terms = parts.into_iter().filter_map(|(x, weight)| Some((x?, pass.weight(weight?))));
        if terms.clone().next().is_none() {
            return Ok(inputs.projected.clone());
        }
        Ok(ops::linear_sum(pass.tape, terms, None, Some(inputs.projected))?)
    }

    fn normalised_inputs(&self, pass: &Pass, inputs: &CellInputs) -> Result<Var> {
        let sum = self.input_sum(pass, inputs, None)?;
        match &self.scale {
            Scale::Norm { input, .. } => input.apply(pass, &sum),
            Scale::Bias { .. } => Ok(sum),
        }
    }
}

impl CellState {
    /// What it is made of.
    pub(super) fn tensors(&self) -> impl Iterator<Item = Var> {
        [Some(self.h.clone()), self.c.clone()].into_iter().flatten()
    }

    /// Rows that are not active keep what they had.
    pub(crate) fn carry(self, pass: &Pass, old: &Self, active: &[bool]) -> Result<Self> {
        let h = ops::carry(pass.tape, &self.h, &old.h, active)?;
        let c = match (&self.c, &old.c) {
            (Some(new), Some(old)) => Some(ops::carry(pass.tape, new, old, active)?),
            _ => None,
        };
        Ok(Self { h, c })
    }
}
