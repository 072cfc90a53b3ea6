//! Many attentions for one step at once: each row of a step has its own.

use regard_decode::Decoding;
use regard_model::{
    AttentionHook, AttentionSite, HookCall, Memory, ModelError, Row, Run, SiteKind, State, StepOutput,
};
use regard_tensor::{Tape, Tensor, Var, random};

use crate::draws::{shuffle, strongest};
use crate::error::Result;

/// What is done to the weights of all layers and heads that look at the source.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Variant {
    /// Nothing.
    Same,
    /// They are shuffled.
    Permuted(u64),
    /// All are the same.
    Uniform,
    /// The strongest has all.
    Hard,
    /// These columns are masked; the others grow.
    Without(Vec<usize>),
    /// All but these are masked.
    Alone(Vec<usize>),
    /// The source is not there.
    Nothing,
}

/// The step of a sentence before it is taken.
pub(super) struct Moment<'a> {
    pub(super) memory: &'a Memory,
    pub(super) state: &'a State,
    /// The token before.
    pub(super) token: u32,
    pub(super) position: usize,
    /// Source positions, the end symbol included.
    pub(super) positions: usize,
}

/// Takes the step with each variant.
pub(super) fn take(
    decoding: &Decoding,
    tape: &Tape,
    moment: &Moment,
    variants: &[Variant],
) -> Result<StepOutput> {
    let hook = Variants { variants, positions: moment.positions };
    let run = Run { tape, hook: Some(&hook), attention: false };
    let rows: Vec<Row> = (0..variants.len())
        .map(|hypothesis| Row { sentence: 0, hypothesis, parent: 0, position: moment.position })
        .collect();
    let state = moment.state.select(&vec![0; variants.len()])?;
    let tokens = vec![moment.token; variants.len()];
    Ok(decoding.model.step(&run, moment.memory, &state, &tokens, &rows)?)
}

struct Variants<'a> {
    variants: &'a [Variant],
    positions: usize,
}

impl AttentionHook for Variants<'_> {
    fn wants(&self, site: AttentionSite) -> bool {
        site.kind == SiteKind::Cross
    }

    fn weights(&self, call: &HookCall, weights: Var) -> Result<Var, ModelError> {
        let mut values: Tensor = weights.value().deep_copy();
        let width = values.shape().last().max(1);
        for (row, values) in call.rows.iter().zip(values.values_mut().chunks_exact_mut(width)) {
            if let Some(variant) = self.variants.get(row.hypothesis) {
                variant.apply(&mut values[..self.positions.min(width)], call.site);
            }
        }
        Ok(Var::constant(values))
    }
}

impl Variant {
    fn apply(&self, row: &mut [f32], site: AttentionSite) {
        match self {
            Self::Same => {}
            Self::Permuted(seed) => {
                let key = random::mix(random::mix(*seed, site.layer as u64), site.head as u64);
                shuffle(row, key);
            }
            Self::Uniform => {
                let weight = 1.0 / row.len() as f32;
                row.fill(weight);
            }
            Self::Hard => {
                let best = strongest(row);
                row.fill(0.0);
                row[best] = 1.0;
            }
            Self::Without(columns) => mask(row, |column| !columns.contains(&column)),
            Self::Alone(columns) => mask(row, |column| columns.contains(&column)),
            Self::Nothing => row.fill(0.0),
        }
    }
}

/// Keeps some columns, which take over the weight of the others; where they had none, they share it evenly.
fn mask(row: &mut [f32], keeps: impl Fn(usize) -> bool) {
    let total: f32 = row.iter().sum();
    let kept = (0..row.len()).filter(|&column| keeps(column));
    let (sum, count) = kept.fold((0.0, 0), |(sum, count), column| (sum + row[column], count + 1));
    for (column, weight) in row.iter_mut().enumerate() {
        *weight = match (keeps(column), sum > 0.0) {
            (true, true) => *weight * (total / sum),
            (true, false) => total / count as f32,
            (false, _) => 0.0,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(clippy::float_cmp, reason = "halves and quarters are exact")]
    #[test]
    fn masks_leave_the_whole_weight() {
        let after = |variant: Variant| {
            let mut row = [0.5, 0.25, 0.25, 0.0];
            variant.apply(&mut row, AttentionSite::CROSS);
            row
        };
        assert_eq!(after(Variant::Without(vec![0])), [0.0, 0.5, 0.5, 0.0]);
        assert_eq!(after(Variant::Alone(vec![0, 3])), [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(after(Variant::Alone(vec![3])), [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(after(Variant::Hard), [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(after(Variant::Uniform), [0.25; 4]);
        assert_eq!(after(Variant::Nothing), [0.0; 4]);
        assert_eq!(after(Variant::Same), [0.5, 0.25, 0.25, 0.0]);
        let mut sorted = after(Variant::Permuted(3));
        sorted.sort_by(f32::total_cmp);
        assert_eq!(sorted, [0.0, 0.25, 0.25, 0.5]);
    }
}
