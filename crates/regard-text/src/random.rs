//! The generator behind shuffles and samples: `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014), eight lines and the same for ever.

pub(crate) struct SplitMix64(u64);

impl SplitMix64 {
    /// The stream of a seed and a number below it (an epoch).
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let start = Self(seed).next();
        Self(start ^ Self(!stream).next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to below 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Fisher–Yates. A draw below n is the high half of draw × n; its bias, n / 2^64, is beyond measuring.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let draw = (u128::from(self.next()) * (last as u128 + 1)) >> 64;
            items.swap(last, draw as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_numbers() {
        // The first draws of the reference implementation for seed 1234567.
        let mut random = SplitMix64(1_234_567);
        let draws: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(draws, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn a_shuffle_is_fair() {
        let mut random = SplitMix64::new(5, 0);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            let mut items = [0, 1, 2];
            random.shuffle(&mut items);
            *seen.entry(items).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|n| (850..1150).contains(n)), "{seen:?}");
    }
}
