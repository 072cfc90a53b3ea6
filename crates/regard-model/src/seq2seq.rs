//! What every encoder-decoder can do. Nothing outside of this crate asks which family a model belongs to.

use regard_tensor::{List, LogProbs, Tape, Tensor, Var};
use regard_text::{Batch, Padded};

use crate::attention::{AttentionHook, AttentionSite};
use crate::distributions::Distributions;
use crate::error::{ModelError, Result};
use crate::history::History;
use crate::listed_words::ListedWords;
use crate::parameters::Parameters;

/// Predicts the next target token from source sentences and what has been written so far: all that a search asks of a
/// model, or of several that work together. It does not change when it runs.
pub trait Predictor: Send + Sync {
    /// The number of target ids.
    fn target_vocabulary(&self) -> usize;

    /// Whether it looks at the source at every step; a fixed-vector model does not.
    fn has_attention(&self) -> bool;

    /// Where its decoder looks at the source, from the lowest layer to the highest; nowhere without attention.
    fn cross_sites(&self) -> Vec<AttentionSite> {
        self.has_attention().then_some(AttentionSite::CROSS).into_iter().collect()
    }

    /// Reads source sentences: rows of ids, each ended by the end symbol.
    ///
    /// # Errors
    /// Where an id is outside of the vocabulary.
    fn encode(&self, run: &Run, source: &Padded) -> Result<Memory>;

    /// Lets each sentence of a memory write the ids of its list only, one list a sentence: all others are impossible, and
    /// probabilities sum to 1 over the list. What a sentence gives does not depend on the other lists.
    ///
    /// # Errors
    /// Where there is not one list a sentence, or an id is outside of the vocabulary; from a model that cannot do it.
    fn restrict(&self, _run: &Run, _memory: &mut Memory, _lists: &[Vec<u32>]) -> Result<()> {
        Err(ModelError::Config("this model cannot be restricted to lists of words".to_owned()))
    }

    /// The state before the first target token, for one row a listed sentence.
    ///
    /// # Errors
    /// Where a sentence is not in the memory.
    fn start(&self, run: &Run, memory: &Memory, sentences: &[usize]) -> Result<State>;

    /// One step: `tokens` holds the last token of each row (the start symbol at first), `rows` what each row is.
    ///
    /// # Errors
    /// Where `tokens`, `rows` and `state` do not have one entry a row.
    fn step(
        &self,
        run: &Run,
        memory: &Memory,
        state: &State,
        tokens: &[u32],
        rows: &[Row],
    ) -> Result<StepOutput>;
}

/// An encoder-decoder that can be trained.
pub trait Seq2Seq: Predictor {
    /// The whole-sequence form: the loss of a batch under teacher forcing, on a tape.
    ///
    /// # Errors
    /// Where an id is outside of a vocabulary.
    fn loss(&self, training: &Training, batch: &Batch) -> Result<LossOutput>;

    /// The distributions that the loss of a batch is made of, whole, for losses of other kinds. `label_smoothing` and `factor`
    /// have no say here.
    ///
    /// # Errors
    /// As [`loss`](Self::loss).
    fn distributions(&self, training: &Training, batch: &Batch) -> Result<Distributions>;

    /// The weights.
    fn parameters(&self) -> &Parameters;

    /// The weights, to be changed.
    fn parameters_mut(&mut self) -> &mut Parameters;
}

/// What a run of a trained model needs besides its input.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// Computes the operations.
    pub tape: &'a Tape,
    /// Sees and may replace scores, weights and contexts.
    pub hook: Option<&'a dyn AttentionHook>,
    /// Whether scores and weights are wanted in the output.
    pub attention: bool,
}

impl<'a> Run<'a> {
    /// A run without a hook that returns no attention.
    #[must_use]
    pub fn new(tape: &'a Tape) -> Self {
        Self { tape, hook: None, attention: false }
    }
}

/// What a row of a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The sentence of the memory that it translates.
    pub sentence: usize,
    /// Which of the sentence's hypotheses it is.
    pub hypothesis: usize,
    /// Which of the hypotheses of the step before it continues.
    pub parent: usize,
    /// The target position that it predicts, from 0.
    pub position: usize,
}

/// Every place of every sentence, padding included, as the rows of a batch.
pub(crate) fn rows_of(sentences: &Padded) -> List<Row> {
    rows_in(sentences.rows(), sentences.width)
}

/// So many positions of each sentence in turn.
pub(crate) fn rows_in(sentences: usize, positions: usize) -> List<Row> {
    let row = |place: usize| {
        let (sentence, position) = (place / positions, place % positions);
        Row { sentence, hypothesis: 0, parent: 0, position }
    };
    (0..sentences * positions).map(row).collect()
}

/// Encoded sentences: immutable, shared by all hypotheses of a sentence. What the tensors mean is the model's business.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// Source positions of each sentence, the end symbol included.
    pub lengths: Vec<usize>,
    /// Tensors whose first dimension is the sentence.
    pub tensors: Vec<Var>,
    /// What the encoder looked at, where it was asked for: one entry a site, `[sentences, positions, positions]`.
    pub attention: Vec<SiteAttention>,
    /// What may be written, where that is restricted.
    pub words: Option<ListedWords>,
    /// Where several models work together: the memory of each.
    pub members: Vec<Memory>,
}

/// The state of hypotheses. What the tensors mean is the model's business.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Tensors whose rows are the hypotheses.
    pub tensors: Vec<Var>,
    /// What the hypotheses left at each step.
    pub history: History,
    /// Where several models work together: the state of each.
    pub members: Vec<State>,
}

impl State {
    /// The state in which row `i` continues what was row `parents[i]`.
    ///
    /// # Errors
    /// Where a parent is not there.
    pub fn select(&self, parents: &[usize]) -> Result<Self> {
        let select = |var: &Var| Ok(Var::constant(var.value().select_rows(parents)?));
        let tensors = self.tensors.iter().map(select).collect::<Result<_>>()?;
        let members = self.members.iter().map(|member| member.select(parents)).collect::<Result<_>>()?;
        Ok(Self { tensors, history: self.history.select(parents)?, members })
    }
}

/// The result of a step.
#[derive(Clone, Debug)]
pub struct StepOutput {
    /// Natural-log probabilities of the next token: `[rows, vocabulary]`.
    pub log_probs: LogProbs,
    /// The state after the step.
    pub state: State,
    /// What was looked at, where it was asked for: one entry a site.
    pub attention: Vec<SiteAttention>,
}

/// What one attention computed: in one step, or for all positions of the source.
#[derive(Clone, Debug)]
pub struct SiteAttention {
    /// Which attention.
    pub site: AttentionSite,
    /// Before the softmax: `[rows, positions]`, source positions or the decoder's own so far.
    pub scores: Tensor,
    /// After it, in the same form: 0 past the end of each sentence.
    pub weights: Tensor,
}

/// What a training step needs besides its batch.
pub struct Training<'a> {
    /// Records the operations; or does not, in validation.
    pub tape: &'a Tape,
    /// The weights on the tape, in the order of [`Parameters`]; see [`Parameters::leaves`].
    pub weights: &'a [Var],
    /// Dropout and sampling depend on this key and on nothing else; `None` turns both off, as in validation.
    pub noise: Option<Noise>,
    /// The probability mass that is spread evenly over the vocabulary.
    pub label_smoothing: f64,
    /// Which target tokens the loss counts.
    pub scored: Scored,
    /// The loss is a sum over target tokens, times this.
    pub factor: f64,
    /// Sees the scores, weights and contexts of every step, as values on the tape, and may replace them.
    pub hook: Option<&'a dyn AttentionHook>,
}

/// Which target tokens a loss counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scored {
    /// All of them.
    #[default]
    All,
    /// The last one of each sentence: what the prediction of one word depends on.
    Last,
}

impl Scored {
    /// Whether the token at a place counts in a row of so many.
    pub(crate) fn counts(self, place: usize, length: usize) -> bool {
        match self {
            Self::All => place < length,
            Self::Last => place + 1 == length,
        }
    }
}

/// The random part of a training step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// From the seed, the step and the part of an accumulated batch.
    pub key: u64,
    /// The probability that a decoder input is the model's own last prediction (scheduled sampling, Bengio et al. 2015).
    pub sampling: f64,
}

/// The loss of a batch.
#[derive(Clone, Debug)]
pub struct LossOutput {
    /// The number to differentiate.
    pub loss: Var,
    /// Σ -log p of the right tokens, without smoothing.
    pub negative_log_likelihood: f64,
    /// Target tokens, end symbols included.
    pub tokens: usize,
    /// Tokens that had the largest probability under teacher forcing.
    pub correct: usize,
}
