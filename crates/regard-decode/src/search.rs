//! The search of a batch: one model step serves the beams of all its sentences.

use std::sync::atomic::{AtomicBool, Ordering};

use regard_model::{AttentionHook, Row, Run, Seq2Seq};
use regard_tensor::{Tape, Threads};
use regard_text::Padded;
use regard_text::special_tokens::BOS;

use crate::beam::Beam;
use crate::error::{DecodeError, Result};
use crate::hypothesis::Hypothesis;
use crate::options::SearchOptions;

/// A model and what running it needs.
#[derive(Clone, Copy)]
pub struct Decoding<'a> {
    /// The model.
    pub model: &'a dyn Seq2Seq,
    /// Computes.
    pub threads: &'a Threads,
    /// Sees and may replace what attention computes.
    pub hook: Option<&'a dyn AttentionHook>,
    /// Raised by whoever no longer wants the result; looked at before every step.
    pub cancel: Option<&'a AtomicBool>,
}

impl<'a> Decoding<'a> {
    /// Without a hook and without a flag.
    #[must_use]
    pub fn new(model: &'a dyn Seq2Seq, threads: &'a Threads) -> Self {
        Self { model, threads, hook: None, cancel: None }
    }

    /// The best translations of source rows `x1 … xn EOS`, best first: one list a row.
    ///
    /// A list holds finished hypotheses, at most `n_best`, all different; only where none finished within the maximum
    /// length does it hold what was cut there, marked by [`Hypothesis::finished`]. The search of a sentence ends when no
    /// living path can enter its list any more. Equal sums are decided by the rank of the parent, then by the id; equal
    /// scores by who ended first. What a row gives does not depend on the other rows.
    ///
    /// # Errors
    /// [`DecodeError::Options`] and [`DecodeError::NoAttention`] before any work, [`DecodeError::NotANumber`],
    /// [`DecodeError::Cancelled`], and the model's own errors.
    pub fn search(&self, source: &Padded, options: &SearchOptions) -> Result<Vec<Vec<Hypothesis>>> {
        options.check()?;
        self.check_attention(options.attention)?;
        if source.rows() == 0 {
            return Ok(Vec::new());
        }
        let tape = Tape::inference(self.threads);
        let run = Run { tape: &tape, hook: self.hook, attention: options.attention };
        let memory = self.model.encode(&run, source)?;
        let sentences: Vec<usize> = (0..source.rows()).collect();
        let mut state = self.model.start(&run, &memory, &sentences)?;
        let new_beam = |(sentence, &length)| Beam::new(sentence, length, options);
        let mut beams: Vec<Beam> = source.lengths.iter().enumerate().map(new_beam).collect();
        loop {
            let (tokens, rows) = next_input(&beams);
            if rows.is_empty() {
                return Ok(beams.into_iter().map(Beam::into_hypotheses).collect());
            }
            self.check_cancelled()?;
            let output = self.model.step(&run, &memory, &state, &tokens, &rows)?;
            let mut parents = Vec::with_capacity(rows.len());
            let mut first_row = 0;
            for beam in beams.iter_mut().filter(|beam| !beam.living.is_empty()) {
                let next_row = first_row + beam.living.len();
                parents.extend(beam.advance(&output, first_row)?);
                first_row = next_row;
            }
            state = output.state.select(&parents)?;
        }
    }

    pub(crate) fn check_attention(&self, wanted: bool) -> Result<()> {
        if wanted && !self.model.has_attention() {
            return Err(DecodeError::NoAttention { wanted: "an alignment or a picture of the attention" });
        }
        Ok(())
    }

    pub(crate) fn check_cancelled(&self) -> Result<()> {
        match self.cancel {
            Some(flag) if flag.load(Ordering::Relaxed) => Err(DecodeError::Cancelled),
            _ => Ok(()),
        }
    }
}

/// The last token of every living path, beam after beam, and what each row is.
fn next_input(beams: &[Beam]) -> (Vec<u32>, Vec<Row>) {
    let paths = beams.iter().flat_map(|beam| {
        beam.living.iter().enumerate().map(|(hypothesis, path)| {
            let row = Row { sentence: beam.sentence, hypothesis, position: path.tokens.len() };
            (path.tokens.last().copied().unwrap_or(BOS), row)
        })
    });
    paths.unzip()
}
