//! Sums of matrix products with weights.

use super::Function;
use crate::element::Element;
use crate::error::TensorError;
use crate::{List, Result, Tape, Tensor, Var};

/// `x · Wᵀ + b`: `x` is `[…, in]`, `weight` is `[out, in]`, `bias` is `[out]`.
///
/// # Errors
/// Where the sizes do not fit.
pub fn linear<T: Element>(
    tape: &Tape<T>,
    x: &Var<T>,
    weight: &Var<T>,
    bias: Option<&Var<T>>,
) -> Result<Var<T>> {
    linear_sum(tape, [(x, weight)], bias, None)
}

/// `f(x · Wᵀ + b)`, see [`linear`]: without a gradient the function is computed where the product lies.
///
/// # Errors
/// Where the sizes do not fit.
pub fn linear_then<T: Element>(
    tape: &Tape<T>,
    x: &Var<T>,
    weight: &Var<T>,
    bias: Option<&Var<T>>,
    function: Function,
) -> Result<Var<T>> {
    let y = linear(tape, x, weight, bias)?;
    if y.has_gradient() {
        return function.apply(tape, &y);
    }
    let mut y = y.into_value();
    super::for_parts_of(tape.threads(), y.values_mut(), |_, part| function.of_slice()(part));
    Ok(Var::constant(y))
}

/// `base + Σ x_i · W_iᵀ + b`, in this order: each `x_i` is `[…, in_i]`, each weight `[out, in_i]`, `base` is `[…, out]`.
///
/// # Errors
/// Where the sizes do not fit, or there is no product.
pub fn linear_sum<'a, T: Element>(
    tape: &Tape<T>,
    terms: impl IntoIterator<Item = (&'a Var<T>, &'a Var<T>), IntoIter: Clone>,
    bias: Option<&Var<T>>,
    base: Option<&Var<T>>,
) -> Result<Var<T>> {
    let terms = terms.into_iter();
    let (x, weight) = terms.clone().next().ok_or(TensorError::Index { op: "linear", index: 0, limit: 0 })?;
    let shape = x.shape().with_last(weight.shape().rows());
    for (x, weight) in terms.clone() {
        let fits = x.shape().last() == weight.shape().last() && x.shape().with_last(shape.last()) == shape;
        if !fits || weight.shape().rows() != shape.last() {
            return Err(TensorError::ShapeMismatch { op: "linear", left: x.shape(), right: weight.shape() });
        }
    }
    for part in bias.iter().map(|bias| bias.shape()).chain(base.iter().map(|base| base.shape())) {
        if part != shape && part.sizes() != [shape.last()] {
            return Err(TensorError::ShapeMismatch { op: "linear", left: shape, right: part });
        }
    }
    let y = Tensor::build(shape, |out| {
        if let Some(base) = base {
            super::for_parts_of(tape.threads(), out, |first, out| {
                out.copy_from_slice(&base.value().values()[first..][..out.len()]);
            });
        }
        for (index, (x, weight)) in terms.clone().enumerate() {
            let bias = bias.filter(|_| index == 0).map(|bias| bias.value().values());
            let accumulate = index > 0 || base.is_some();
            let packed = weight.value().packed(tape.threads(), tape.precision());
            let rows = x.shape().rows();
            packed.multiply(tape.threads(), x.value().values(), rows, out, accumulate, bias);
        }
    });
    let of_terms = terms.clone().flat_map(|(x, weight)| [x, weight]);
    if !tape.needs_gradient_of(of_terms.chain(bias).chain(base)) {
        return Ok(Var::constant(y));
    }
    let terms: List<_> = terms.map(|(x, weight)| (x.clone(), weight.clone())).collect();
    let (bias, base, precision) = (bias.cloned(), base.cloned(), tape.precision());
    let [y] = tape.record([y], move |threads, outputs, gradients| {
        let [Some(dy)] = outputs else { return Ok(()) };
        for (x, weight) in &terms {
            if x.has_gradient() {
                let packed = weight.value().packed_transposed(threads, precision);
                gradients.update(x, |dx, fresh| {
                    packed.multiply(threads, dy.values(), dy.shape().rows(), dx, !fresh, None);
                });
            }
            gradients.add_product(weight, dy, x.value());
        }
        if let Some(bias) = &bias {
            gradients.accumulate(bias, |sum| super::add_column_sums(threads, dy.values(), sum));
        }
        base.as_ref().map_or(Ok(()), |base| gradients.add(base, dy))
    });
    Ok(y)
}
