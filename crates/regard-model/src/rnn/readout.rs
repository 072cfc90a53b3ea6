//! What stands between the decoder's state and the output layer.

use regard_tensor::ops;
use regard_tensor::{List, Var};

use crate::config::{ContextKind, Readout as ReadoutKind, RecurrentConfig};
use crate::error::Result;
use crate::layer_norm::LayerNorm;
use crate::parameters::{Builder, ParameterId};
use crate::pass::Pass;

/// A map of state, last word and context to the readout vector.
pub(crate) struct Readout {
    kind: ReadoutKind,
    state: Option<Part>,
    embedding: Option<Part>,
    context: Option<Part>,
    bias: Option<ParameterId>,
}

/// What is done with one of its inputs.
struct Part {
    weight: ParameterId,
    norm: Option<LayerNorm>,
}

/// What a readout sees: rows of one step, or of all steps at once.
#[derive(Clone)]
pub(crate) struct ReadoutInput {
    pub(crate) state: Var,
    pub(crate) embedding: Var,
    pub(crate) context: Option<Var>,
}

impl ReadoutInput {
    /// The steps one after the other, as `[time, rows, width]`.
    pub(crate) fn stack(pass: &Pass, steps: &[Self]) -> Result<Self> {
        let collect = |part: fn(&Self) -> Var| -> Result<Var> {
            Ok(ops::stack(pass.tape, &steps.iter().map(part).collect::<List<_>>())?)
        };
        let contexts: Option<List<Var>> = steps.iter().map(|step| step.context.clone()).collect();
        let context = contexts.map(|contexts| ops::stack(pass.tape, &contexts)).transpose()?;
        Ok(Self {
            state: collect(|step| step.state.clone())?,
            embedding: collect(|step| step.embedding.clone())?,
            context,
        })
    }
}

impl Readout {
    pub(crate) fn new(builder: &mut Builder, config: &RecurrentConfig) -> Self {
        let kind = config.decoder.readout;
        let width = config.readout_width();
        let rows = if kind == ReadoutKind::Maxout { 2 * width } else { width };
        let deep = matches!(kind, ReadoutKind::Tanh | ReadoutKind::Maxout);
        let mut map = |part: &str, size: usize, wanted: bool| {
            let name = format!("readout.{part}");
            wanted.then(|| Part {
                weight: builder.matrix(&format!("{name}.weight"), rows, size, 1),
                norm: config
                    .map_norm()
                    .map(|epsilon| LayerNorm::new(builder, &format!("{name}.norm"), rows, 0..0, epsilon)),
            })
        };
        let learned = !matches!(kind, ReadoutKind::Linear | ReadoutKind::Concat);
        Self {
            kind,
            state: map("state", config.decoder.hidden, learned),
            embedding: map("embedding", config.embedding, deep),
            context: map("context", config.memory_width(), learned && config.context != ContextKind::Once),
            bias: (deep && config.map_norm().is_none()).then(|| builder.vector("readout.bias", rows, 0..0)),
        }
    }

    pub(crate) fn apply(&self, pass: &Pass, input: &ReadoutInput) -> Result<Var> {
        match (self.kind, &input.context) {
            (ReadoutKind::Linear, _) => Ok(input.state.clone()),
            (ReadoutKind::Concat, Some(context)) => Ok(ops::concat(pass.tape, &[&input.state, context])?),
            _ => self.mapped(pass, input),
        }
    }

    fn mapped(&self, pass: &Pass, input: &ReadoutInput) -> Result<Var> {
        let parts = [
            (Some(&input.state), &self.state),
            (Some(&input.embedding), &self.embedding),
            (input.context.as_ref(), &self.context),
        ];
        let parts = parts.into_iter().filter_map(|(x, part)| Some((x?, part.as_ref()?)));
        let mut normed = None;
        for (x, part) in parts.clone() {
            let Some(norm) = &part.norm else { continue };
            let y = norm.apply(pass, &ops::linear(pass.tape, x, pass.weight(part.weight), None)?)?;
            normed = Some(match normed {
                Some(sum) => ops::add(pass.tape, &sum, &y)?,
                None => y,
            });
        }
        let terms = parts.map(|(x, part)| (x, pass.weight(part.weight)));
        let sum = match normed {
            Some(sum) => sum,
            None => ops::linear_sum(pass.tape, terms, self.bias.map(|bias| pass.weight(bias)), None)?,
        };
        Ok(match self.kind {
            ReadoutKind::Maxout => ops::maxout(pass.tape, &sum)?,
            _ => ops::tanh(pass.tape, &sum)?,
        })
    }
}
