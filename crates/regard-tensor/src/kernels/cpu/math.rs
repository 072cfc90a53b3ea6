//! exp, tanh and the logistic function of one number, without branches, so that loops over them become vector code.
//!
//! A vector loop and its scalar rest do the same operations in the same order, so a value does not depend on where in
//! a slice it stands. `FMA` says whether the code is compiled for fused multiply-add.

/// a·b + c.
#[inline(always)]
pub(super) fn fma<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// A polynomial by Horner's rule, highest power first.
#[inline(always)]
fn polynomial<const FMA: bool, const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
    let mut sum = coefficients[0];
    for &c in &coefficients[1..] {
        sum = fma::<FMA>(sum, x, c);
    }
    sum
}

/// x = n·ln 2 + r with |r| ≤ ln 2 / 2, for |x| < 2²¹: n and e^r − 1. ln 2 is taken in two parts (Cody & Waite), e^r by
/// the polynomial of Cephes' `expf`.
#[inline(always)]
fn split<const FMA: bool>(x: f32) -> (i32, f32) {
    // 1.5·2²³: adding it leaves the nearest integer in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let shifted = fma::<FMA>(x, std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = fma::<FMA>(n, -0.693_359_4, x);
    let r = fma::<FMA>(n, 2.121_944_4e-4, r);
    let p = polynomial::<FMA, 6>(
        r,
        [1.987_569_1e-4, 1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5],
    );
    (shifted.to_bits().wrapping_sub(ROUND.to_bits()).cast_signed(), fma::<FMA>(p, r * r, r))
}

/// 2ⁿ for −127 < n < 128.
#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) << 23).cast_unsigned())
}

/// e^x to 2e-7 of its size: 1 at 0, +∞ above 88.8, 0 below −104, NaN for NaN.
#[inline(always)]
pub(super) fn exp<const FMA: bool>(x: f32) -> f32 {
    let x = if x > 89.0 { 89.0 } else { x };
    let x = if x < -104.0 { -104.0 } else { x };
    let (n, e) = split::<FMA>(x);
    // 2ⁿ in two factors, as n may be 128, or too small for one.
    let half = n >> 1;
    (e + 1.0) * power_of_two(half) * power_of_two(n.wrapping_sub(half))
}

/// 1 / (1 + e^−x), to 2e-7 of its size: 0 (below −88.8) and 1 at the ends, NaN for NaN.
#[inline(always)]
pub(super) fn sigmoid<const FMA: bool>(x: f32) -> f32 {
    1.0 / (1.0 + exp::<FMA>(-x))
}

/// tanh x, to 2e-7 of its size: ±1 at the ends, NaN for NaN.
///
/// With e = e^2|x| − 1 it is e / (e + 2); nothing cancels near 0.
#[inline(always)]
pub(super) fn tanh<const FMA: bool>(x: f32) -> f32 {
    let twice = 2.0 * x.abs();
    let (n, e) = split::<FMA>(if twice > 20.0 { 20.0 } else { twice });
    let power = power_of_two(n);
    let e = fma::<FMA>(e, power, power - 1.0);
    (e / (e + 2.0)).copysign(x)
}

/// Φ(x) to 2e-7 and φ(x): the normal distribution function and its density. Φ by Abramowitz & Stegun 7.1.26.
#[inline(always)]
pub(super) fn normal<const FMA: bool>(x: f32) -> (f32, f32) {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let falls = exp::<FMA>(-z * z);
    let t = 1.0 / fma::<FMA>(0.327_591_1, z, 1.0);
    let p = polynomial::<FMA, 5>(t, [1.061_405_4, -1.453_152, 1.421_413_7, -0.284_496_74, 0.254_829_6]);
    let outside = 0.5 * p * t * falls;
    let below = if x < 0.0 { outside } else { 1.0 - outside };
    (below, falls * 0.398_942_3)
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "the ends are exact")]
mod tests {
    use super::{exp, sigmoid, tanh};

    /// Every 997th float between two bounds of one sign, and the bounds' negatives.
    fn floats(most: f32) -> impl Iterator<Item = f32> {
        (0..=most.to_bits()).step_by(997).map(f32::from_bits).flat_map(|x| [x, -x])
    }

    #[test]
    fn exp_is_close_everywhere() {
        for x in floats(104.0) {
            let exact = f64::from(x).exp();
            for y in [exp::<true>(x), exp::<false>(x)] {
                let error = (f64::from(y) - exact).abs();
                if exact < f64::from(f32::MIN_POSITIVE) {
                    assert!(error < 2e-45, "e^{x}: {y}, not {exact}");
                } else if exact < f64::from(f32::MAX) {
                    assert!(error <= 2e-7 * exact, "e^{x}: {y}, not {exact}");
                }
            }
        }
    }

    #[test]
    fn tanh_and_sigmoid_are_close_everywhere() {
        for x in floats(110.0) {
            let (t, s) = (f64::from(x).tanh(), 1.0 / (1.0 + (-f64::from(x)).exp()));
            for y in [tanh::<true>(x), tanh::<false>(x)] {
                let error = (f64::from(y) - t).abs();
                assert!(error <= 2e-7 * t.abs() + 2e-45 && y.abs() <= 1.0, "tanh {x}: {y}, not {t}");
            }
            for y in [sigmoid::<true>(x), sigmoid::<false>(x)] {
                assert!((f64::from(y) - s).abs() <= 2e-7 * s + 3e-39, "sigmoid {x}: {y}, not {s}");
            }
        }
    }

    #[test]
    fn the_ends_are_exact() {
        const INF: f32 = f32::INFINITY;
        for (x, y) in [(0.0, 1.0), (-0.0, 1.0), (-INF, 0.0), (-105.0, 0.0), (89.0, INF), (INF, INF)] {
            assert!(exp::<true>(x) == y && exp::<false>(x) == y);
        }
        for (x, y) in [(0.0_f32, 0.0_f32), (-0.0, -0.0), (-INF, -1.0), (-50.0, -1.0), (INF, 1.0)] {
            assert!(tanh::<true>(x).to_bits() == y.to_bits() && tanh::<false>(x).to_bits() == y.to_bits());
        }
        for (x, y) in [(0.0, 0.5), (-INF, 0.0), (INF, 1.0)] {
            assert!(sigmoid::<true>(x) == y && sigmoid::<false>(x) == y);
        }
        for f in [exp::<true>, exp::<false>, tanh::<true>, tanh::<false>, sigmoid::<true>, sigmoid::<false>] {
            assert!(f(f32::NAN).is_nan());
        }
    }
}
