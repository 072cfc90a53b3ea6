//! Dropout whose mask is a function of a key and an index, not of a stream of random numbers.
//!
//! The mask is computed anew in the backward pass and is the same for any number of threads (Srivastava et al. 2014;
//! a mask that repeats over the time steps is variational dropout, Gal & Ghahramani 2016).

use crate::element::Element;
use crate::{Result, Tape, Tensor, Var};

/// Which elements are dropped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DropoutMask {
    key: u64,
    probability: f64,
    /// How many neighbouring values live or die together: 1, or the width of a row.
    group: usize,
}

impl DropoutMask {
    /// Each element is dropped with `probability` (at least 0, below 1), as `key` decides.
    #[must_use]
    pub fn new(key: u64, probability: f64) -> Self {
        Self { key, probability: probability.clamp(0.0, 0.999), group: 1 }
    }

    /// The same for whole rows of `width` values: word dropout.
    #[must_use]
    pub fn rows(self, width: usize) -> Self {
        Self { group: width.max(1), ..self }
    }

    /// `out = x ∘ mask`, or `out += x ∘ mask`, for the elements from `start` on.
    fn apply<T: Element>(self, start: usize, x: &[T], out: &mut [T], accumulate: bool) {
        let kept = T::from_f64(1.0 / (1.0 - self.probability));
        let threshold = (self.probability * f64::from(u32::MAX)) as u32;
        let (low, high) = (self.key as u32, (self.key >> 32) as u32);
        for (offset, (y, &x)) in out.iter_mut().zip(x).enumerate() {
            let index = if self.group == 1 { start + offset } else { (start + offset) / self.group };
            let factor = if hash(index as u32 ^ low).wrapping_add(high) < threshold { T::ZERO } else { kept };
            *y = if accumulate { *y + x * factor } else { x * factor };
        }
    }
}

/// An invertible mixing of 32 bits without visible bias: xor-shifts and odd multipliers, as in `MurmurHash3`'s finaliser.
fn hash(mut bits: u32) -> u32 {
    bits = (bits ^ (bits >> 16)).wrapping_mul(0x7feb_352d);
    bits = (bits ^ (bits >> 15)).wrapping_mul(0x846c_a68b);
    bits ^ (bits >> 16)
}

/// `x` with the elements of `mask` set to zero and the others scaled so that the expectation stays.
///
/// # Errors
/// None at present; the type is that of every operation.
pub fn dropout<T: Element>(tape: &Tape<T>, x: &Var<T>, mask: DropoutMask) -> Result<Var<T>> {
    if mask.probability == 0.0 {
        return Ok(x.clone());
    }
    let y = Tensor::build(x.shape(), |out| {
        let values = x.value().values();
        super::for_parts_of(tape.threads(), out, |first, out| {
            mask.apply(first, &values[first..first + out.len()], out, false);
        });
    });
    if !tape.needs_gradient(&[x]) {
        return Ok(Var::constant(y));
    }
    let x = x.clone();
    let [y] = tape.record([y], move |threads, outputs, gradients| {
        if let [Some(dy)] = outputs {
            gradients.update(&x, |dx, fresh| {
                super::for_parts_of(threads, dx, |first, dx| {
                    mask.apply(first, &dy.values()[first..first + dx.len()], dx, !fresh);
                });
            });
        }
        Ok(())
    });
    Ok(y)
}
