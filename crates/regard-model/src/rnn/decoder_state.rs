//! What the decoder knows of the source, and what changes from step to step, as lists of tensors.

use regard_tensor::{List, Var};

use super::CellState;
use crate::seq2seq::{Memory, State};

/// The encoded source as the decoder uses it.
pub(crate) struct DecoderMemory {
    /// `[sentences, positions, width]`.
    pub(crate) states: Var,
    /// The states as the scoring function wants them; the states themselves where nothing is scored.
    pub(crate) keys: Var,
    /// The one vector of a model that is fed the same context at every step: `[sentences, width]`.
    pub(crate) fixed: Option<Var>,
    /// The first state of each layer, one row a sentence.
    pub(crate) initial: List<CellState>,
    /// Positions of each sentence.
    pub(crate) lengths: List<usize>,
}

/// What changes from step to step.
#[derive(Clone)]
pub(crate) struct DecoderState {
    pub(crate) layers: List<CellState>,
    /// The last readout vector, with input feeding.
    pub(crate) feed: Option<Var>,
}

/// Which optional tensors a model has, so that lists can be read back.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    pub(crate) layers: usize,
    pub(crate) cells: bool,
    pub(crate) fixed: bool,
    pub(crate) feed: bool,
}

impl Layout {
    pub(crate) fn memory_to_list(memory: DecoderMemory) -> Memory {
        let mut tensors = vec![memory.states, memory.keys];
        tensors.extend(memory.fixed);
        tensors.extend(memory.initial.iter().flat_map(CellState::tensors));
        Memory { lengths: memory.lengths.to_vec(), tensors, ..Memory::default() }
    }

    /// The memory from its list; `None` where the list is not this model's.
    pub(crate) fn memory(self, memory: &Memory) -> Option<DecoderMemory> {
        let mut tensors = memory.tensors.iter().cloned();
        let (states, keys) = (tensors.next()?, tensors.next()?);
        let fixed = if self.fixed { Some(tensors.next()?) } else { None };
        let initial = self.cell_states(&mut tensors)?;
        Some(DecoderMemory { states, keys, fixed, initial, lengths: List::from(&memory.lengths[..]) })
    }

    pub(crate) fn state_to_list(state: DecoderState) -> State {
        let mut tensors: Vec<Var> = state.feed.into_iter().collect();
        tensors.extend(state.layers.iter().flat_map(CellState::tensors));
        State { tensors, ..State::default() }
    }

    /// The state from its list; `None` where the list is not this model's.
    pub(crate) fn state(self, state: &State) -> Option<DecoderState> {
        let mut tensors = state.tensors.iter().cloned();
        let feed = if self.feed { Some(tensors.next()?) } else { None };
        Some(DecoderState { layers: self.cell_states(&mut tensors)?, feed })
    }

    fn cell_states(self, tensors: &mut impl Iterator<Item = Var>) -> Option<List<CellState>> {
        (0..self.layers)
            .map(|_| {
                Some(CellState {
                    h: tensors.next()?,
                    c: if self.cells { Some(tensors.next()?) } else { None },
                })
            })
            .collect()
    }
}
