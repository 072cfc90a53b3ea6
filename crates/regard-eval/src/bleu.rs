//! BLEU (Papineni et al. 2002, <https://aclanthology.org/P02-1040>) as sacreBLEU 2.x computes it.

use crate::bleu_statistics::{BleuStatistics, MAX_NGRAM_ORDER};
use crate::corpus::Corpus;
use crate::error::EvalError;
use crate::metric::{Metric, ResampledScore};
use crate::real::Real;
use crate::smoothing::Smoothing;
use crate::tokenizer::BleuTokenizer;
use serde::Serialize;
use std::fmt;

/// The settings of BLEU. The default is sacreBLEU's: `13a`, case kept, `exp` smoothing, all four orders.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BleuOptions {
    /// The tokenizer.
    pub tokenizer: BleuTokenizer,
    /// Whether both sides are lower-cased first.
    pub lowercase: bool,
    /// Whether orders that the output is too short for are left out. Meant for single sentences.
    pub effective_order: bool,
    /// What stands for precisions of zero.
    pub smoothing: Smoothing,
}

/// A BLEU score and what it was made of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BleuScore {
    /// BLEU in percent: `brevity_penalty` times the geometric mean of the precisions.
    pub score: f64,
    /// Share of the output's n-grams found in a reference, in percent, for n = 1 to 4, after smoothing.
    pub precisions: [f64; MAX_NGRAM_ORDER],
    /// exp(1 − `ref_len` / `hyp_len`) where the output is the shorter side, else 1.
    pub brevity_penalty: f64,
    /// `hyp_len` / `ref_len`, 0 for an empty reference.
    pub ratio: f64,
    /// Tokens in the output.
    pub hyp_len: usize,
    /// Tokens in the closest references.
    pub ref_len: usize,
}

impl fmt::Display for BleuScore {
    /// As sacreBLEU prints it: `20.8 54.4/26.6/14.9/8.7 (BP = 1.000 ratio = 1.026 hyp_len = 62880 ref_len = 61287)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [p1, p2, p3, p4] = self.precisions;
        write!(f, "{:.1} {p1:.1}/{p2:.1}/{p3:.1}/{p4:.1} (BP = {:.3} ", self.score, self.brevity_penalty)?;
        write!(f, "ratio = {:.3} hyp_len = {} ref_len = {})", self.ratio, self.hyp_len, self.ref_len)
    }
}

impl BleuOptions {
    /// The settings that suit the score of a single sentence: the default with `effective_order`.
    #[must_use]
    pub fn sentence_level() -> Self {
        Self { effective_order: true, ..Self::default() }
    }

    /// Scores a corpus: `references[k][i]` is the k-th reference of `hypotheses[i]`.
    ///
    /// # Errors
    /// Without lines, without references, or when a reference has another number of lines.
    pub fn corpus<H: AsRef<str>, T: AsRef<str>>(
        &self,
        hypotheses: &[H],
        references: &[impl AsRef<[T]>],
    ) -> Result<BleuScore, EvalError> {
        let segments = self.segments(hypotheses, references)?;
        Ok(self.score(&segments.into_iter().sum()))
    }

    /// The counts of every line of a corpus, in order; arguments and errors as for [`corpus`](Self::corpus).
    ///
    /// # Errors
    /// Without lines, without references, or when a reference has another number of lines.
    pub fn segments<H: AsRef<str>, T: AsRef<str>>(
        &self,
        hypotheses: &[H],
        references: &[impl AsRef<[T]>],
    ) -> Result<Vec<BleuStatistics>, EvalError> {
        let corpus = Corpus::new(hypotheses, references)?;
        Ok(corpus.lines().map(|(hypothesis, references)| self.segment(hypothesis, references)).collect())
    }

    /// The counts of one line against its references.
    #[must_use]
    pub fn segment(&self, hypothesis: &str, references: &[&str]) -> BleuStatistics {
        let references: Vec<_> = references.iter().map(|reference| self.tokenize(reference)).collect();
        BleuStatistics::from_tokens(&self.tokenize(hypothesis), &references)
    }

    /// BLEU from counts.
    #[must_use]
    pub fn score(&self, statistics: &BleuStatistics) -> BleuScore {
        let BleuStatistics { hypothesis_length: hyp_len, reference_length: ref_len, correct, total } =
            *statistics;
        let (correct, total) = (correct.map(|count| count as f64), total.map(|count| count as f64));
        let (score, precisions) = self.combine((hyp_len, ref_len), &correct, &total);
        let brevity_penalty = brevity_penalty(hyp_len, ref_len);
        let ratio = if ref_len == 0 { 0.0 } else { hyp_len as f64 / ref_len as f64 };
        // exp(ln 100) is a little more than 100 in floating point.
        BleuScore { score: score.min(100.0), precisions, brevity_penalty, ratio, hyp_len, ref_len }
    }

    /// BLEU and the precisions, from the lengths of output and references and the counts of each order.
    fn combine<R: Real>(
        &self,
        (hyp_len, ref_len): (usize, usize),
        correct: &[R; MAX_NGRAM_ORDER],
        total: &[R; MAX_NGRAM_ORDER],
    ) -> (f64, [R; MAX_NGRAM_ORDER]) {
        let zero = R::from_f64(0.0);
        if correct.iter().all(|&count| count == zero) {
            return (0.0, [zero; MAX_NGRAM_ORDER]);
        }
        let (precisions, orders) = self.smoothing.precisions(correct, total);
        let orders = if self.effective_order { orders } else { MAX_NGRAM_ORDER };
        let mean = precisions.iter().take(orders).map(|p| p.to_f64().ln()).sum::<f64>() / orders as f64;
        (brevity_penalty(hyp_len, ref_len) * mean.exp(), precisions)
    }

    /// The settings in sacreBLEU's notation, with this project's own version, for `references` references per line.
    #[must_use]
    pub fn signature(&self, references: usize) -> String {
        self.signature_for(Some(references))
    }

    /// The tokens over which n-grams are counted.
    #[must_use]
    pub fn tokenize(&self, line: &str) -> Vec<String> {
        if self.lowercase {
            self.tokenizer.tokenize(&line.to_lowercase())
        } else {
            self.tokenizer.tokenize(line)
        }
    }
}

impl Metric for BleuOptions {
    fn name(&self) -> String {
        "BLEU".to_owned()
    }

    fn settings(&self) -> String {
        let case = if self.lowercase { "lc" } else { "mixed" };
        let effective = if self.effective_order { "yes" } else { "no" };
        format!("case:{case}|eff:{effective}|tok:{}|smooth:{}", self.tokenizer.name(), self.smoothing)
    }

    fn higher_is_better(&self) -> bool {
        true
    }

    fn width(&self) -> usize {
        2 + 2 * MAX_NGRAM_ORDER
    }

    fn statistics(&self, hypothesis: &str, references: &[&str]) -> Vec<f64> {
        self.segment(hypothesis, references).to_row()
    }

    fn score_of(&self, sums: &[f64]) -> f64 {
        self.score(&BleuStatistics::from_row(sums)).score
    }

    /// With effective order, whatever the settings say: else most short lines would score 0.
    fn sentence_score_of(&self, statistics: &[f64]) -> f64 {
        Self { effective_order: true, ..*self }.score_of(statistics)
    }

    /// Counts and precisions in single precision, their logarithms in double.
    fn resampled_score(&self, sums: &[f32]) -> ResampledScore {
        let at = |index: usize| sums.get(index).copied().unwrap_or(0.0);
        let correct: [f32; MAX_NGRAM_ORDER] = std::array::from_fn(|n| at(2 + n));
        let total = std::array::from_fn(|n| at(2 + MAX_NGRAM_ORDER + n));
        ResampledScore::Double(self.combine((at(0) as usize, at(1) as usize), &correct, &total).0)
    }
}

fn brevity_penalty(hypothesis: usize, reference: usize) -> f64 {
    if hypothesis >= reference {
        1.0
    } else if hypothesis == 0 {
        0.0
    } else {
        (1.0 - reference as f64 / hypothesis as f64).exp()
    }
}
