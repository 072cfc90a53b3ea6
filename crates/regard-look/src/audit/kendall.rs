//! Agreement of two orders.

/// Kendall's τ-b: (concordant − discordant) / √((pairs − ties of x) (pairs − ties of y)), from −1 to 1; nothing where all values
/// of one side are the same (Kendall 1945).
///
/// ```
/// let tau = regard_look::kendall_tau_b(&[1.0, 2.0, 3.0, 3.0], &[1.0, 3.0, 2.0, 4.0]).unwrap();
/// assert!((tau - 3.0 / 30.0_f64.sqrt()).abs() < 1e-12); // 4 pairs agree, 1 does not, 1 is tied in x: (4 - 1) / √(5 · 6)
/// ```
#[must_use]
pub fn kendall_tau_b(x: &[f64], y: &[f64]) -> Option<f64> {
    let (mut agreement, mut pairs_x, mut pairs_y) = (0_i64, 0_i64, 0_i64);
    for (i, (xi, yi)) in x.iter().zip(y).enumerate() {
        for (xj, yj) in x.iter().zip(y).skip(i + 1) {
            let (a, b) = (sign(xi - xj), sign(yi - yj));
            agreement += a * b;
            pairs_x += a.abs();
            pairs_y += b.abs();
        }
    }
    (pairs_x > 0 && pairs_y > 0).then(|| agreement as f64 / ((pairs_x * pairs_y) as f64).sqrt())
}

fn sign(difference: f64) -> i64 {
    i64::from(difference > 0.0) - i64::from(difference < 0.0)
}
