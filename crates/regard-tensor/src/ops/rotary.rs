//! Rotary position embeddings (Su et al. 2021): a position turns each pair of columns by an angle.

use super::for_rows_of;
use crate::element::Element;
use crate::error::TensorError;
use crate::{List, Result, Tape, Tensor, Threads, Var};

/// Turns the columns 2i and 2i + 1 of each head by the angle p · 10000^(−2i / width of a head).
///
/// `x` is `[rows, heads · width]`; its row `r` has the position `positions[r % positions.len()]`, so that a batch of
/// sentences names its positions once.
///
/// # Errors
/// Where the columns do not make `heads` heads of an even width, or the rows no whole number of sentences.
pub fn rotary<T: Element>(tape: &Tape<T>, x: &Var<T>, heads: usize, positions: &[usize]) -> Result<Var<T>> {
    let shape = x.shape();
    if heads == 0 || !shape.last().is_multiple_of(2 * heads) {
        return Err(TensorError::Index { op: "rotary", index: shape.last(), limit: 2 * heads });
    }
    if !shape.rows().is_multiple_of(positions.len().max(1)) || (positions.is_empty() && shape.rows() > 0) {
        return Err(TensorError::Index { op: "rotary", index: shape.rows(), limit: positions.len() });
    }
    let turns = Turns::new(positions, shape.last() / heads);
    let y = Tensor::build(shape, |out| {
        out.copy_from_slice(x.value().values());
        turns.apply(tape.threads(), out, shape.last(), T::ONE);
    });
    if !tape.needs_gradient(&[x]) {
        return Ok(Var::constant(y));
    }
    let x = x.clone();
    let [y] = tape.record([y], move |threads, outputs, gradients| {
        let [Some(dy)] = outputs else { return Ok(()) };
        let mut dx = dy.deep_copy();
        turns.apply(threads, dx.values_mut(), shape.last(), T::from_f64(-1.0));
        gradients.add(&x, &dx)
    });
    Ok(y)
}

/// Cosine and sine of each position's angles.
struct Turns<T: 'static> {
    table: List<(T, T)>,
    pairs: usize,
}

impl<T: Element> Turns<T> {
    fn new(positions: &[usize], width: usize) -> Self {
        let pairs = width / 2;
        let frequency = |pair: usize| 10_000_f64.powf(-2.0 * pair as f64 / width as f64);
        let frequencies: List<f64> = (0..pairs).map(frequency).collect();
        let turn = |angle: f64| (T::from_f64(angle.cos()), T::from_f64(angle.sin()));
        let table = positions.iter().flat_map(|&p| frequencies.iter().map(move |f| turn(p as f64 * f)));
        Self { table: table.collect(), pairs }
    }

    /// Turns all rows; `direction` −1 turns them back.
    fn apply(&self, threads: &Threads, values: &mut [T], width: usize, direction: T) {
        if self.table.is_empty() {
            return;
        }
        for_rows_of(threads, values.len(), values, width, |row, values| {
            let turns = &self.table[row * self.pairs % self.table.len()..][..self.pairs];
            for head in values.chunks_exact_mut(2 * self.pairs) {
                for ([a, b], &(cos, sin)) in head.as_chunks_mut::<2>().0.iter_mut().zip(turns) {
                    let sin = sin * direction;
                    (*a, *b) = (*a * cos - *b * sin, *a * sin + *b * cos);
                }
            }
        });
    }
}
