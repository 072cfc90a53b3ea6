//! What a search may be told.

use std::time::Duration;

use crate::error::{DecodeError, Result};
use crate::length_penalty::LengthPenalty;
use crate::look::Look;
use crate::path::Watch;
use crate::sampling::Sampling;

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
#[derive(Clone, Debug, PartialEq)]
pub struct SearchOptions {
    /// Hypotheses that are kept at each step; 1 is greedy search.
    pub beam_size: usize,
    /// What becomes of the place of a hypothesis that has ended.
    pub beam_width: BeamWidth,
    /// What becomes of hypotheses that the maximum length has cut.
    pub cut: Cut,
    /// Hypotheses that are returned, at most the beam size.
    pub n_best: usize,
    /// Where a translation is cut.
    pub max_length: MaxLength,
    /// The number of target tokens, the end symbol included, before which a translation does not end.
    pub min_length: usize,
    /// How finished hypotheses are compared.
    pub length_penalty: LengthPenalty,
    /// β of the coverage penalty: β · Σ log min(Σ weights, 1) over the source tokens is added to the score (Wu et al.
    /// 2016, equation 14), each sum at least 10⁻⁶, the end symbol left out. 0 for none; it needs attention.
    pub coverage_penalty: f64,
    /// No sequence of so many tokens is written twice; 0 for no such rule.
    pub no_repeat_ngram: usize,
    /// Tokens that are never written.
    pub suppressed: Vec<u32>,
    /// Draws translations by chance instead of searching for the best ones: `n_best` of them.
    pub sampling: Option<Sampling>,
    /// Which attention weights are returned, if any.
    pub attention: Option<Look>,
    /// Whether `<unk>` may be written.
    pub allow_unk: bool,
    /// A search that takes longer ends with the best that it has. What it then returns depends on the machine.
    pub time_limit: Option<Duration>,
}

/// What becomes of the place in a beam that a hypothesis leaves when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeamWidth {
    /// The next best path takes it.
    Steady,
    /// Nobody takes it: the beam is narrower from then on (Marian).
    Narrowing,
}

/// What becomes of hypotheses that the maximum length has cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// They are returned only where none has ended: what goes round in circles may have a good score.
    Last,
    /// They compete with those that have ended (Marian, transformers, `CTranslate2`).
    Competes,
}

/// The number of target tokens, the end symbol included, after which a translation is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaxLength {
    /// 2 × source tokens + 20, the source's end symbol not counted.
    FromSource,
    /// This many.
    Fixed(usize),
    /// So many times the source tokens, the end symbol counted there too (Marian's `--max-length-factor`).
    Times(usize),
}

impl MaxLength {
    /// The limit for a source of that many tokens, the end symbol not counted.
    #[must_use]
    pub fn tokens(self, source_tokens: usize) -> usize {
        match self {
            Self::FromSource => source_tokens.saturating_mul(2).saturating_add(20),
            Self::Fixed(tokens) => tokens,
            Self::Times(factor) => {
                source_tokens.saturating_add(1).saturating_mul(factor).min(MAX_TARGET_TOKENS)
            }
        }
    }
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            beam_size: 5,
            beam_width: BeamWidth::Steady,
            cut: Cut::Last,
            n_best: 1,
            max_length: MaxLength::FromSource,
            min_length: 0,
            length_penalty: LengthPenalty::default(),
            coverage_penalty: 0.0,
            no_repeat_ngram: 0,
            suppressed: Vec::new(),
            sampling: None,
            attention: None,
            allow_unk: true,
            time_limit: None,
        }
    }
}

impl SearchOptions {
    /// Greedy search: the most probable token at each step.
    #[must_use]
    pub fn greedy() -> Self {
        Self { beam_size: 1, ..Self::default() }
    }

    /// What the search itself, or the result, needs of the attention.
    pub(crate) fn watch(&self) -> Watch {
        Watch { look: self.attention, coverage: self.coverage_penalty > 0.0 }
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
        if let Some(sampling) = &self.sampling {
            sampling.check()?;
        }
        if self.n_best > MAX_BEAM_SIZE {
            return refuse(format!("n-best is {}; the largest is {MAX_BEAM_SIZE}", self.n_best));
        }
        if !(self.coverage_penalty >= 0.0 && self.coverage_penalty.is_finite()) {
            return refuse(format!(
                "the coverage penalty is {}; it must be 0 or more",
                self.coverage_penalty
            ));
        }
        if self.sampling.is_none() && self.n_best > self.beam_size {
            let Self { beam_size, n_best, .. } = self;
            return refuse(format!(
                "n-best {n_best} is more than the beam size {beam_size}: ask for fewer or raise the beam size"
            ));
        }
        if [MaxLength::Fixed(0), MaxLength::Times(0)].contains(&self.max_length) {
            return refuse("the maximum length is 0; the smallest is 1 (the end symbol alone)".into());
        }
        match self.max_length {
            MaxLength::Fixed(tokens) | MaxLength::Times(tokens) if tokens > MAX_TARGET_TOKENS => {
                refuse(format!("the maximum length is {tokens}; the largest is {MAX_TARGET_TOKENS}"))
            }
            _ => self.length_penalty.check(),
        }
    }
}
