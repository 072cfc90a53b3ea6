//! Where the decoder's first state comes from.

use regard_tensor::Var;
use regard_tensor::ops;

use super::{Cell, CellState, Encoded};
use crate::config::{CellKind, InitialState, RecurrentConfig};
use crate::error::Result;
use crate::parameters::{Builder, ParameterId};
use crate::pass::Pass;

/// The first state of each decoder layer from the encoder's last ones.
pub(crate) struct Bridge {
    kind: InitialState,
    hidden: usize,
    maps: Vec<Map>,
}

/// A learned map of the encoder's last state for one decoder layer.
struct Map {
    h: (ParameterId, ParameterId),
    c: Option<(ParameterId, ParameterId)>,
}

impl Bridge {
    pub(crate) fn new(builder: &mut Builder, config: &RecurrentConfig) -> Self {
        let kind = config.decoder.initial_state;
        let input = match kind {
            InitialState::Bridge => config.memory_width(),
            InitialState::BackwardBridge => config.encoder.hidden,
            InitialState::Zero | InitialState::Last => 0,
        };
        let layers = if input > 0 { config.decoder.layers } else { 0 };
        let maps = (0..layers).map(|layer| {
            let mut map = |part: &str| {
                let name = format!("bridge.{layer}.{part}");
                let weight = builder.matrix(&format!("{name}.weight"), config.decoder.hidden, input, 1);
                (weight, builder.vector(&format!("{name}.bias"), config.decoder.hidden, 0..0))
            };
            Map { h: map("hidden"), c: (config.cell == CellKind::Lstm).then(|| map("cell")) }
        });
        Self { kind, hidden: config.decoder.hidden, maps: maps.collect() }
    }

    pub(crate) fn initial(&self, pass: &Pass, encoded: &Encoded, cells: &[Cell]) -> Result<Vec<CellState>> {
        let rows = encoded.states.shape().first();
        match (self.kind, encoded.finals.last()) {
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

    fn mapped(&self, pass: &Pass, last: &CellState) -> Result<Vec<CellState>> {
        let apply = |x: &Var, (weight, bias): (ParameterId, ParameterId)| -> Result<Var> {
            let y = ops::linear(pass.tape, x, pass.weight(weight), Some(pass.weight(bias)))?;
            Ok(ops::tanh(pass.tape, &y)?)
        };
        let state = |map: &Map| {
            let c = match (&last.c, map.c) {
                (Some(c), Some(map)) => Some(apply(c, map)?),
                _ => None,
            };
            Ok(CellState { h: apply(&last.h, map.h)?, c })
        };
        self.maps.iter().map(state).collect()
    }
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
