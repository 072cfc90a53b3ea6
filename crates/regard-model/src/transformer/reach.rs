//! What the writer's rows read: back at what was written, and across at the source.

use regard_tensor::ops::{self, Span, Trails};
use regard_tensor::{List, Var};
use regard_text::Padded;

use super::decoder::{Past, SourceMemory, Written};
use crate::attention::{Sought, WholeReach};
use crate::error::Result;
use crate::history::History;
use crate::pass::Pass;
use crate::seq2seq::Row;

/// How far all rows look, the same in every layer.
pub(super) enum Reach<'a> {
    /// At whole sentences.
    Sentences { target: &'a Padded, back: WholeReach, across: WholeReach },
    /// Along trails: through the history, and over the positions of the row's source, which are read where they lie.
    Steps { history: &'a History, back: Trails, across: Trails },
}

impl<'a> Reach<'a> {
    pub(super) fn new(source: &SourceMemory, written: &Written<'a>) -> Self {
        let rows = written.rows;
        match written.past {
            Past::Sentences(target) => {
                Self::Sentences { target, back: back(target, rows), across: across(source, rows) }
            }
            Past::History(history) => {
                Self::Steps { history, back: history.trails(rows.len()), across: source_trails(source, rows) }
            }
        }
    }

    /// The keys and values of a layer for the look back; `own` are those of the rows themselves, `[rows, width]`.
    pub(super) fn back<'b>(
        &'b self,
        pass: &Pass,
        layer: usize,
        (keys, values): (&'b Var, &'b Var),
    ) -> Result<Sought<'b>> {
        Ok(match self {
            Self::Sentences { target, back, .. } => {
                let shape = [target.rows(), target.width, keys.shape().last()];
                let keys = ops::reshape(pass.tape, keys, shape)?;
                Sought::Entries { keys, values: ops::reshape(pass.tape, values, shape)?, reach: back }
            }
            Self::Steps { history, back, .. } => {
                let (keys, values) = (history.blocks(2 * layer, keys), history.blocks(2 * layer + 1, values));
                Sought::Trails { keys, values, trails: back }
            }
        })
    }

    /// The keys and values of a layer for the look at the source, `[sentences, positions, width]`.
    pub(super) fn across<'b>(&'b self, keys: &'b Var, values: &'b Var) -> Sought<'b> {
        match self {
            Self::Sentences { across, .. } => {
                Sought::Entries { keys: keys.clone(), values: values.clone(), reach: across }
            }
            Self::Steps { across, .. } => {
                Sought::Trails { keys: vec![keys], values: vec![values], trails: across }
            }
        }
    }
}

/// Back at the row's own words, its last one included.
fn back(target: &Padded, rows: &[Row]) -> WholeReach {
    let span = |row: &Row| Span { start: 0, end: (row.position + 1).min(target.lengths[row.sentence]) };
    WholeReach {
        entries: rows.iter().map(|row| row.sentence).collect(),
        lengths: List::from(&target.lengths[..]),
        spans: rows.iter().map(span).collect(),
    }
}

fn across(source: &SourceMemory, rows: &[Row]) -> WholeReach {
    WholeReach {
        entries: rows.iter().map(|row| row.sentence).collect(),
        lengths: source.lengths.clone(),
        spans: rows.iter().map(|row| Span { start: 0, end: source.length(row.sentence) }).collect(),
    }
}

/// The positions of each row's source in the one block that a layer's keys or values are.
fn source_trails(source: &SourceMemory, rows: &[Row]) -> Trails {
    let mut trails = Trails::default();
    for row in rows {
        let first = row.sentence * source.positions();
        trails.push((first..first + source.length(row.sentence)).map(|place| (0, place)));
    }
    trails
}
