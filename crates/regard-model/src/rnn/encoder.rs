//! The reader: layers of cells in one or both directions.

use regard_tensor::ops;
use regard_tensor::{List, Var};
use regard_text::{Padded, special_tokens};

use super::{Cell, CellInputs, CellState, CellWidths};
use crate::attention::Place;
use crate::config::{Bidirectional, RecurrentConfig};
use crate::error::Result;
use crate::parameters::{Builder, ParameterId};
use crate::pass::Pass;
use crate::seq2seq::Row;

pub(crate) struct Encoder {
    embedding: ParameterId,
    layers: Vec<Layer>,
    /// Each direction reads what it has read itself in the layer below.
    apart: bool,
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
    pub(crate) finals: List<(CellState, Option<CellState>)>,
}

impl Encoder {
    pub(crate) fn new(builder: &mut Builder, config: &RecurrentConfig, embedding: ParameterId) -> Self {
        let layers = (0..config.encoder.layers).map(|layer| {
            let input = config.encoder.input_width(layer, config.embedding);
            let widths = CellWidths { input, context: 0, feed: 0, hidden: config.encoder.hidden };
            let mut cell = |direction: &str| {
                let name = format!("encoder.{layer}.{direction}");
                Cell::new(builder, &name, config.cell, config.cell_norm(), &widths)
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
            apart: config.encoder.bidirectional == Bidirectional::Stacks,
            reverse: config.encoder.reverse_source,
            dropout: config.dropout,
            recurrent_dropout: config.recurrent_dropout,
            word_dropout: config.word_dropout,
        }
    }

    /// Reads rows of ids, each ended by the end symbol.
    pub(crate) fn encode(&self, pass: &Pass, source: &Padded) -> Result<Encoded> {
        let order = Order { source, reverse: self.reverse };
        let (rows, width) = (source.rows(), source.width);
        let ids: List<u32> = (0..width)
            .flat_map(|time| (0..rows).map(move |row| (time, row)))
            .map(|(time, row)| {
                source.row(row).get(order.at(row, time)).copied().unwrap_or(special_tokens::PAD)
            })
            .collect();
        let x = ops::embedding(pass.tape, pass.weight(self.embedding), &ids)?;
        let x = pass.hooked(Place::SourceWords, x, || order.rows())?;
        let x = pass.dropout(&pass.word_dropout(&x, self.word_dropout)?, self.dropout)?;
        let x = ops::reshape(pass.tape, &x, [width, rows, x.shape().last()])?;
        let mut flow = if self.apart { Flow::Apart(x.clone(), x) } else { Flow::Joined(x) };
        let mut finals = List::with_capacity(self.layers.len());
        for (index, layer) in self.layers.iter().enumerate() {
            // What goes around the cell keeps every element.
            let dropout = if index == 0 { 0.0 } else { self.dropout };
            let ends;
            (flow, ends) = self.layer(pass, layer, flow, &source.lengths, dropout)?;
            finals.push(ends);
        }
        let x = match flow {
            Flow::Joined(x) => x,
            Flow::Apart(forward, backward) => ops::concat(pass.tape, &[&forward, &backward])?,
        };
        Ok(Encoded { states: batch_major(pass, &x, order)?, finals })
    }

    /// One layer: what it leaves, and where it ended.
    fn layer(
        &self,
        pass: &Pass,
        layer: &Layer,
        flow: Flow,
        lengths: &[usize],
        dropout: f64,
    ) -> Result<(Flow, (CellState, Option<CellState>))> {
        let mask = || pass.mask(self.recurrent_dropout);
        let around = |y: Var, x: &Var| if layer.residual { ops::add(pass.tape, &y, x) } else { Ok(y) };
        match (flow, &layer.backward) {
            (Flow::Apart(x, z), Some(cell)) => {
                let input = pass.dropout(&x, dropout)?;
                let (forward, end) = read(pass, &layer.forward, &input, lengths, Reading::Forward(mask()))?;
                let input = pass.dropout(&z, dropout)?;
                let (backward, last) = read(pass, cell, &input, lengths, Reading::Backward(mask()))?;
                Ok((Flow::Apart(around(forward, &x)?, around(backward, &z)?), (end, Some(last))))
            }
            (Flow::Joined(x) | Flow::Apart(x, _), backward) => {
                let input = pass.dropout(&x, dropout)?;
                let (forward, end) = read(pass, &layer.forward, &input, lengths, Reading::Forward(mask()))?;
                let Some(cell) = backward else {
                    return Ok((Flow::Joined(around(forward, &x)?), (end, None)));
                };
                let (backward, last) = read(pass, cell, &input, lengths, Reading::Backward(mask()))?;
                let output = ops::concat(pass.tape, &[&forward, &backward])?;
                Ok((Flow::Joined(around(output, &x)?), (end, Some(last))))
            }
        }
    }
}

/// What goes from layer to layer, `[time, rows, width]`: one sequence, or one for each direction.
enum Flow {
    Joined(Var),
    Apart(Var, Var),
}

/// Which position of a sentence is read at which time: the words forwards or backwards, then the end symbol and padding.
#[derive(Clone, Copy)]
struct Order<'a> {
    source: &'a Padded,
    reverse: bool,
}

impl Order<'_> {
    fn at(self, row: usize, time: usize) -> usize {
        let words = self.source.lengths[row].saturating_sub(1);
        if self.reverse && time < words { words - 1 - time } else { time }
    }

    /// The rows in the order in which they are embedded: time by time.
    fn rows(self) -> List<Row> {
        let sentences = self.source.rows();
        let row = |place: usize| {
            let (time, sentence) = (place / sentences, place % sentences);
            Row { sentence, hypothesis: 0, parent: 0, position: self.at(sentence, time) }
        };
        (0..self.source.width * sentences).map(row).collect()
    }
}

/// `[time, rows, size]` in reading order to `[rows, positions, size]` in the order of the words.
fn batch_major(pass: &Pass, x: &Var, order: Order) -> Result<Var> {
    let &[width, rows, size] = x.shape().sizes() else { return Ok(x.clone()) };
    // Reversal is its own inverse, so the time at which a place was read is the order at that place.
    let place = |place: usize| order.at(place / width, place % width) * rows + place / width;
    let places: List<usize> = (0..rows * width).map(place).collect();
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
    let mut states = List::with_capacity(steps);
    for step in 0..steps {
        let time = if backward { steps - 1 - step } else { step };
        let projected = ops::slice(pass.tape, &projected, time)?;
        let inputs = CellInputs { projected: &projected, context: None, feed: None };
        let active: List<bool> = lengths.iter().map(|&length| time < length).collect();
        state = cell.step(pass, &inputs, &state, mask)?.carry(pass, &state, &active)?;
        states.push(state.h.clone());
    }
    if backward {
        states.reverse();
    }
    Ok((ops::stack(pass.tape, &states)?, state))
}
