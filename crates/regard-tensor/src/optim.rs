//! Optimizers, and clipping of gradients by their common norm.

use crate::element::Element;
use crate::ops::for_parts_of;
use crate::{Gradient, List, Tensor, Threads};

/// Which rule changes the weights, with its fixed numbers. The learning rate is given at each step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Stochastic gradient descent; `momentum` 0 for none (Sutskever et al. 2013, as `PyTorch` has it).
    Sgd {
        /// The part of the last change that is kept.
        momentum: f64,
    },
    /// Adam (Kingma & Ba 2015), with weight decay apart from the gradient where it is not 0 (`AdamW`, Loshchilov &
    /// Hutter 2019).
    Adam {
        /// Decay of the mean of gradients.
        beta1: f64,
        /// Decay of the mean of squares.
        beta2: f64,
        /// Added to the root of the mean of squares.
        epsilon: f64,
        /// Each step takes `learning rate · weight_decay` of a weight away.
        weight_decay: f64,
    },
    /// Adadelta (Zeiler 2012).
    Adadelta {
        /// Decay of both means.
        rho: f64,
        /// Added under both roots.
        epsilon: f64,
    },
}

/// A rule with its memory: two arrays a weight.
#[derive(Clone, Debug)]
pub struct Optimizer<T: Element = f32> {
    rule: Rule,
    /// Updates done.
    step: u64,
    first: Vec<Tensor<T>>,
    second: Vec<Tensor<T>>,
}

impl<T: Element> Optimizer<T> {
    /// An optimizer at its first step, for weights of these shapes.
    #[must_use]
    pub fn new(rule: Rule, weights: &[Tensor<T>]) -> Self {
        let zeros = || weights.iter().map(|weight| Tensor::zeros(weight.shape())).collect();
        Self { rule, step: 0, first: zeros(), second: zeros() }
    }

    /// An optimizer that goes on from a stored memory.
    #[must_use]
    pub fn restore(rule: Rule, step: u64, first: Vec<Tensor<T>>, second: Vec<Tensor<T>>) -> Self {
        Self { rule, step, first, second }
    }

    /// Updates done.
    #[must_use]
    pub fn step(&self) -> u64 {
        self.step
    }

    /// The two arrays of memory of each weight (mean of gradients or velocity; mean of squares), for storing.
    #[must_use]
    pub fn memory(&self) -> (&[Tensor<T>], &[Tensor<T>]) {
        (&self.first, &self.second)
    }

    /// Changes the weights by one update. A weight without a gradient stays as it is; a row that its gradient does not
    /// keep has the gradient zero, and changes with its memory.
    pub fn update(
        &mut self,
        threads: &Threads,
        weights: &mut [Tensor<T>],
        gradients: &[Option<Gradient<T>>],
        learning_rate: f64,
    ) {
        self.step += 1;
        let change = Change { rule: self.rule, step: self.step, learning_rate };
        let memory = self.first.iter_mut().zip(&mut self.second);
        for ((weight, gradient), (first, second)) in weights.iter_mut().zip(gradients).zip(memory) {
            let Some(gradient) = gradient else { continue };
            let size = weight.shape().len().div_ceil(threads.count()).max(16 * 1024);
            let parts = weight
                .values_mut()
                .chunks_mut(size)
                .zip(first.values_mut().chunks_mut(size).zip(second.values_mut().chunks_mut(size)))
                .enumerate();
            crate::ops::for_items(threads, parts, size, |(index, (weight, (first, second)))| {
                gradient.read(index * size..index * size + weight.len(), |here, gradient| {
                    let (weight, first) = (&mut weight[here.clone()], &mut first[here.clone()]);
                    change.apply(weight, gradient, first, &mut second[here]);
                });
            });
        }
    }
}

/// One update, the same for all weights.
struct Change {
    rule: Rule,
    step: u64,
    learning_rate: f64,
}

impl Change {
    fn apply<T: Element>(&self, weight: &mut [T], gradient: &[T], first: &mut [T], second: &mut [T]) {
        match self.rule {
            Rule::Sgd { momentum } => self.sgd(momentum, weight, gradient, first),
            Rule::Adam { beta1, beta2, epsilon, weight_decay } => {
                let correction = |beta: f64| 1.0 - beta.powf(self.step as f64);
                let numbers = crate::kernels::AdamNumbers {
                    learning_rate: self.learning_rate,
                    beta1,
                    beta2,
                    epsilon,
                    weight_decay,
                    correction1: correction(beta1),
                    correction2: correction(beta2),
                };
                T::adam_update(weight, gradient, first, second, &numbers);
            }
            Rule::Adadelta { rho, epsilon } => self.adadelta([rho, epsilon], weight, gradient, first, second),
        }
    }

    fn sgd<T: Element>(&self, momentum: f64, weight: &mut [T], gradient: &[T], velocity: &mut [T]) {
        let (rate, momentum) = (T::from_f64(self.learning_rate), T::from_f64(momentum));
        for ((w, &g), v) in weight.iter_mut().zip(gradient).zip(velocity) {
            *v = momentum * *v + g;
            *w = *w - rate * *v;
        }
    }

    fn adadelta<T: Element>(
        &self,
        [rho, epsilon]: [f64; 2],
        weight: &mut [T],
        gradient: &[T],
        changes: &mut [T],
        squares: &mut [T],
    ) {
        let [rate, rho, rest, epsilon] = [self.learning_rate, rho, 1.0 - rho, epsilon].map(T::from_f64);
        for (((w, &g), d), s) in weight.iter_mut().zip(gradient).zip(changes).zip(squares) {
            *s = rho * *s + rest * g * g;
            let delta = (*d + epsilon).sqrt() / (*s + epsilon).sqrt() * g;
            *d = rho * *d + rest * delta * delta;
            *w = *w - rate * delta;
        }
    }
}

/// The Euclidean norm of all gradients together, summed in f64: pieces of some thousand values by themselves, and their sums
/// in the order of the list. It does not depend on the number of threads, nor, where the rows of tables are a multiple of 16
/// values, on whether zeros are kept.
#[must_use]
pub fn global_norm<T: Element>(threads: &Threads, gradients: &[Option<Gradient<T>>]) -> f64 {
    let pieces = |gradient: &Gradient<T>| 0..gradient.pieces();
    let mut sums: List<(usize, usize, f64)> = (gradients.iter().enumerate())
        .filter_map(|(index, gradient)| Some((index, pieces(gradient.as_ref()?))))
        .flat_map(|(index, pieces)| pieces.map(move |piece| (index, piece, 0.0)))
        .collect();
    threads.chunks_mut(&mut sums, 1, |_, pieces| {
        for (index, piece, sum) in pieces {
            *sum = gradients[*index].as_ref().map_or(0.0, |gradient| T::sum_squares(gradient.piece(*piece)));
        }
    });
    sums.iter().map(|(_, _, sum)| sum).sum::<f64>().sqrt()
}

/// Scales the gradients so that their common norm is at most `limit` (Pascanu et al. 2013). `norm` is their norm now.
pub fn clip_by_global_norm<T: Element>(
    threads: &Threads,
    gradients: &mut [Option<Gradient<T>>],
    norm: f64,
    limit: f64,
) {
    if norm > limit && norm.is_finite() {
        let factor = T::from_f64(limit / norm);
        for gradient in gradients.iter_mut().flatten() {
            for_parts_of(threads, gradient.kept_mut(), |_, values| T::scale(values, factor));
        }
    }
}
