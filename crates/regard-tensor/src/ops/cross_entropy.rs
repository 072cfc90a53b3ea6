//! The output layer fused with softmax and cross-entropy.
//!
//! The logits exist only for a block of tokens at a time; their gradient is formed at once, so that no array of
//! [tokens × vocabulary] is kept for the backward pass.

use crate::element::Element;
use crate::error::TensorError;
use crate::tape::weight_gradient;
use crate::{List, Precision, Result, Tape, Tensor, Threads, Var};

/// Tokens whose logits exist at the same time.
const BLOCK: usize = 256;

/// What the tokens should have been, and how the loss counts them.
#[derive(Clone, Copy, Debug)]
pub struct Targets<'a> {
    /// The right id of each row.
    pub ids: &'a [u32],
    /// Whether a row counts (padding does not).
    pub counts: &'a [bool],
    /// The part of the probability mass that is spread evenly over all V ids (Szegedy et al. 2016, as `PyTorch` has it).
    pub label_smoothing: f64,
    /// The loss is the sum over the rows that count, times this.
    pub factor: f64,
}

/// The loss and what was seen on the way.
#[derive(Clone, Debug)]
pub struct CrossEntropy<T: Element = f32> {
    /// The loss to differentiate: smoothed, summed, times the factor. One number.
    pub loss: Var<T>,
    /// Σ -log p(right id), natural logarithm, without smoothing or factor.
    pub negative_log_likelihood: f64,
    /// How many rows count.
    pub tokens: usize,
    /// For how many of them the right id had the largest probability.
    pub correct: usize,
}

/// Cross-entropy of `softmax(x · Wᵀ + b)`: `x` is `[tokens, in]`, `weight` is `[V, in]`, `bias` is `[V]`.
///
/// # Errors
/// Where the sizes do not fit or a target is outside of the vocabulary.
pub fn linear_cross_entropy<T: Element>(
    tape: &Tape<T>,
    x: &Var<T>,
    weight: &Var<T>,
    bias: Option<&Var<T>>,
    targets: Targets,
) -> Result<CrossEntropy<T>> {
    let (rows, vocabulary) = (x.shape().rows(), weight.shape().rows());
    if x.shape().last() != weight.shape().last()
        || bias.is_some_and(|bias| bias.shape().sizes() != [vocabulary])
    {
        return Err(TensorError::ShapeMismatch {
            op: "cross_entropy",
            left: x.shape(),
            right: weight.shape(),
        });
    }
    super::expect_rows("cross_entropy", targets.ids.len(), rows)?;
    super::expect_rows("cross_entropy", targets.counts.len(), rows)?;
    if let Some(&id) = targets.ids.iter().find(|&&id| id as usize >= vocabulary) {
        return Err(TensorError::Index { op: "cross_entropy", index: id as usize, limit: vocabulary });
    }
    let wanted = tape.needs_gradient_of([x, weight].into_iter().chain(bias));
    let mut run = Run::new(tape, x, weight, wanted);
    for start in (0..rows).step_by(BLOCK) {
        run.block(start, (start + BLOCK).min(rows), bias, targets);
    }
    let loss = Tensor::scalar(T::from_f64(run.loss * targets.factor));
    let (negative_log_likelihood, tokens, correct) = (run.negative_log_likelihood, run.tokens, run.correct);
    let loss = if let Some(sums) = run.gradients {
        let (x, weight, bias) = (x.clone(), weight.clone(), bias.cloned());
        let [loss] = tape.record([loss], move |_, outputs, gradients| {
            let [Some(upstream)] = outputs else { return Ok(()) };
            let factor = upstream.item();
            for (var, sum) in [(Some(&x), sums.x), (Some(&weight), sums.weight), (bias.as_ref(), sums.bias)] {
                let Some(var) = var else { continue };
                gradients.add(var, &scaled(sum, factor))?;
            }
            Ok(())
        });
        loss
    } else {
        Var::constant(loss)
    };
    Ok(CrossEntropy { loss, negative_log_likelihood, tokens, correct })
}

fn scaled<T: Element>(mut sum: Tensor<T>, factor: T) -> Tensor<T> {
    if factor != T::ONE {
        T::scale(sum.values_mut(), factor);
    }
    sum
}

/// Gradients of the inputs, formed block by block.
struct Sums<T: Element> {
    x: Tensor<T>,
    weight: Tensor<T>,
    bias: Tensor<T>,
}

struct Run<'a, T: Element> {
    threads: &'a Threads,
    precision: Precision,
    x: &'a Tensor<T>,
    weight: &'a Tensor<T>,
    gradients: Option<Sums<T>>,
    loss: f64,
    negative_log_likelihood: f64,
    tokens: usize,
    correct: usize,
}

impl<'a, T: Element> Run<'a, T> {
    fn new(tape: &'a Tape<T>, x: &'a Var<T>, weight: &'a Var<T>, wanted: bool) -> Self {
        let gradients = wanted.then(|| Sums {
            x: Tensor::build(x.shape(), |_| ()),
            weight: Tensor::zeros(weight.shape()),
            bias: Tensor::zeros([weight.shape().rows()]),
        });
        let (x, weight) = (x.value(), weight.value());
        Self {
            threads: tape.threads(),
            precision: tape.precision(),
            x,
            weight,
            gradients,
            loss: 0.0,
            negative_log_likelihood: 0.0,
            tokens: 0,
            correct: 0,
        }
    }

    /// Loss and gradients of the tokens `start..end`.
    fn block(&mut self, start: usize, end: usize, bias: Option<&Var<T>>, targets: Targets) {
        let (width, vocabulary, rows) = (self.x.shape().last(), self.weight.shape().rows(), end - start);
        let x = &self.x.values()[start * width..end * width];
        let mut logits = Tensor::build([rows, vocabulary], |_| ());
        let bias = bias.map(|bias| bias.value().values());
        let packed = self.weight.packed(self.threads, self.precision);
        packed.multiply(self.threads, x, rows, logits.values_mut(), false, bias);
        let mut seen: List<RowLoss> = (0..rows).map(|_| RowLoss::default()).collect();
        let wanted = self.gradients.is_some();
        let work = logits.values_mut().chunks_exact_mut(vocabulary).zip(&mut seen);
        super::for_items(self.threads, work.enumerate(), vocabulary, |(row, (logits, seen))| {
            *seen = row_loss(logits, start + row, targets, wanted);
        });
        for row in &seen {
            self.loss += row.smoothed;
            self.negative_log_likelihood += row.plain;
            self.tokens += usize::from(row.counts);
            self.correct += usize::from(row.correct);
        }
        let Some(sums) = &mut self.gradients else { return };
        let dx = &mut sums.x.values_mut()[start * width..end * width];
        let packed = self.weight.packed_transposed(self.threads, self.precision);
        packed.multiply(self.threads, logits.values(), rows, dx, false, None);
        let segment = (logits.values(), x, rows);
        let sum = sums.weight.values_mut();
        weight_gradient(self.threads, self.precision, &[segment], (vocabulary, width), sum, true);
        super::add_column_sums(self.threads, logits.values(), sums.bias.values_mut());
    }
}

#[derive(Clone, Copy, Default)]
struct RowLoss {
    smoothed: f64,
    plain: f64,
    counts: bool,
    correct: bool,
}

/// The loss of one token; its logits become their own gradient where that is wanted.
fn row_loss<T: Element>(logits: &mut [T], row: usize, targets: Targets, gradient: bool) -> RowLoss {
    if !targets.counts[row] {
        logits.fill(T::ZERO);
        return RowLoss::default();
    }
    let target = targets.ids[row] as usize;
    let correct = logits[target] == T::largest(logits);
    T::log_softmax_row(logits);
    let plain = -logits[target].to_f64();
    let smoothing = targets.label_smoothing;
    let vocabulary = logits.len() as f64;
    let mut smoothed = plain;
    if smoothing > 0.0 {
        smoothed = (1.0 - smoothing) * plain - smoothing * T::sum_slice(logits).to_f64() / vocabulary;
    }
    if gradient {
        T::exp_slice(logits);
        let (factor, spread) = (T::from_f64(targets.factor), T::from_f64(smoothing / vocabulary));
        T::subtract_and_scale(logits, spread, factor);
        logits[target] = logits[target] - T::from_f64((1.0 - smoothing) * targets.factor);
    }
    RowLoss { smoothed, plain, counts: true, correct }
}
