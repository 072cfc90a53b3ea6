//! The key of everything random in a training step.

use regard_tensor::random::mix;

/// The key of a part of an update: a function of the seed, the update (from 1) and the number of the batch in an
/// accumulated update (from 0) alone, so that neither threads nor a pause change what is drawn.
///
/// ```
/// use regard_train::noise_key;
/// assert_eq!(noise_key(1, 7, 0), noise_key(1, 7, 0));
/// assert_ne!(noise_key(1, 7, 0), noise_key(1, 7, 1));
/// ```
#[must_use]
pub fn noise_key(seed: u64, step: u64, part: u64) -> u64 {
    mix(mix(seed, step), part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_differ() {
        let mut keys: Vec<u64> = (0..10)
            .flat_map(|seed| {
                (0..10).flat_map(move |step| (0..10).map(move |part| noise_key(seed, step, part)))
            })
            .collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 1000);
    }
}
