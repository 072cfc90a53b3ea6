//! What a run tells while it goes.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::log::Record;

/// Watches a run, and has the clock: the library reads none.
pub trait Observer {
    /// Seconds since any fixed point, for speeds and for the time fields of the log.
    fn seconds(&mut self) -> f64;

    /// Something happened.
    fn event(&mut self, event: &Event);
}

/// What may happen in a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The run begins.
    Started {
        /// Updates done before.
        step: u64,
        /// How many there will be: exact where the budget is in updates, the number of batches where it is in epochs.
        updates: u64,
    },
    /// An update was done.
    Updated(Update),
    /// A record was written to the log: a report or a validation.
    Reported(Record),
    /// A checkpoint was written.
    Saved {
        /// After which update.
        step: u64,
        /// Its directory.
        path: PathBuf,
    },
}

/// One update.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Update {
    /// The update, from 1.
    pub step: u64,
    /// The pass over the data, from 1.
    pub epoch: u64,
    /// Target tokens of the update.
    pub tokens: u64,
    /// The training loss per target token, label smoothing included.
    pub loss: f64,
    /// Σ -log p of its target tokens, without smoothing.
    pub negative_log_likelihood: f64,
    /// The learning rate.
    pub learning_rate: f64,
    /// The norm of all gradients before clipping.
    pub gradient_norm: f64,
}

/// Watches nothing, and has no clock: all time fields are 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn seconds(&mut self) -> f64 {
        0.0
    }

    fn event(&mut self, _event: &Event) {}
}
