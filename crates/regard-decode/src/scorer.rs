//! Forced decoding: what a model thinks of a given translation.

use regard_model::{Memory, Row, Run, StepOutput};
use regard_text::Padded;
use regard_text::special_tokens::BOS;

use crate::error::{DecodeError, Result};
use crate::look::Look;
use crate::path::{Path, Watch};
use crate::search::Decoding;

/// The probability of a given target.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// Σ log p, natural logarithm, over `token_log_probs`.
    pub log_prob: f64,
    /// log p of each token of the target row, its end symbol included where the row has one.
    pub token_log_probs: Vec<f32>,
    /// Attention weights where they were asked for, `[token_log_probs, source tokens + end symbol]`.
    pub attention: Option<Vec<Vec<f32>>>,
    /// The scores that the weights were made from, in the same form.
    pub attention_scores: Option<Vec<Vec<f32>>>,
    /// The number of source tokens, where only the first [`MAX_SOURCE_TOKENS`](crate::MAX_SOURCE_TOKENS) were read.
    pub cut_from: Option<usize>,
}

impl Score {
    /// The number of tokens in `log_prob`.
    #[must_use]
    pub fn length(&self) -> usize {
        self.token_log_probs.len()
    }
}

/// What a model computed where it was given the next token of a sentence.
#[derive(Clone, Copy)]
pub struct Forced<'a> {
    /// Which sentence.
    pub sentence: usize,
    /// The target position, from 0.
    pub position: usize,
    /// The token that stands there.
    pub token: u32,
    /// What the step computed.
    pub output: &'a StepOutput,
    /// Which row of it is this sentence's.
    pub row: usize,
}

impl Decoding<'_> {
    /// The probability of each target row given its source row `x1 … xn EOS`: `y1 … ym EOS` of a whole translation, or
    /// without EOS of one that was cut.
    ///
    /// The steps are those of the search and summed as there, so that a hypothesis gets the very `log_prob` back that it
    /// was found with. `look` says which attention is wanted, if any.
    ///
    /// # Errors
    /// [`DecodeError::Unpaired`], [`DecodeError::UnknownId`] and [`DecodeError::NoAttention`] before any work,
    /// [`DecodeError::NotANumber`], [`DecodeError::Cancelled`], and the model's own errors.
    pub fn score(&self, source: &Padded, target: &Padded, look: Option<Look>) -> Result<Vec<Score>> {
        self.check_look(look)?;
        self.check_targets(source, target)?;
        if source.rows() == 0 {
            return Ok(Vec::new());
        }
        let mut paths = vec![Path::new(Watch { look, coverage: false }); target.rows()];
        self.steps(source, target, look.is_some(), |step| {
            let log_prob = step.output.log_probs.row(step.row).get(step.token as usize);
            if log_prob.is_nan() {
                return Err(DecodeError::NotANumber { sentence: step.sentence, position: step.position });
            }
            let positions = source.lengths[step.sentence];
            paths[step.sentence].push(step.token, log_prob, step.output, step.row, positions);
            Ok(())
        })?;
        Ok(paths.into_iter().map(Score::from).collect())
    }

    /// Shows every step of forced decoding to `visit`, position after position, with the attention of all sites where it is
    /// wanted. Returns the encoded source.
    ///
    /// # Errors
    /// As [`score`](Self::score), and what `visit` says.
    pub fn force(
        &self,
        source: &Padded,
        target: &Padded,
        attention: bool,
        visit: impl FnMut(&Forced) -> Result<()>,
    ) -> Result<Memory> {
        self.check_targets(source, target)?;
        self.steps(source, target, attention, visit)
    }

    fn steps(
        &self,
        source: &Padded,
        target: &Padded,
        attention: bool,
        mut visit: impl FnMut(&Forced) -> Result<()>,
    ) -> Result<Memory> {
        let tape = self.tape();
        let run = Run { tape: &tape, hook: self.controls.hook, attention };
        let memory = self.model.encode(&run, source)?;
        let mut going: Vec<usize> = (0..target.rows()).filter(|&row| target.lengths[row] > 0).collect();
        let mut state = self.model.start(&run, &memory, &going)?;
        for position in 0..target.width {
            if self.is_stopped(None) {
                return Err(DecodeError::Cancelled);
            }
            let last = |&row: &usize| position.checked_sub(1).map_or(BOS, |before| target.row(row)[before]);
            let tokens: Vec<u32> = going.iter().map(last).collect();
            let rows: Vec<Row> =
                going.iter().map(|&sentence| Row { sentence, hypothesis: 0, parent: 0, position }).collect();
            let output = self.model.step(&run, &memory, &state, &tokens, &rows)?;
            for (row, &sentence) in going.iter().enumerate() {
                let token = target.row(sentence)[position];
                visit(&Forced { sentence, position, token, output: &output, row })?;
            }
            let staying: Vec<usize> =
                (0..going.len()).filter(|&row| target.lengths[going[row]] > position + 1).collect();
            state = output.state.select(&staying)?;
            going = staying.iter().map(|&row| going[row]).collect();
        }
        Ok(memory)
    }

    fn check_targets(&self, source: &Padded, target: &Padded) -> Result<()> {
        if source.rows() != target.rows() {
            return Err(DecodeError::Unpaired { sources: source.rows(), targets: target.rows() });
        }
        let vocabulary = self.model.target_vocabulary();
        for sentence in 0..target.rows() {
            if let Some(&id) = target.row(sentence).iter().find(|&&id| id as usize >= vocabulary) {
                return Err(DecodeError::UnknownId { sentence, id, vocabulary });
            }
        }
        Ok(())
    }
}

impl From<Path> for Score {
    fn from(path: Path) -> Self {
        Self {
            log_prob: path.log_prob,
            attention: path.attention_rows(),
            attention_scores: path.attention_scores(),
            token_log_probs: path.token_log_probs,
            cut_from: None,
        }
    }
}
