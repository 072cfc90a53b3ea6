//! Random choices that are the same on every machine and in every release.

/// `SplitMix64` (Steele, Lea and Flood 2014).
pub(super) struct Random(u64);

impl Random {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

    /// A generator of its own for each pair of `seed` and `index`.
    pub(super) fn new(seed: u64, index: u64) -> Self {
        let stream = Self(seed).next_u64();
        Self(Self(stream ^ index).next_u64())
    }

    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(Self::STEP);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from `low` to `high`, both included; `low` ≤ `high`.
    pub(super) fn between(&mut self, low: usize, high: usize) -> usize {
        let choices = (high - low) as u128 + 1;
        // The high half of a 64 × 64 bit product: below `choices`, and even to one part in 2^64 / choices.
        low + ((u128::from(self.next_u64()) * choices) >> 64) as usize
    }

    pub(super) fn coin(&mut self) -> bool {
        self.between(0, 1) == 1
    }

    /// One of `items`, which is one of the lexicon's tables and never empty.
    pub(super) fn choose<T>(&mut self, items: &'static [T]) -> &'static T {
        &items[self.between(0, items.len() - 1)]
    }
}
