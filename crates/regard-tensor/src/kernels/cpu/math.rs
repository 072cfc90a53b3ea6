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
        [1.987_569_1e-4, 1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 5.000_000_1e-1],
    );
    (shifted.to_bits().wrapping_sub(ROUND.to_bits()) as i32, fma::<FMA>(p, r * r, r))
}

/// 2ⁿ for −127 < n < 128.
#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) << 23) as u32)
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

/// 1 / (1 + e^−x), to 2e-7.
#[inline(always)]
pub(super) fn sigmoid<const FMA: bool>(x: f32) -> f32 {
    1.0 / (1.0 + exp::<FMA>(-x))
}

/// tanh x, to 2e-7, and to 4e-7 of its size near 0: ±1 at the ends, NaN for NaN.
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

#[cfg(test)]
mod tests {
    use super::{exp, sigmoid, tanh};

    /// Every 97th float between two bounds of one sign, and the bounds' negatives.
    fn floats(most: f32) -> impl Iterator<Item = f32> {
        (0..=most.to_bits()).step_by(97).map(f32::from_bits).flat_map(|x| [x, -x])
    }

    #[test]
    fn exp_is_close_everywhere() {
        for x in floats(104.0) {
            let exact = f64::from(x).exp();
            for y in [exp::<true>(x), exp::<false>(x)] {
                let y = f64::from(y);
                if exact < f64::from(f32::MIN_POSITIVE) {
                    assert!((y - exact).abs() < 2e-45, "{x}: {y} {exact}");
                } else if exact < 3.402_823e38 {
                    assert!(
                        (y - exact).abs() <= 2e-7 * exact,
                        "{x}: {y} {exact} {}",
                        (y - exact).abs() / exact
                    );
                }
            }
        }
        for (x, y) in [
            (0.0, 1.0),
            (-0.0, 1.0),
            (f32::NEG_INFINITY, 0.0),
            (-105.0, 0.0),
            (89.0, f32::INFINITY),
            (f32::INFINITY, f32::INFINITY),
        ] {
            assert_eq!(exp::<true>(x), y);
            assert_eq!(exp::<false>(x), y);
        }
        assert!(exp::<true>(f32::NAN).is_nan() && exp::<false>(f32::NAN).is_nan());
    }

    #[test]
    fn tanh_and_sigmoid_are_close_everywhere() {
        let (mut worst, mut rel, mut ws) = (0.0f64, 0.0f64, 0.0f64);
        for x in floats(110.0) {
            let (t, s) = (f64::from(x).tanh(), 1.0 / (1.0 + (-f64::from(x)).exp()));
            for y in [tanh::<true>(x), tanh::<false>(x)] {
                let e = (f64::from(y) - t).abs();
                worst = worst.max(e);
                if t != 0.0 && x.abs() > 1e-37 {
                    rel = rel.max(e / t.abs());
                }
                assert!(y.abs() <= 1.0, "{x} {y}");
            }
            for y in [sigmoid::<true>(x), sigmoid::<false>(x)] {
                ws = ws.max((f64::from(y) - s).abs());
            }
        }
        println!("{worst:e} {rel:e} {ws:e}");
        assert!(worst < 2e-7 && ws < 2e-7);
    }
}
