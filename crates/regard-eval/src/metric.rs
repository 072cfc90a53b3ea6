//! What all metrics have in common.

use crate::signature::Signature;

/// A metric whose corpus score comes from sums of what it counts in each line.
pub trait Metric: Sync {
    /// The name, such as `BLEU` or `chrF2++`.
    fn name(&self) -> String;

    /// The settings as they stand in a [`Signature`], such as `case:mixed|eff:no|tok:13a|smooth:exp`.
    fn settings(&self) -> String;

    /// Whether a higher score is a better one.
    fn higher_is_better(&self) -> bool;

    /// How many numbers are counted in each line.
    fn width(&self) -> usize;

    /// What is counted in one line: `width` numbers.
    fn statistics(&self, hypothesis: &str, references: &[&str]) -> Vec<f64>;

    /// The score of a corpus in percent, from the sums of its statistics.
    fn score_of(&self, sums: &[f64]) -> f64;

    /// The score of one line in percent, from its statistics.
    fn sentence_score_of(&self, statistics: &[f64]) -> f64 {
        self.score_of(statistics)
    }

    /// The score of a bootstrap sample. sacreBLEU adds samples up in single precision and goes on in it, so these scores
    /// agree with [`score_of`](Self::score_of) to some six digits only.
    fn resampled_score(&self, sums: &[f32]) -> ResampledScore {
        let sums: Vec<f64> = sums.iter().copied().map(f64::from).collect();
        ResampledScore::Double(self.score_of(&sums))
    }

    /// The signature of a score without resampling, for so many references per line.
    fn signature_for(&self, references: Option<usize>) -> String {
        Signature { references, resampling: None }.of(self.settings())
    }
}

/// A score with the precision in which sacreBLEU has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ResampledScore {
    /// A 32-bit number.
    Single(f32),
    /// A 64-bit number.
    Double(f64),
}
