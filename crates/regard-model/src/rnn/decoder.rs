//! The writer: one step, wired as the configuration says.

use regard_tensor::ops;
use regard_tensor::{List, Var};

use super::readout::Readout;
use super::{Bridge, Cell, CellInputs, CellState, CellWidths, DecoderMemory, DecoderState, Encoded, Layout};
use super::{ReadoutInput, RecurrentMask, both_directions};
use crate::attention::{Attention, AttentionOutput, Source};
use crate::config::{
    CellKind, ContextKind, ContextLayers, Query, QueryLayer, Readout as ReadoutKind, ReadoutState,
    RecurrentConfig,
};
use crate::error::Result;
use crate::parameters::Builder;
use crate::pass::Pass;
use crate::seq2seq::Row;

pub(crate) struct Decoder {
    layers: Vec<Cell>,
    /// The second half of a conditional cell, whose input is the context.
    conditional: Option<Cell>,
    attention: Option<Attention>,
    bridge: Bridge,
    readout: Readout,
    wiring: Wiring,
}

/// The parts of the configuration that a step asks about.
struct Wiring {
    context: ContextKind,
    query: Query,
    /// The layer whose state asks.
    query_layer: usize,
    residual_from: usize,
    input_feeding: bool,
    readout_width: usize,
    /// Whether the readout has a map of its own; otherwise what leaves the top layer is dropped with the readout vector.
    maps_top: bool,
    readout_state: ReadoutState,
    cells: bool,
    dropout: f64,
    recurrent_dropout: f64,
}

/// The recurrent dropout masks of all cells of one pass.
pub(crate) struct DecoderMasks(List<RecurrentMask>);

/// What comes into a step.
pub(crate) struct StepInput<'a> {
    /// The embedding of the last token, `[rows, width]`.
    pub(crate) embedding: &'a Var,
    /// Its product with the lowest layer's input weights, where that was made before.
    pub(crate) projected: Option<&'a Var>,
    pub(crate) rows: &'a [Row],
}

/// What a step leaves.
pub(crate) struct DecoderStep {
    pub(crate) state: DecoderState,
    /// The readout vector, where the step had to make it: with input feeding.
    pub(crate) vector: Option<Var>,
    pub(crate) readout: ReadoutInput,
    pub(crate) attention: Option<AttentionOutput>,
}

impl Decoder {
    pub(crate) fn new(builder: &mut Builder, config: &RecurrentConfig) -> Self {
        let (decoder, attention) = (&config.decoder, &config.attention);
        let looks = config.context == ContextKind::Attention;
        let query_layer = match attention.query_layer {
            QueryLayer::Bottom => 0,
            QueryLayer::Top => decoder.layers - 1,
        };
        let intermediate = looks && attention.query == Query::Intermediate;
        // From which layer on the context is known when the layer runs.
        let known_from = match (config.context, attention.query) {
            (ContextKind::Once, _) => usize::MAX,
            (ContextKind::EveryStep, _) | (ContextKind::Attention, Query::Previous) => 0,
            (ContextKind::Attention, Query::Current) => query_layer + 1,
            (ContextKind::Attention, Query::Intermediate) => 1,
        };
        let cell = |builder: &mut Builder, name: &str, widths: &CellWidths| {
            Cell::new(builder, name, config.cell, config.cell_norm(), widths)
        };
        let memory = config.memory_width();
        let layers = (0..decoder.layers).map(|layer| {
            let takes = layer >= known_from && (layer == 0 || decoder.context_layers == ContextLayers::All);
            let widths = CellWidths {
                input: if layer == 0 { config.embedding } else { decoder.hidden },
                context: if takes { memory } else { 0 },
                feed: if layer == 0 && decoder.input_feeding { config.readout_width() } else { 0 },
                hidden: decoder.hidden,
            };
            cell(builder, &format!("decoder.{layer}"), &widths)
        });
        let layers = layers.collect();
        let widths = CellWidths { input: memory, context: 0, feed: 0, hidden: decoder.hidden };
        Self {
            layers,
            conditional: intermediate.then(|| cell(builder, "decoder.0.conditional", &widths)),
            attention: looks.then(|| Attention::new(builder, config)),
            bridge: Bridge::new(builder, config),
            readout: Readout::new(builder, config),
            wiring: Wiring {
                context: config.context,
                query: attention.query,
                query_layer,
                residual_from: config.residual_from,
                input_feeding: decoder.input_feeding,
                readout_width: config.readout_width(),
                maps_top: !matches!(decoder.readout, ReadoutKind::Linear | ReadoutKind::Concat),
                // Without a map of its own, the output layer reads the step's output.
                readout_state: match decoder.readout {
                    ReadoutKind::Linear => ReadoutState::Current,
                    _ => decoder.readout_state,
                },
                cells: config.cell == CellKind::Lstm,
                dropout: config.dropout,
                recurrent_dropout: config.recurrent_dropout,
            },
        }
    }

    /// How memory and state are laid out as lists.
    pub(crate) fn layout(&self) -> Layout {
        Layout {
            layers: self.layers.len(),
            cells: self.wiring.cells,
            fixed: self.wiring.context == ContextKind::EveryStep,
            feed: self.wiring.input_feeding,
        }
    }

    pub(crate) fn has_attention(&self) -> bool {
        self.attention.is_some()
    }

    /// What the decoder needs of the encoded source, computed once.
    pub(crate) fn memory(&self, pass: &Pass, encoded: &Encoded, lengths: &[usize]) -> Result<DecoderMemory> {
        let keys = match &self.attention {
            Some(attention) => attention.keys(pass, &encoded.states)?,
            None => encoded.states.clone(),
        };
        let fixed = match (self.wiring.context, encoded.finals.last()) {
            (ContextKind::EveryStep, Some(top)) => Some(both_directions(pass, top)?.h),
            _ => None,
        };
        let initial = self.bridge.initial(pass, encoded, lengths, &self.layers)?;
        Ok(DecoderMemory {
            states: encoded.states.clone(),
            keys,
            fixed,
            initial,
            lengths: List::from(lengths),
        })
    }

    /// The state before the first step, one row a listed sentence.
    pub(crate) fn start(
        &self,
        pass: &Pass,
        memory: &DecoderMemory,
        sentences: &[usize],
    ) -> Result<DecoderState> {
        let select = |x: &Var| ops::select_rows(pass.tape, x, sentences);
        let layer = |state: &CellState| -> Result<CellState> {
            Ok(CellState { h: select(&state.h)?, c: state.c.as_ref().map(select).transpose()? })
        };
        Ok(DecoderState {
            layers: memory.initial.iter().map(layer).collect::<Result<_>>()?,
            feed: self.wiring.input_feeding.then(|| Pass::zeros(sentences.len(), self.wiring.readout_width)),
        })
    }

    pub(crate) fn masks(&self, pass: &Pass) -> DecoderMasks {
        let cells = self.layers.len() + usize::from(self.conditional.is_some());
        DecoderMasks((0..cells).map(|_| pass.mask(self.wiring.recurrent_dropout)).collect())
    }

    /// The product of embeddings with the lowest layer's input weights, for one step or all at once.
    pub(crate) fn project(&self, pass: &Pass, embeddings: &Var) -> Result<Var> {
        self.layers[0].project(pass, embeddings)
    }

    /// One step.
    pub(crate) fn step(
        &self,
        pass: &Pass,
        memory: &DecoderMemory,
        state: &DecoderState,
        input: &StepInput,
        masks: &DecoderMasks,
    ) -> Result<DecoderStep> {
        let mut look = Look { decoder: self, pass, memory, rows: input.rows, context: None, attention: None };
        look.before_layers(state)?;
        let mut layers = List::with_capacity(self.layers.len());
        // What goes around the cells keeps every element; what goes into them is dropped in part.
        let (mut around, mut output) = (input.embedding.clone(), input.embedding.clone());
        for (layer, cell) in self.layers.iter().enumerate() {
            let projected = match input.projected.filter(|_| layer == 0) {
                Some(projected) => projected.clone(),
                None => cell.project(pass, &output)?,
            };
            let context = look.context.clone().filter(|_| cell.takes_context());
            let feed = state.feed.as_ref().filter(|_| layer == 0);
            let inputs = CellInputs { projected: &projected, context: context.as_ref(), feed };
            let mut new = cell.step(pass, &inputs, &state.layers[layer], masks.0[layer])?;
            if let Some(conditional) = self.conditional.as_ref().filter(|_| layer == 0) {
                new = look.between(conditional, &new, masks.0[self.layers.len()])?;
            }
            let residual = self.wiring.residual_from > 0 && layer + 1 >= self.wiring.residual_from;
            around = if residual { ops::add(pass.tape, &new.h, &around)? } else { new.h.clone() };
            let is_input = layer + 1 < self.layers.len() || self.wiring.maps_top;
            output = if is_input { pass.dropout(&around, self.wiring.dropout)? } else { around.clone() };
            layers.push(new);
            look.after_layer(layer, &output)?;
        }
        let top = match (self.wiring.readout_state, state.layers.last()) {
            (ReadoutState::Previous, Some(previous)) => previous.h.clone(),
            _ => output,
        };
        let readout = ReadoutInput { state: top, embedding: input.embedding.clone(), context: look.context };
        let attention = look.attention;
        let vector = if self.wiring.input_feeding { Some(self.readout(pass, &readout)?) } else { None };
        Ok(DecoderStep { state: DecoderState { layers, feed: vector.clone() }, vector, readout, attention })
    }

    /// The readout vector of one step `[rows, width]` or of all steps `[time, rows, width]`.
    pub(crate) fn readout(&self, pass: &Pass, input: &ReadoutInput) -> Result<Var> {
        self.readout.apply(pass, input)
    }
}

/// The context of one step, from the moment at which it is known.
struct Look<'a> {
    decoder: &'a Decoder,
    pass: &'a Pass<'a>,
    memory: &'a DecoderMemory,
    rows: &'a [Row],
    context: Option<Var>,
    attention: Option<AttentionOutput>,
}

impl Look<'_> {
    /// A fixed context, or one that the previous state asks for.
    fn before_layers(&mut self, state: &DecoderState) -> Result<()> {
        if let Some(fixed) = &self.memory.fixed {
            let sentences: List<usize> = self.rows.iter().map(|row| row.sentence).collect();
            self.context = Some(ops::select_rows(self.pass.tape, fixed, &sentences)?);
        }
        if self.decoder.wiring.query == Query::Previous {
            self.attend(&state.layers[self.decoder.wiring.query_layer].h)?;
        }
        Ok(())
    }

    /// The second half of a conditional cell: the state between the halves asks, and the context moves it on.
    fn between(&mut self, cell: &Cell, half: &CellState, mask: RecurrentMask) -> Result<CellState> {
        self.attend(&half.h)?;
        let Some(context) = &self.context else { return Ok(half.clone()) };
        let projected = cell.project(self.pass, context)?;
        cell.step(self.pass, &CellInputs { projected: &projected, context: None, feed: None }, half, mask)
    }

    /// A context that this layer's new output asks for.
    fn after_layer(&mut self, layer: usize, output: &Var) -> Result<()> {
        let wiring = &self.decoder.wiring;
        if wiring.query == Query::Current && layer == wiring.query_layer {
            self.attend(output)?;
        }
        Ok(())
    }

    fn attend(&mut self, query: &Var) -> Result<()> {
        let Some(attention) = &self.decoder.attention else { return Ok(()) };
        let memory = self.memory;
        let source = Source { states: &memory.states, keys: &memory.keys, lengths: &memory.lengths };
        let output = attention.attend(self.pass, source, query, self.rows)?;
        self.context = Some(output.context.clone());
        self.attention = Some(output);
        Ok(())
    }
}
