//! A model that is a function, and what the tests share.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

use std::sync::atomic::{AtomicUsize, Ordering};

use regard_decode::{DecodeError, Decoding, Hypothesis, SearchOptions};
use regard_model::{AttentionSite, Memory, Predictor, Result, Row, Run, SiteAttention, State, StepOutput};
use regard_tensor::{LogProbs, Tensor, Threads, Var};
use regard_text::Padded;
use regard_text::special_tokens::EOS;

/// (source with its end symbol, prefix) → a number for each target id.
pub type Function = Box<dyn Fn(&[u32], &[u32]) -> Vec<f32> + Send + Sync>;
/// (source with its end symbol, prefix) → a weight for each source position.
pub type Look = Box<dyn Fn(&[u32], &[u32]) -> Vec<f32> + Send + Sync>;

/// An encoder-decoder whose log-probabilities are a function of the source and the prefix.
pub struct FakeModel {
    vocabulary: usize,
    log_probs: Function,
    look: Option<Look>,
    /// Calls of `encode`.
    pub encoded: AtomicUsize,
    /// Rows of each call of `step`, summed.
    pub rows: AtomicUsize,
    /// Calls of `step`.
    pub steps: AtomicUsize,
}

impl FakeModel {
    pub fn new(
        vocabulary: usize,
        log_probs: impl Fn(&[u32], &[u32]) -> Vec<f32> + Send + Sync + 'static,
    ) -> Self {
        Self {
            vocabulary,
            log_probs: Box::new(log_probs),
            look: None,
            encoded: AtomicUsize::default(),
            rows: AtomicUsize::default(),
            steps: AtomicUsize::default(),
        }
    }

    pub fn looking(mut self, look: impl Fn(&[u32], &[u32]) -> Vec<f32> + Send + Sync + 'static) -> Self {
        self.look = Some(Box::new(look));
        self
    }

    /// Log-probabilities that look random, drawn from the source, the prefix and the seed; weights too.
    pub fn random(vocabulary: usize, seed: u64) -> Self {
        let draw = move |salt: u64, source: &[u32], prefix: &[u32], n: usize| -> Vec<f32> {
            let ids = source.iter().chain(&[u32::MAX]).chain(prefix);
            let key = ids.fold(mix(seed ^ salt), |key, &id| mix(key ^ u64::from(id)));
            log_softmax(
                (0..n as u64).map(|i| (mix(key ^ (i << 40)) >> 40) as f32 / (1_u64 << 24) as f32 * 6.0),
            )
        };
        Self::new(vocabulary, move |source, prefix| draw(1, source, prefix, vocabulary)).looking(
            move |source, prefix| {
                draw(2, source, prefix, source.len()).iter().map(|value| value.exp()).collect()
            },
        )
    }

    pub fn decoding<'a>(&'a self, threads: &'a Threads) -> Decoding<'a> {
        Decoding::new(self, threads)
    }

    /// The function itself.
    pub fn at(&self, source: &[u32], prefix: &[u32]) -> Vec<f32> {
        (self.log_probs)(source, prefix)
    }

    /// Where it looks.
    pub fn look(&self, source: &[u32], prefix: &[u32]) -> Vec<f32> {
        self.look.as_ref().map_or_else(Vec::new, |look| look(source, prefix))
    }

    /// Searches sentences without their end symbols.
    pub fn search(
        &self,
        sources: &[Vec<u32>],
        options: &SearchOptions,
    ) -> std::result::Result<Vec<Vec<Hypothesis>>, DecodeError> {
        let rows = Padded::from_sentences(sources.iter().map(Vec::as_slice));
        self.decoding(&Threads::single()).search(&rows, options)
    }
}

fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// The logarithms of what sums to 1.
pub fn log_softmax(logits: impl Iterator<Item = f32>) -> Vec<f32> {
    let logits: Vec<f64> = logits.map(f64::from).collect();
    let sum: f64 = logits.iter().map(|value| value.exp()).sum();
    logits.iter().map(|value| (value - sum.ln()) as f32).collect()
}

/// Log-probabilities that are the given ones and, for all other ids, -∞.
pub fn table(vocabulary: usize, probabilities: &[(u32, f32)]) -> Vec<f32> {
    let mut row = vec![f32::NEG_INFINITY; vocabulary];
    for &(id, probability) in probabilities {
        row[id as usize] = probability.ln();
    }
    row
}

/// A hypothesis's ids as a target row: with the end symbol where it is finished.
pub fn target_row(hypothesis: &Hypothesis) -> Vec<u32> {
    let end = hypothesis.finished.then_some(EOS);
    hypothesis.tokens.iter().copied().chain(end).collect()
}

fn ids(values: &[f32]) -> Vec<u32> {
    values.iter().map(|&value| value as u32).collect()
}

impl Predictor for FakeModel {
    fn target_vocabulary(&self) -> usize {
        self.vocabulary
    }

    fn has_attention(&self) -> bool {
        self.look.is_some()
    }

    fn encode(&self, _run: &Run, source: &Padded) -> Result<Memory> {
        self.encoded.fetch_add(1, Ordering::Relaxed);
        let values = source.ids.iter().map(|&id| id as f32).collect();
        let ids = Var::constant(Tensor::new([source.rows(), source.width], values)?);
        Ok(Memory { lengths: source.lengths.clone(), tensors: vec![ids], ..Memory::default() })
    }

    fn start(&self, _run: &Run, _memory: &Memory, sentences: &[usize]) -> Result<State> {
        let tensors = vec![Var::constant(Tensor::zeros([sentences.len(), 1]))];
        Ok(State { tensors, ..State::default() })
    }

    /// A row of the state is a zero and the tokens that came in.
    fn step(
        &self,
        run: &Run,
        memory: &Memory,
        state: &State,
        tokens: &[u32],
        rows: &[Row],
    ) -> Result<StepOutput> {
        self.steps.fetch_add(1, Ordering::Relaxed);
        self.rows.fetch_add(rows.len(), Ordering::Relaxed);
        let before = state.tensors[0].value();
        assert_eq!((before.shape().rows(), tokens.len()), (rows.len(), rows.len()));
        let width = memory.tensors[0].shape().last();
        let (mut after, mut log_probs, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for (place, (row, &token)) in rows.iter().zip(tokens).enumerate() {
            let history: Vec<f32> = before.row(place).iter().copied().chain([token as f32]).collect();
            let prefix = ids(&history[2..]);
            assert_eq!(prefix.len(), row.position, "the position is the length of the prefix");
            let source = ids(&memory.tensors[0].value().row(row.sentence)[..memory.lengths[row.sentence]]);
            log_probs.extend((self.log_probs)(&source, &prefix));
            if let Some(look) = &self.look {
                let mut row = look(&source, &prefix);
                row.resize(width, 0.0);
                weights.extend(row);
            }
            after.extend(history);
        }
        let state = Var::constant(Tensor::new([rows.len(), before.shape().last() + 1], after)?);
        let mut attention = Vec::new();
        if run.attention && self.look.is_some() {
            let weights = Tensor::new([rows.len(), width], weights)?;
            attention.push(SiteAttention { site: AttentionSite::CROSS, scores: weights.clone(), weights });
        }
        let log_probs = LogProbs::of_log_probs(&Tensor::new([rows.len(), self.vocabulary], log_probs)?);
        let state = State { tensors: vec![state], ..State::default() };
        Ok(StepOutput { log_probs, state, attention })
    }
}
