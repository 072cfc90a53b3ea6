//! Numbers that look random and are functions of a key and a counter.

/// 64 well-mixed bits from a key and a counter: the finaliser of `SplitMix64` (Steele et al. 2014), twice.
///
/// ```
/// use regard_tensor::random;
/// assert_eq!(random::mix(1, 2), random::mix(1, 2));
/// assert_ne!(random::mix(1, 2), random::mix(2, 1));
/// ```
#[must_use]
pub fn mix(key: u64, counter: u64) -> u64 {
    let mut bits = key ^ counter.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for _ in 0..2 {
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
    }
    bits
}

/// A number in [0, 1) from a key and a counter.
///
/// ```
/// let x = regard_tensor::random::unit(7, 0);
/// assert!((0.0..1.0).contains(&x));
/// ```
#[must_use]
pub fn unit(key: u64, counter: u64) -> f64 {
    (mix(key, counter) >> 11) as f64 / (1_u64 << 53) as f64
}
