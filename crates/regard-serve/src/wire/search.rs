//! The options of a search, as requests name them.

use serde::Deserialize;

/// The formula of the length penalty; see `regard translate --help`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Penalty {
    None,
    Average,
    Gnmt,
    Marian,
}

/// What a request may say of the search; what it does not say has the defaults of `regard translate`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SearchFields {
    pub(crate) beam_size: Option<usize>,
    pub(crate) n_best: Option<usize>,
    pub(crate) length_penalty: Option<Penalty>,
    pub(crate) alpha: Option<f64>,
    pub(crate) max_length: Option<usize>,
}
