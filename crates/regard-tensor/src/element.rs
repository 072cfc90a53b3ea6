//! The numbers that tensors are made of: `f32` for work, `f64` for finite differences.

use crate::kernels::Kernels;
use crate::pool::{FreeLists, Pooled};
use std::fmt::Display;
use std::iter::Sum;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// What tensors are made of: a number with its [`Kernels`].
///
/// ```
/// use regard_tensor::Element;
/// fn mean<T: Element>(x: &[T]) -> T { x.iter().copied().sum::<T>() / T::from_f64(x.len() as f64) }
/// assert_eq!(mean(&[1.0_f32, 2.0]), 1.5);
/// ```
pub trait Element: Number + Kernels {}

impl<T: Number + Kernels> Element for T {}

/// A floating-point number with its arithmetic and functions. (Without `AddAssign` and its kin: their methods have the
/// names of kernels.)
pub trait Number:
    Pooled
    + Display
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Sum
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The distance from 1 to the next larger number.
    const EPSILON: Self;
    /// Positive infinity.
    const INFINITY: Self;
    /// Negative infinity.
    const NEG_INFINITY: Self;

    /// The nearest number of this type.
    fn from_f64(x: f64) -> Self;
    /// The same number as an `f64`.
    fn to_f64(self) -> f64;
    /// e to this power.
    #[must_use]
    fn exp(self) -> Self;
    /// The natural logarithm.
    #[must_use]
    fn ln(self) -> Self;
    /// The hyperbolic tangent.
    #[must_use]
    fn tanh(self) -> Self;
    /// The square root.
    #[must_use]
    fn sqrt(self) -> Self;
    /// The absolute value.
    #[must_use]
    fn abs(self) -> Self;
    /// The smaller number; the other one if one is NaN.
    #[must_use]
    fn min(self, other: Self) -> Self;
    /// The larger number; the other one if one is NaN.
    #[must_use]
    fn max(self, other: Self) -> Self;
    /// Whether it is neither infinite nor NaN.
    fn is_finite(self) -> bool;
    /// The logistic function 1 / (1 + e^−x).
    #[must_use]
    fn sigmoid(self) -> Self {
        Self::ONE / (Self::ONE + (-self).exp())
    }
}

/// Gives a type its free buffers.
macro_rules! pooled {
    ($t:ty) => {
        impl Pooled for $t {
            fn free_lists() -> &'static FreeLists<Self> {
                static LISTS: FreeLists<$t> = FreeLists::new();
                &LISTS
            }
        }
    };
}

macro_rules! element {
    ($t:ty, $to_f64:expr) => {
        impl Number for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const EPSILON: Self = <$t>::EPSILON;
            const INFINITY: Self = <$t>::INFINITY;
            const NEG_INFINITY: Self = <$t>::NEG_INFINITY;

            #[inline]
            fn from_f64(x: f64) -> Self {
                x as $t
            }
            #[inline]
            fn to_f64(self) -> f64 {
                $to_f64(self)
            }
            #[inline]
            fn exp(self) -> Self {
                <$t>::exp(self)
            }
            #[inline]
            fn ln(self) -> Self {
                <$t>::ln(self)
            }
            #[inline]
            fn tanh(self) -> Self {
                <$t>::tanh(self)
            }
            #[inline]
            fn sqrt(self) -> Self {
                <$t>::sqrt(self)
            }
            #[inline]
            fn abs(self) -> Self {
                <$t>::abs(self)
            }
            #[inline]
            fn min(self, other: Self) -> Self {
                <$t>::min(self, other)
            }
            #[inline]
            fn max(self, other: Self) -> Self {
                <$t>::max(self, other)
            }
            #[inline]
            fn is_finite(self) -> bool {
                <$t>::is_finite(self)
            }
        }
        pooled!($t);
    };
}

pooled!(u32);
element!(f32, f64::from);
element!(f64, std::convert::identity);
