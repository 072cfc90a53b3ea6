//! What BLEU does with precisions of zero.

use crate::error::EvalError;
use crate::real::Real;
use std::fmt;

/// Smoothing of BLEU's precisions (Chen & Cherry 2014, <https://aclanthology.org/W14-3346>).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Smoothing {
    /// None: one precision of zero makes BLEU zero.
    None,
    /// Method 1: this value stands for a match count of zero.
    Floor(f64),
    /// Method 2: this value is added to both counts of every order above 1.
    AddK(f64),
    /// Method 3, NIST's: the k-th precision of zero is 100 / (2^k · total).
    #[default]
    Exp,
}

impl Smoothing {
    /// A method by its name `none`, `floor`, `add-k` or `exp`; `value` for `floor` (0.1 where none is given) and
    /// `add-k` (1).
    ///
    /// # Errors
    /// For other names, a value that the method does not take, and one that is negative or not finite.
    pub fn new(name: &str, value: Option<f64>) -> Result<Self, EvalError> {
        match (name, value) {
            ("floor" | "add-k", Some(bad)) if !(bad.is_finite() && bad >= 0.0) => {
                Err(EvalError::SmoothingValue(bad))
            }
            ("floor", value) => Ok(Self::Floor(value.unwrap_or(0.1))),
            ("add-k", value) => Ok(Self::AddK(value.unwrap_or(1.0))),
            ("none", None) => Ok(Self::None),
            ("exp", None) => Ok(Self::Exp),
            ("none" | "exp", Some(_)) => Err(EvalError::NoSmoothingValue(name.to_owned())),
            _ => Err(EvalError::UnknownSmoothing(name.to_owned())),
        }
    }

    /// The precisions in percent from the counts of each order, and the number of orders that the output is long
    /// enough for. Precisions of longer orders are 0.
    pub(crate) fn precisions<R: Real, const N: usize>(
        self,
        correct: &[R; N],
        total: &[R; N],
    ) -> ([R; N], usize) {
        let real = R::from_f64;
        let mut precisions = [real(0.0); N];
        let (mut halvings, mut orders) = (1.0, 0);
        for (n, precision) in precisions.iter_mut().enumerate() {
            let (mut correct, mut total) = (correct[n], total[n]);
            if let (Self::AddK(k), 1..) = (self, n) {
                (correct, total) = (correct + real(k), total + real(k));
            }
            if total == real(0.0) {
                break;
            }
            orders = n + 1;
            *precision = if correct > real(0.0) {
                real(100.0) * correct / total
            } else {
                match self {
                    Self::Exp => {
                        halvings *= 2.0;
                        real(100.0) / (real(halvings) * total)
                    }
                    Self::Floor(value) => real(100.0 * value) / total,
                    Self::None | Self::AddK(_) => real(0.0),
                }
            };
        }
        (precisions, orders)
    }
}

impl fmt::Display for Smoothing {
    /// As in signatures: `exp`, `floor[0.10]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Floor(value) => write!(f, "floor[{value:.2}]"),
            Self::AddK(value) => write!(f, "add-k[{value:.2}]"),
            Self::Exp => f.write_str("exp"),
        }
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "equal to the bit")]
mod tests {
    use super::*;

    #[test]
    fn names_and_values() {
        let written = |name, value| Smoothing::new(name, value).unwrap().to_string();
        assert_eq!(written("floor", None), "floor[0.10]");
        assert_eq!(written("add-k", Some(0.5)), "add-k[0.50]");
        assert_eq!(written("none", None), "none");
        assert_eq!(written("exp", None), "exp");
        assert_eq!(Smoothing::new("exp", Some(1.0)), Err(EvalError::NoSmoothingValue("exp".into())));
        assert_eq!(Smoothing::new("floor", Some(-1.0)), Err(EvalError::SmoothingValue(-1.0)));
        assert_eq!(Smoothing::new("laplace", None), Err(EvalError::UnknownSmoothing("laplace".into())));
    }

    #[test]
    fn each_method() {
        let (correct, total) = ([3.0, 1.0, 0.0, 0.0], [5.0, 4.0, 3.0, 2.0]);
        let precisions = |smoothing: Smoothing| smoothing.precisions(&correct, &total).0;
        assert_eq!(precisions(Smoothing::None), [60.0, 25.0, 0.0, 0.0]);
        assert_eq!(precisions(Smoothing::Floor(0.1)), [60.0, 25.0, 10.0 / 3.0, 5.0]);
        assert_eq!(precisions(Smoothing::AddK(1.0)), [60.0, 40.0, 25.0, 100.0 / 3.0]);
        assert_eq!(precisions(Smoothing::Exp), [60.0, 25.0, 100.0 / 6.0, 12.5]);
    }

    #[test]
    fn orders_the_output_is_too_short_for() {
        let orders = |smoothing: Smoothing| smoothing.precisions(&[2.0, 1.0, 0.0], &[2.0, 1.0, 0.0]).1;
        assert_eq!(orders(Smoothing::Exp), 2);
        assert_eq!(orders(Smoothing::AddK(1.0)), 3);
    }
}
