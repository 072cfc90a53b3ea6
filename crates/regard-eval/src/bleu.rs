//! BLEU (Papineni et al. 2002, <https://aclanthology.org/P02-1040>) as sacreBLEU 2.x computes it.

use crate::error::{EvalError, check_pairing};
use crate::statistics::{BleuStatistics, MAX_NGRAM_ORDER};
use crate::tokenizer_13a::{is_space, split_words, tokenize_13a};
use serde::Serialize;
use std::fmt;

/// How a line becomes the tokens that are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BleuTokenizer {
    /// `13a`, for text as people write it: [`tokenize_13a`].
    #[default]
    ThirteenA,
    /// `none`: the words between white space, for text that is tokenised already.
    None,
}

impl BleuTokenizer {
    /// The name in signatures and on the command line: `13a` or `none`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ThirteenA => "13a",
            Self::None => "none",
        }
    }
}

/// The settings of BLEU. The default is sacreBLEU's: `13a`, case kept, all four orders.
///
/// Zero precisions are smoothed by `exp`: the k-th one becomes 100 / (2^k · total).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BleuOptions {
    /// The tokenizer.
    pub tokenizer: BleuTokenizer,
    /// Whether both sides are lower-cased first.
    pub lowercase: bool,
    /// Whether orders that the output is too short for are left out. Meant for single sentences.
    pub effective_order: bool,
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
        check_pairing(hypotheses.len(), references)?;
        let mut references: Vec<_> = references.iter().map(|reference| reference.as_ref().iter()).collect();
        let segments = hypotheses.iter().map(|hypothesis| {
            let of_line: Vec<&str> =
                references.iter_mut().filter_map(Iterator::next).map(AsRef::as_ref).collect();
            self.segment(hypothesis.as_ref(), &of_line)
        });
        Ok(segments.collect())
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
        let BleuStatistics { hypothesis_length: hyp_len, reference_length: ref_len, .. } = *statistics;
        let (precisions, orders) = smoothed_precisions(statistics);
        let brevity_penalty = brevity_penalty(hyp_len, ref_len);
        let orders = if self.effective_order { orders } else { MAX_NGRAM_ORDER };
        let score = if statistics.correct.iter().all(|&correct| correct == 0) {
            0.0
        } else {
            let mean = precisions.iter().take(orders).map(|p| p.ln()).sum::<f64>() / orders as f64;
            // exp(ln 100) is a little more than 100 in floating point.
            (brevity_penalty * mean.exp()).min(100.0)
        };
        let ratio = if ref_len == 0 { 0.0 } else { hyp_len as f64 / ref_len as f64 };
        BleuScore { score, precisions, brevity_penalty, ratio, hyp_len, ref_len }
    }

    /// The settings in sacreBLEU's notation, with this project's own version, for `references` references per line.
    #[must_use]
    pub fn signature(&self, references: usize) -> String {
        let case = if self.lowercase { "lc" } else { "mixed" };
        let effective = if self.effective_order { "yes" } else { "no" };
        format!(
            "nrefs:{references}|case:{case}|eff:{effective}|tok:{}|smooth:exp|version:regard-{}",
            self.tokenizer.name(),
            env!("CARGO_PKG_VERSION")
        )
    }

    fn tokenize(self, line: &str) -> Vec<String> {
        // White space at the end goes first, so that a hyphen before a line end stays what it is.
        let line = line.trim_end_matches(is_space);
        let line = if self.lowercase { line.to_lowercase() } else { line.to_owned() };
        match self.tokenizer {
            BleuTokenizer::ThirteenA => tokenize_13a(&line),
            BleuTokenizer::None => split_words(&line).map(str::to_owned).collect(),
        }
    }
}

/// The precisions in percent, and the number of orders that the output is long enough for. All are 0 without a match.
fn smoothed_precisions(statistics: &BleuStatistics) -> ([f64; MAX_NGRAM_ORDER], usize) {
    let mut precisions = [0.0; MAX_NGRAM_ORDER];
    let orders = statistics.total.iter().take_while(|&&total| total > 0).count();
    if statistics.correct.iter().all(|&correct| correct == 0) {
        return (precisions, orders);
    }
    let mut halvings = 1.0;
    for (n, precision) in precisions.iter_mut().enumerate().take(orders) {
        let total = statistics.total[n] as f64;
        *precision = if statistics.correct[n] == 0 {
            halvings *= 2.0;
            100.0 / (halvings * total)
        } else {
            100.0 * statistics.correct[n] as f64 / total
        };
    }
    (precisions, orders)
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
