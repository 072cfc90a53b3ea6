//! Cross-entropy between given links and attention weights: guided alignment (Chen et al. 2016).

use crate::element::Element;
use crate::error::TensorError;
use crate::{List, Result, Tape, Tensor, Var};

/// What is added to a weight before its logarithm is taken, so that a weight of zero costs a finite number (Marian's).
const EPSILON: f64 = 1e-6;

/// A link that weights should follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The row of the weights: the target token.
    pub row: usize,
    /// The position in it: the source token.
    pub position: usize,
    /// The link's share of its row.
    pub share: f64,
}

/// `-factor · Σ share · ln(w[row, position] + 10⁻⁶)` over all links, summed in their order: `weights` is
/// `[…, rows, positions]`.
///
/// # Errors
/// Where a link is outside of the weights.
pub fn link_cross_entropy<T: Element>(
    tape: &Tape<T>,
    weights: &Var<T>,
    links: &[Link],
    factor: f64,
) -> Result<Var<T>> {
    let (rows, width) = (weights.shape().rows(), weights.shape().last());
    let outside = |index, limit| TensorError::Index { op: "link_cross_entropy", index, limit };
    for link in links {
        if link.row >= rows {
            return Err(outside(link.row, rows));
        }
        if link.position >= width {
            return Err(outside(link.position, width));
        }
    }
    let place = move |link: &Link| link.row * width + link.position;
    let values = weights.value().values();
    let sum = |sum: f64, link: &Link| sum + link.share * (values[place(link)].to_f64() + EPSILON).ln();
    let loss = Tensor::scalar(T::from_f64(-factor * links.iter().fold(0.0, sum)));
    if !tape.needs_gradient(&[weights]) {
        return Ok(Var::constant(loss));
    }
    let (weights, links) = (weights.clone(), List::from(links));
    let [loss] = tape.record([loss], move |_, outputs, gradients| {
        let [Some(upstream)] = outputs else { return Ok(()) };
        let factor = factor * upstream.item().to_f64();
        gradients.accumulate(&weights, |dw| {
            for link in &links {
                let weight = weights.value().values()[place(link)].to_f64();
                let slope = T::from_f64(-factor * link.share / (weight + EPSILON));
                dw[place(link)] = dw[place(link)] + slope;
            }
        });
        Ok(())
    });
    Ok(loss)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Threads;

    #[test]
    fn by_hand_and_outside() {
        let tape = Tape::<f64>::new(&Threads::single());
        let weights = tape.leaf(Tensor::new([2, 3], vec![0.5, 0.25, 0.25, 0.0, 1.0, 0.0]).unwrap());
        let link = |row, position, share| Link { row, position, share };
        let links = [link(0, 1, 0.5), link(0, 2, 0.5), link(1, 0, 1.0)];
        let loss = link_cross_entropy(&tape, &weights, &links, 2.0).unwrap();
        let expected = -2.0 * ((0.25 + 1e-6_f64).ln() + 1e-6_f64.ln());
        assert!((loss.value().item() - expected).abs() < 1e-12);
        let gradients = tape.backward(&loss).unwrap();
        let gradient = gradients.get(&weights).unwrap();
        let found = gradient.values();
        let half = -1.0 / (0.25 + 1e-6);
        let expected = [0.0, half, half, -2.0 / 1e-6, 0.0, 0.0];
        assert!(
            found.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-8 * y.abs().max(1.0)),
            "{found:?}"
        );

        let tape = Tape::<f64>::inference(&Threads::single());
        for outside in [link(2, 0, 1.0), link(0, 3, 1.0)] {
            let error = link_cross_entropy(&tape, &weights, &[outside], 1.0).unwrap_err();
            assert!(error.to_string().contains("link_cross_entropy"), "{error}");
        }
    }
}
