//! Recurrent networks: the cells, the reader and the writer.

mod bridge;
mod cell;
mod decoder;
mod decoder_state;
mod encoder;
mod readout;

pub(crate) use bridge::{Bridge, both_directions};
pub(crate) use cell::{Cell, CellInputs, CellState, CellWidths, RecurrentMask};
pub(crate) use decoder::{Decoder, StepInput};
pub(crate) use decoder_state::{DecoderMemory, DecoderState, Layout};
pub(crate) use encoder::{Encoded, Encoder};
pub(crate) use readout::ReadoutInput;
