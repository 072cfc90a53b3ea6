//! Where the decoder's first state comes from.

use regard_tensor::ops::{self, Function};
use regard_tensor::{List, Tensor, Var};

use super::{Cell, CellState, Encoded};
use crate::affine::Affine;
use crate::config::{CellKind, InitialState, RecurrentConfig};
use crate::error::Result;
use crate::parameters::Builder;
use crate::pass::Pass;

/// The first state of each decoder layer from the encoder's last ones.
pub(crate) struct Bridge {
    kind: InitialState,
    hidden: usize,
    maps: Vec<Map>,
}

/// A learned map of the encoder's last state for one decoder layer.
struct Map {
    h: Affine,
    c: Option<Affine>,
}

impl Bridge {
    pub(crate) fn new(builder: &mut Builder, config: &RecurrentConfig) -> Self {
        let kind = config.decoder.initial_state;
        let input = match kind {
            InitialState::Bridge | InitialState::MeanBridge => config.memory_width(),
            InitialState::BackwardBridge => config.encoder.hidden,
            InitialState::Zero | InitialState::Last => 0,
        };
        let layers = if input > 0 { config.decoder.layers } else { 0 };
        let maps = (0..layers).map(|layer| {
            let mut map = |part: &str| {
                let name = format!("bridge.{layer}.{part}");
                match config.map_norm() {
                    Some(epsilon) => Affine::normed(builder, &name, config.decoder.hidden, input, epsilon),
                    None => Affine::new(builder, &name, config.decoder.hidden, input),
                }
            };
            Map { h: map("hidden"), c: (config.cell == CellKind::Lstm).then(|| map("cell")) }
        });
        Self { kind, hidden: config.decoder.hidden, maps: maps.collect() }
    }

    /// The first states, one row for each sentence of so many positions.
    pub(crate) fn initial(
        &self,
        pass: &Pass,
        encoded: &Encoded,
        lengths: &[usize],
        cells: &[Cell],
    ) -> Result<List<CellState>> {
        let rows = encoded.states.shape().first();
        match (self.kind, encoded.finals.last()) {
            (InitialState::MeanBridge, _) => {
                let mean = mean(pass, &encoded.states, lengths)?;
                self.mapped(pass, &CellState { c: Some(mean.clone()), h: mean })
            }
            (InitialState::Zero, _) | (_, None) => {
                Ok(cells.iter().map(|cell| cell.zero_state(rows)).collect())
            }
            (InitialState::Last, _) => {
                encoded.finals.iter().take(cells.len()).map(|finals| self.handed_over(pass, finals)).collect()
            }
            (InitialState::Bridge, Some(top)) => self.mapped(pass, &both_directions(pass, top)?),
            (InitialState::BackwardBridge, Some((forward, backward))) => {
                self.mapped(pass, backward.as_ref().unwrap_or(forward))
            }
        }
    }

    /// Both directions where they fit side by side, else the backward one, else the only one.
    fn handed_over(&self, pass: &Pass, finals: &(CellState, Option<CellState>)) -> Result<CellState> {
        let (forward, backward) = finals;
        match backward {
            Some(backward) if forward.h.shape().last() == self.hidden => Ok(backward.clone()),
            Some(_) => both_directions(pass, finals),
            None => Ok(forward.clone()),
        }
    }

    fn mapped(&self, pass: &Pass, last: &CellState) -> Result<List<CellState>> {
        let apply = |x: &Var, map: &Affine| map.apply_then(pass, x, Function::Tanh);
        let state = |map: &Map| {
            let c = match (&last.c, &map.c) {
                (Some(c), Some(map)) => Some(apply(c, map)?),
                _ => None,
            };
            Ok(CellState { h: apply(&last.h, &map.h)?, c })
        };
        self.maps.iter().map(state).collect()
    }
}

/// The mean of the states `[sentences, positions, width]` of each sentence.
fn mean(pass: &Pass, states: &Var, lengths: &[usize]) -> Result<Var> {
    let positions = states.shape().sizes().get(1).copied().unwrap_or_default();
    let weights = Tensor::build([lengths.len(), positions], |weights| {
        for (row, &length) in weights.chunks_exact_mut(positions.max(1)).zip(lengths) {
            for (position, weight) in row.iter_mut().enumerate() {
                *weight = if position < length { 1.0 / length as f32 } else { 0.0 };
            }
        }
    });
    let sentences: List<usize> = (0..lengths.len()).collect();
    Ok(ops::weighted_sum(pass.tape, &Var::constant(weights), states, &sentences, lengths)?)
}

/// The last states of both readers side by side.
pub(crate) fn both_directions(
    pass: &Pass,
    (forward, backward): &(CellState, Option<CellState>),
) -> Result<CellState> {
    let Some(backward) = backward else { return Ok(forward.clone()) };
    let h = ops::concat(pass.tape, &[&forward.h, &backward.h])?;
    let c = match (&forward.c, &backward.c) {
        (Some(forward), Some(backward)) => Some(ops::concat(pass.tape, &[forward, backward])?),
        _ => None,
    };
    Ok(CellState { h, c })
}
