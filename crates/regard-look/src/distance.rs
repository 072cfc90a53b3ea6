//! How far apart two distributions are.

/// ½ Σ |p - q|: the largest difference of the probability of any event, from 0 to 1.
///
/// ```
/// assert!((regard_look::total_variation(&[0.5, 0.5, 0.0], &[0.25, 0.25, 0.5]) - 0.5).abs() < 1e-12);
/// ```
#[must_use]
pub fn total_variation(p: &[f32], q: &[f32]) -> f64 {
    p.iter().zip(q).map(|(&p, &q)| (f64::from(p) - f64::from(q)).abs()).sum::<f64>() / 2.0
}

/// ½ KL(p ‖ m) + ½ KL(q ‖ m) with m = ½ (p + q), natural logarithm: from 0 to ln 2 (Lin 1991).
///
/// ```
/// let far = regard_look::jensen_shannon(&[1.0, 0.0], &[0.0, 1.0]);
/// assert!((far - std::f64::consts::LN_2).abs() < 1e-12);
/// ```
#[must_use]
pub fn jensen_shannon<T: Copy + Into<f64>>(p: &[T], q: &[T]) -> f64 {
    let term = |p: f64, m: f64| if p > 0.0 { p * (p / m).ln() } else { 0.0 };
    let of_both = |(&p, &q): (&T, &T)| {
        let (p, q): (f64, f64) = (p.into(), q.into());
        let m = f64::midpoint(p, q);
        f64::midpoint(term(p, m), term(q, m))
    };
    p.iter().zip(q).map(of_both).sum::<f64>().max(0.0)
}
