//! Random choices as functions of a key, and the strongest of a row.

use regard_tensor::random;

/// A draw of the normal distribution (Box & Muller 1958).
pub(crate) fn normal(key: u64, index: u64) -> f64 {
    let (first, second) = (random::unit(key, 2 * index), random::unit(key, 2 * index + 1));
    (-2.0 * (1.0 - first).ln()).sqrt() * (std::f64::consts::TAU * second).cos()
}

/// Fisher and Yates's shuffle.
pub(crate) fn shuffle<T>(row: &mut [T], key: u64) {
    for last in (1..row.len()).rev() {
        let other = (random::unit(key, last as u64) * (last + 1) as f64) as usize;
        row.swap(last, other.min(last));
    }
}

/// The first of the strongest.
pub(crate) fn strongest<T: PartialOrd>(row: &[T]) -> usize {
    (1..row.len()).fold(0, |best, place| if row[place] > row[best] { place } else { best })
}
