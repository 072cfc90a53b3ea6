//! Remembers where a model looks while its loss is computed, so that another loss can be put on it.

use std::sync::{Mutex, PoisonError};

use regard_model::{AttentionHook, AttentionSite, HookCall, ModelError, Row, SiteKind};
use regard_tensor::{Tape, Var, ops};

use crate::error::Result;

/// A hook that changes nothing and keeps the weights of the decoder's looks at the source, as values on the tape.
pub(crate) struct Recorder {
    /// The one look that is kept; all where none is named.
    only: Option<AttentionSite>,
    seen: Mutex<Vec<Seen>>,
}

/// The weights that one look had for some rows.
struct Seen {
    site: AttentionSite,
    rows: Vec<Row>,
    /// `[rows, positions]`.
    weights: Var,
}

/// The weights of one look for all rows of a batch.
pub(crate) struct Looked {
    /// What each row is.
    pub(crate) rows: Vec<Row>,
    /// `[…, positions]`, a row each.
    pub(crate) weights: Var,
}

impl Recorder {
    pub(crate) fn new(only: Option<AttentionSite>) -> Self {
        Self { only, seen: Mutex::default() }
    }

    /// What was seen of a site, the rows in the order in which they came.
    ///
    /// # Errors
    /// Where nothing was.
    pub(crate) fn looked(&self, tape: &Tape, site: AttentionSite) -> Result<Looked> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let of_site: Vec<&Seen> = seen.iter().filter(|seen| seen.site == site).collect();
        let weights: Vec<Var> = of_site.iter().map(|seen| seen.weights.clone()).collect();
        let rows = of_site.iter().flat_map(|seen| seen.rows.iter().copied()).collect();
        Ok(Looked { rows, weights: ops::stack(tape, &weights)? })
    }
}

impl AttentionHook for Recorder {
    fn wants(&self, site: AttentionSite) -> bool {
        site.kind == SiteKind::Cross && self.only.is_none_or(|only| only == site)
    }

    fn weights(&self, call: &HookCall, weights: Var) -> std::result::Result<Var, ModelError> {
        let seen = Seen { site: call.site, rows: call.rows.to_vec(), weights: weights.clone() };
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
        Ok(weights)
    }
}
