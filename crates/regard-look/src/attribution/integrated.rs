//! Integrated gradients (Sundararajan et al. 2017): the gradient along the straight way from a baseline.

use regard_model::{Place, Row};
use regard_text::special_tokens::UNK;
use serde::Serialize;

use super::gradient::{Plain, Tables, plain_vectors, sum};
use super::subject::{Rows, Subject};
use super::words::{Vectors, WORDS};
use crate::error::Result;

/// How exact they shall be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntegratedOptions {
    /// Steps of Simpson's rule at first; they double until the gap is small.
    pub steps: usize,
    /// Most steps.
    pub max_steps: usize,
    /// The gap that is small enough, as a part of max(|f(e) − f(e′)|, 0.1).
    pub tolerance: f64,
}

impl Default for IntegratedOptions {
    fn default() -> Self {
        Self { steps: 16, max_steps: 2048, tolerance: 0.01 }
    }
}

/// How far integrated gradients are from complete.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Completeness {
    /// Steps of the sum that stands for the integral.
    pub steps: usize,
    /// f(e) − f(e′) of each target token.
    pub differences: Vec<f64>,
    /// What the attributions of a token sum to, less than that.
    pub gaps: Vec<f64>,
    /// The largest gap as a part of max(|f(e) − f(e′)|, 0.1).
    pub largest: f64,
}

/// Integrated gradients with their completeness.
#[derive(Clone, Debug, PartialEq)]
pub struct Integrated {
    /// `[target tokens, source tokens]`.
    pub source: Rows,
    /// `[target tokens, target tokens]`.
    pub target: Rows,
    /// How complete they are.
    pub completeness: Completeness,
}

/// Integrated gradients of log p along the way from the vector of `<unk>` at every word, start and end symbols excepted, which
/// stay. Source and target words move together, before positions are added. Where the model has many corners on the way, the gap may
/// stay: the result says how large it is.
///
/// # Errors
/// What the model says.
pub fn integrated_gradients(subject: &Subject, options: IntegratedOptions) -> Result<Integrated> {
    let way = Way::new(subject)?;
    let end = subject.log_probs(&subject.pair(), None)?.remove(0);
    let baseline = Vectors::changed(WORDS, |place, row, vector| way.put(place, row, 0.0, vector));
    let start = subject.log_probs(&subject.pair(), Some(&baseline))?.remove(0);
    let differences: Vec<f64> = end.iter().zip(&start).map(|(end, start)| end - start).collect();
    let (mut steps, mut sums) = (1, way.ends(subject)?);
    loop {
        // The trapezoids of twice the steps are half of these and half of the midpoints between; Simpson's rule is both.
        let finer = half(&sums, &way.midpoints(subject, steps)?);
        let tables = combined(&finer, 4.0 / 3.0, &sums, -1.0 / 3.0);
        (steps, sums) = (2 * steps, finer);
        if steps < options.steps {
            continue;
        }
        let gap = |(row, difference): (usize, &f64)| {
            difference - tables.source[row].iter().sum::<f64>() - tables.target[row].iter().sum::<f64>()
        };
        let gaps: Vec<f64> = differences.iter().enumerate().map(gap).collect();
        let relative = |(gap, difference): (&f64, &f64)| gap.abs() / difference.abs().max(0.1);
        let largest = gaps.iter().zip(&differences).map(relative).fold(0.0, f64::max);
        if largest <= options.tolerance || steps * 2 > options.max_steps {
            let completeness = Completeness { steps, differences, gaps, largest };
            return Ok(Integrated { source: tables.source, target: tables.target, completeness });
        }
    }
}

fn half(a: &Tables, b: &Tables) -> Tables {
    combined(a, 0.5, b, 0.5)
}

/// `a · x + b · y`.
fn combined(x: &Tables, a: f64, y: &Tables, b: f64) -> Tables {
    let row = |(x, y): (&Vec<f64>, &Vec<f64>)| x.iter().zip(y).map(|(x, y)| a * x + b * y).collect();
    let rows = |x: &Rows, y: &Rows| x.iter().zip(y).map(row).collect();
    Tables { source: rows(&x.source, &y.source), target: rows(&x.target, &y.target) }
}

/// The straight way from the baseline to the words.
struct Way {
    words: Plain,
    baseline: Plain,
}

impl Way {
    fn new(subject: &Subject) -> Result<Self> {
        let (source, target) = (unknown(subject.source), unknown(subject.target));
        let baseline = plain_vectors(&Subject { source: &source, target: &target, ..*subject })?;
        Ok(Self { words: plain_vectors(subject)?, baseline })
    }

    /// The vector at a part of the way.
    fn put(&self, place: Place, row: &Row, part: f32, vector: &mut [f32]) {
        let (word, baseline) =
            (self.words.vector(place, row.position), self.baseline.vector(place, row.position));
        for ((value, word), baseline) in vector.iter_mut().zip(word).zip(baseline) {
            *value = baseline + part * (word - baseline);
        }
    }

    /// The trapezoid of the whole way.
    fn ends(&self, subject: &Subject) -> Result<Tables> {
        self.mean(subject, [0.0, 1.0].into_iter())
    }

    /// Of so many equal steps, the middles.
    fn midpoints(&self, subject: &Subject, steps: usize) -> Result<Tables> {
        self.mean(subject, (0..steps).map(|step| (step as f32 + 0.5) / steps as f32))
    }

    /// The mean at some parts of the way.
    fn mean(&self, subject: &Subject, parts: impl ExactSizeIterator<Item = f32>) -> Result<Tables> {
        let mut tables = Tables::new(subject);
        let count = parts.len() as f64;
        for part in parts {
            let vectors = Vectors::changed(WORDS, |place, row, vector| self.put(place, row, part, vector));
            tables.add(subject, &vectors, |place, row, _, gradient| {
                let word = sum(self.words.vector(place, row.position), gradient);
                (word - sum(self.baseline.vector(place, row.position), gradient)) / count
            })?;
        }
        Ok(tables)
    }
}

/// `<unk>` at every word; the last id is the end symbol, or is not read.
pub(super) fn unknown(ids: &[u32]) -> Vec<u32> {
    let last = ids.len().saturating_sub(1);
    ids.iter().enumerate().map(|(place, &id)| if place == last { id } else { UNK }).collect()
}
