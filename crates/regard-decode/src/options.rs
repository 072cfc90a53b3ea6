//! What a search may be told.

use crate::error::{DecodeError, Result};
use crate::length_penalty::LengthPenalty;

/// The largest beam: each hypothesis holds a state and a row of the vocabulary in memory.
pub const MAX_BEAM_SIZE: usize = 1000;

/// The longest translation that may be asked for.
pub const MAX_TARGET_TOKENS: usize = 100_000;

/// The options of a beam search.
///
/// ```
/// use regard_decode::SearchOptions;
/// assert!(SearchOptions::default().check().is_ok());
/// let options = SearchOptions { n_best: 10, ..SearchOptions::default() };
/// assert!(options.check().unwrap_err().to_string().contains("n-best 10 is more than the beam size 5"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchOptions {
    /// Hypotheses that are kept at each step; 1 is greedy search.
    pub beam_size: usize,
    /// Hypotheses that are returned, at most the beam size.
    pub n_best: usize,
    /// Where a translation is cut.
    pub max_length: MaxLength,
    /// How finished hypotheses are compared.
    pub length_penalty: LengthPenalty,
    /// Whether attention weights are returned.
    pub attention: bool,
    /// Whether `<unk>` may be written.
    pub allow_unk: bool,
}

/// The number of target tokens, the end symbol included, after which a translation is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaxLength {
    /// 2 × source tokens + 20, the source's end symbol not counted.
    FromSource,
    /// This many.
    Fixed(usize),
}

impl MaxLength {
    /// The limit for a source of that many tokens, the end symbol not counted.
    #[must_use]
    pub fn tokens(self, source_tokens: usize) -> usize {
        match self {
            Self::FromSource => source_tokens.saturating_mul(2).saturating_add(20),
            Self::Fixed(tokens) => tokens,
        }
    }
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            beam_size: 5,
            n_best: 1,
            max_length: MaxLength::FromSource,
            length_penalty: LengthPenalty::default(),
            attention: false,
            allow_unk: true,
        }
    }
}

impl SearchOptions {
    /// Greedy search: the most probable token at each step.
    #[must_use]
    pub fn greedy() -> Self {
        Self { beam_size: 1, ..Self::default() }
    }

    /// Says what is impossible, before any work is done.
    ///
    /// # Errors
    /// [`DecodeError::Options`].
    pub fn check(&self) -> Result<()> {
        let refuse = |reason: String| Err(DecodeError::Options(reason));
        if self.beam_size == 0 {
            return refuse("the beam size is 0; the smallest is 1 (greedy search)".into());
        }
        if self.beam_size > MAX_BEAM_SIZE {
            let Self { beam_size, .. } = self;
            return refuse(format!("the beam size is {beam_size}; the largest is {MAX_BEAM_SIZE}"));
        }
        if self.n_best == 0 {
            return refuse("n-best is 0; the smallest is 1".into());
        }
        if self.n_best > self.beam_size {
            let Self { beam_size, n_best, .. } = self;
            return refuse(format!(
                "n-best {n_best} is more than the beam size {beam_size}: ask for fewer or raise the beam size"
            ));
        }
        if self.max_length == MaxLength::Fixed(0) {
            return refuse("the maximum length is 0; the smallest is 1 (the end symbol alone)".into());
        }
        match self.max_length {
            MaxLength::Fixed(tokens) if tokens > MAX_TARGET_TOKENS => {
                refuse(format!("the maximum length is {tokens}; the largest is {MAX_TARGET_TOKENS}"))
            }
            _ => self.length_penalty.check(),
        }
    }
}
