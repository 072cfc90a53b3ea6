//! The sentences of the demonstration: for learning, and others for measuring.

use regard_model::{ModelConfig, ModelInfo};
use regard_text::{Normalizer, Pair, Pipeline, Tokenizer};

use super::grammar::{self, Sentence};

/// Source words, from and to: the buckets that BLEU is shown for.
pub const BUCKETS: [(usize, usize); 6] = [(3, 5), (6, 10), (11, 20), (21, 30), (31, 40), (41, 60)];

/// Keeps the sentences for measuring apart from those for learning.
const TEST_SEED: u64 = 0x7e57;

/// How much is learned and measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Updates of each model.
    pub updates: u64,
    /// Sentences of an update.
    pub batch: usize,
    /// Sentences for measuring, in each bucket.
    pub test: usize,
}

impl Sizes {
    /// The whole demonstration, or a short one.
    #[must_use]
    pub fn new(quick: bool) -> Self {
        if quick {
            Self { updates: 300, batch: 48, test: 20 }
        } else {
            Self { updates: 900, batch: 48, test: 50 }
        }
    }
}

/// Everything that the models of the demonstration learn from and are measured on.
pub struct DemoData {
    /// Lines for measuring, bucket after bucket.
    pub test: Vec<Sentence>,
    /// Pairs for learning.
    pub pairs: Vec<Pair>,
    source: Pipeline,
    target: Pipeline,
}

impl DemoData {
    /// Sentences from a seed. Half of those for learning are short, 3 to 10 words, the others 11 to 60.
    #[must_use]
    pub fn new(seed: u64, sizes: Sizes) -> Self {
        let sentence = |index: u64| {
            let (from, to) = if index.is_multiple_of(2) { (3, 10) } else { (11, 60) };
            grammar::generate(seed, index, from, to)
        };
        let training: Vec<Sentence> = (0..sizes.updates * sizes.batch as u64).map(sentence).collect();
        let side = |line: fn(&Sentence) -> String| {
            Pipeline::build(Normalizer::None, Tokenizer::Word, training.iter().map(line), None, 1)
        };
        let (source, target) =
            (side(|sentence| sentence.source.join(" ")), side(|sentence| sentence.target.join(" ")));
        let pair = |sentence: &Sentence| Pair {
            source: source.ids(&sentence.source),
            target: target.ids(&sentence.target),
        };
        let test = BUCKETS.iter().enumerate().flat_map(|(bucket, &(from, to))| {
            (0..sizes.test).map(move |index| {
                grammar::generate(seed ^ TEST_SEED, (bucket * sizes.test + index) as u64, from, to)
            })
        });
        Self { test: test.collect(), pairs: training.iter().map(pair).collect(), source, target }
    }

    /// A model of this language.
    #[must_use]
    pub fn info(&self, config: ModelConfig) -> ModelInfo {
        ModelInfo {
            config,
            source_language: "en".to_owned(),
            target_language: "fr".to_owned(),
            source: self.source.clone(),
            target: self.target.clone(),
        }
    }
}
