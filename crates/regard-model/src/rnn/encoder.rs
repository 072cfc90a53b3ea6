//! The reader: layers of cells in one or both directions.

use regard_tensor::Var;
use regard_tensor::ops;
use regard_text::{Padded, special_tokens};

use super::{Cell, CellInputs, CellState, CellWidths};
use crate::config::RecurrentConfig;
use crate::error::Result;
use crate::parameters::{Builder, ParameterId};
use crate::pass::Pass;

pub(crate) struct Encoder {
    embedding: ParameterId,
    layers: Vec<Layer>,
    reverse: bool,
    dropout: f64,
    recurrent_dropout: f64,
    word_dropout: f64,
}

struct Layer {
    forward: Cell,
    backward: Option<Cell>,
    residual: bool,
}

/// What the reader leaves: the states that attention reads, and where each layer ended.
pub(crate) struct Encoded {
    /// `[sentences, positions, width]`, in the order of the words.
    pub(crate) states: Var,
    /// Per layer: the forward reader's last state, and the backward one's.
    pub(crate) finals: Vec<(CellState, Option<CellState>)>,
}

impl Encoder {
    pub(crate) fn new(builder: &mut Builder, config: &RecurrentConfig, embedding: ParameterId) -> Self {
        let layers = (0..config.encoder.layers).map(|layer| {
            let input = if layer == 0 { config.embedding } else { config.encoder.width(layer - 1) };
            let widths = CellWidths { input, context: 0, feed: 0, hidden: config.encoder.hidden };
            let mut cell = |direction: &str| {
                let name = format!("encoder.{layer}.{direction}");
                Cell::new(builder, &name, config.cell, config.layer_norm, &widths)
            };
            Layer {
                forward: cell("forward"),
                backward: config.encoder.is_bidirectional(layer).then(|| cell("backward")),
                residual: config.residual_from > 0 && layer + 1 >= config.residual_from,
            }
        });
        Self {
            embedding,
            layers: layers.collect(),
            reverse: config.encoder.reverse_source,
            dropout: config.dropout,
            recurrent_dropout: config.recurrent_dropout,
            word_dropout: config.word_dropout,
        }
    }

    /// Reads rows of ids, each ended by the end symbol.
    pub(crate) fn encode(&self, pass: &Pass, source: &Padded) -> Result<Encoded> {
        let order = reading_order(source, self.reverse);
        let (rows, width) = (source.rows(), source.width);
        let ids: Vec<u32> = (0..width)
            .flat_map(|time| (0..rows).map(move |row| (time, row)))
            .map(|(time, row)| source.row(row).get(order[row][time]).copied().unwrap_or(special_tokens::PAD))
            .collect();
        let x = ops::embedding(pass.tape, pass.weight(self.embedding), &ids)?;
        let x = pass.dropout(&pass.word_dropout(&x, self.word_dropout)?, self.dropout)?;
        let mut x = ops::reshape(pass.tape, &x, [width, rows, x.shape().last()])?;
        let mut finals = Vec::with_capacity(self.layers.len());
        for (index, layer) in self.layers.iter().enumerate() {
            // What goes around the cell keeps every element.
            let input = if index == 0 { x.clone() } else { pass.dropout(&x, self.dropout)? };
            let mask = || pass.mask(self.recurrent_dropout);
            let (forward, forward_final) =
                read(pass, &layer.forward, &input, &source.lengths, Reading::Forward(mask()))?;
            let mut output = forward;
            let mut backward_final = None;
            if let Some(cell) = &layer.backward {
                let (backward, last) = read(pass, cell, &input, &source.lengths, Reading::Backward(mask()))?;
                output = ops::concat(pass.tape, &[&output, &backward])?;
                backward_final = Some(last);
            }
            x = if layer.residual { ops::add(pass.tape, &output, &x)? } else { output };
            finals.push((forward_final, backward_final));
        }
        Ok(Encoded { states: batch_major(pass, &x, &order)?, finals })
    }
}

/// For each row: at which place of the sentence the reader is at each time. Padding is read where it stands.
fn reading_order(source: &Padded, reverse: bool) -> Vec<Vec<usize>> {
    let order = |row: usize| {
        let words = source.lengths[row].saturating_sub(1);
        (0..source.width).map(|time| if reverse && time < words { words - 1 - time } else { time }).collect()
    };
    (0..source.rows()).map(order).collect()
}

/// `[time, rows, width]` in reading order to `[rows, positions, width]` in the order of the words.
fn batch_major(pass: &Pass, x: &Var, order: &[Vec<usize>]) -> Result<Var> {
    let &[width, rows, size] = x.shape().sizes() else { return Ok(x.clone()) };
    // Reversal is its own inverse, so the time at which a place was read is the order at that place.
    let places: Vec<usize> =
        (0..rows).flat_map(|row| order[row].iter().map(move |&time| time * rows + row)).collect();
    let flat = ops::select_rows(pass.tape, x, &places)?;
    Ok(ops::reshape(pass.tape, &flat, [rows, width, size])?)
}

/// In which direction a cell reads, and its recurrent mask.
#[derive(Clone, Copy)]
enum Reading {
    Forward(super::RecurrentMask),
    Backward(super::RecurrentMask),
}

/// All states of one cell over `[time, rows, in]`, and the last one. A row that has ended keeps its state.
fn read(pass: &Pass, cell: &Cell, x: &Var, lengths: &[usize], reading: Reading) -> Result<(Var, CellState)> {
    let projected = cell.project(pass, x)?;
    let steps = x.shape().first();
    let (backward, mask) = match reading {
        Reading::Forward(mask) => (false, mask),
        Reading::Backward(mask) => (true, mask),
    };
    let mut state = cell.zero_state(lengths.len());
    let mut states = Vec::with_capacity(steps);
    for step in 0..steps {
        let time = if backward { steps - 1 - step } else { step };
        let projected = ops::slice(pass.tape, &projected, time)?;
        let inputs = CellInputs { projected: &projected, context: None, feed: None };
        let active: Vec<bool> = lengths.iter().map(|&length| time < length).collect();
        state = cell.step(pass, &inputs, &state, mask)?.carry(pass, &state, &active)?;
        states.push(state.h.clone());
    }
    if backward {
        states.reverse();
    }
    Ok((ops::stack(pass.tape, &states)?, state))
}
