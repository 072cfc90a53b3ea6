//! Products element by element, and of rows with a column of factors.

use super::{expect_shape, same_shape};
use crate::element::Element;
use crate::{Result, Tape, Tensor, Var};

/// `a ∘ b`.
///
/// # Errors
/// Where the shapes differ.
pub fn mul<T: Element>(tape: &Tape<T>, a: &Var<T>, b: &Var<T>) -> Result<Var<T>> {
    same_shape("mul", a, b)?;
    let y = Tensor::build(a.shape(), |out| product(out, a.value().values(), b.value().values()));
    if !tape.needs_gradient(&[a, b]) {
        return Ok(Var::constant(y));
    }
    let (a, b) = (a.clone(), b.clone());
    let [y] = tape.record([y], move |_, outputs, gradients| {
        if let [Some(dy)] = outputs {
            gradients.accumulate(&a, |da| add_product(da, dy.values(), b.value().values()));
            gradients.accumulate(&b, |db| add_product(db, dy.values(), a.value().values()));
        }
        Ok(())
    });
    Ok(y)
}

/// Each row of `x` times its factor: `x` is `[rows, width]`, `column` is `[rows, 1]`.
///
/// # Errors
/// Where `column` does not have one value a row.
pub fn mul_column<T: Element>(tape: &Tape<T>, x: &Var<T>, column: &Var<T>) -> Result<Var<T>> {
    expect_shape("mul_column", column.shape(), x.shape().with_last(1))?;
    let width = x.shape().last().max(1);
    let y = Tensor::build(x.shape(), |out| {
        out.copy_from_slice(x.value().values());
        for (row, &factor) in out.chunks_exact_mut(width).zip(column.value().values()) {
            T::scale(row, factor);
        }
    });
    if !tape.needs_gradient(&[x, column]) {
        return Ok(Var::constant(y));
    }
    let (x, column) = (x.clone(), column.clone());
    let [y] = tape.record([y], move |_, outputs, gradients| {
        let [Some(dy)] = outputs else { return Ok(()) };
        gradients.accumulate(&x, |dx| {
            let rows = dx.chunks_exact_mut(width).zip(dy.values().chunks_exact(width));
            for ((dx, dy), &factor) in rows.zip(column.value().values()) {
                T::axpy(factor, dy, dx);
            }
        });
        gradients.accumulate(&column, |dc| {
            let rows = x.value().values().chunks_exact(width).zip(dy.values().chunks_exact(width));
            for (dc, (x, dy)) in dc.iter_mut().zip(rows) {
                *dc = *dc + T::dot(x, dy);
            }
        });
        Ok(())
    });
    Ok(y)
}

fn product<T: Element>(out: &mut [T], a: &[T], b: &[T]) {
    for ((y, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *y = a * b;
    }
}

fn add_product<T: Element>(sum: &mut [T], a: &[T], b: &[T]) {
    for ((y, &a), &b) in sum.iter_mut().zip(a).zip(b) {
        *y = *y + a * b;
    }
}
