//! The random numbers of `numpy.random.default_rng(seed)`, so that a seed means the same here as in sacreBLEU.
//!
//! A seed is spread by numpy's `SeedSequence` (O'Neill's `seed_seq_fe128`) over the state of PCG64 (O'Neill 2014,
//! <https://www.pcg-random.org>): a linear congruential generator of 128 bits whose output is folded and rotated (XSL-RR).

const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;

/// numpy's `Generator(PCG64(seed))`.
#[derive(Debug, Clone)]
pub(super) struct NumpyRandom {
    state: u128,
    increment: u128,
    /// The upper half of the last 64 bits, where only the lower one has been used.
    half: Option<u32>,
}

impl NumpyRandom {
    /// `numpy.random.default_rng(seed)`.
    pub(super) fn new(seed: u64) -> Self {
        let [state_high, state_low, stream_high, stream_low] = seed_words(seed);
        let wide = |high: u64, low: u64| u128::from(high) << 64 | u128::from(low);
        let increment = wide(stream_high, stream_low) << 1 | 1;
        let mut random = Self { state: 0, increment, half: None };
        random.step();
        random.state = random.state.wrapping_add(wide(state_high, state_low));
        random.step();
        random
    }

    fn step(&mut self) {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
    }

    fn next_u64(&mut self) -> u64 {
        self.step();
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    /// Half of 64 bits, the lower half first.
    fn next_u32(&mut self) -> u32 {
        if let Some(half) = self.half.take() {
            return half;
        }
        let both = self.next_u64();
        self.half = Some((both >> 32) as u32);
        both as u32
    }

    /// One draw of `Generator.integers(bound)` and `Generator.choice(bound)`, for a bound from 1 to 2³² − 1: Lemire's method
    /// (2019, <https://arxiv.org/abs/1805.10941>). A bound of 1 draws nothing.
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        if bound <= 1 {
            return 0;
        }
        let mut product = u64::from(self.next_u32()) * u64::from(bound);
        if (product as u32) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u32) < threshold {
                product = u64::from(self.next_u32()) * u64::from(bound);
            }
        }
        (product >> 32) as u32
    }

    /// The draws of `Generator.integers(2, dtype=bool)`: 32 of each half, from the lowest bit on. The last half is used up.
    pub(super) fn coins(mut self) -> impl Iterator<Item = bool> {
        std::iter::from_fn(move || Some(self.next_u32()))
            .flat_map(|bits| (0..32).map(move |place| bits >> place & 1 == 1))
    }
}

/// `SeedSequence(seed).generate_state(4, uint64)`.
fn seed_words(seed: u64) -> [u64; 4] {
    let mut hash = Hash { constant: 0x43b0_d7e5, multiplier: 0x931e_8875 };
    let mut pool = [seed as u32, (seed >> 32) as u32, 0, 0].map(|word| hash.next(word));
    for source in 0..pool.len() {
        for target in (0..pool.len()).filter(|&target| target != source) {
            let hashed = hash.next(pool[source]);
            let mixed = 0xca01_f9dd_u32.wrapping_mul(pool[target]);
            let mixed = mixed.wrapping_sub(0x4973_f715_u32.wrapping_mul(hashed));
            pool[target] = mixed ^ mixed >> 16;
        }
    }
    let mut hash = Hash { constant: 0x8b51_f9dd, multiplier: 0x58f3_8ded };
    let mut words = pool.into_iter().cycle();
    std::array::from_fn(|_| {
        let mut half = || hash.next(words.next().unwrap_or(0));
        let low = half();
        u64::from(half()) << 32 | u64::from(low)
    })
}

/// The hash of a seed sequence, whose constant moves on with every word.
struct Hash {
    constant: u32,
    multiplier: u32,
}

impl Hash {
    fn next(&mut self, word: u32) -> u32 {
        let word = word ^ self.constant;
        self.constant = self.constant.wrapping_mul(self.multiplier);
        let word = word.wrapping_mul(self.constant);
        word ^ word >> 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws that numpy 2.4.6 made: `tests/goldens/make_metrics.py`.
    fn golden() -> serde_json::Value {
        serde_json::from_str(include_str!("../../tests/data/numpy_random.json")).unwrap()
    }

    #[test]
    fn equals_numpy() {
        let golden = golden();
        let cases = golden.as_array().unwrap();
        assert!(cases.len() >= 5);
        for case in cases {
            let seed = case["seed"].as_u64().unwrap();
            let numbers = |key: &str| -> Vec<u64> {
                case[key].as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
            };
            let mut random = NumpyRandom::new(seed);
            let words: Vec<u64> = numbers("words").iter().map(|_| random.next_u64()).collect();
            assert_eq!(words, numbers("words"), "seed {seed}");
            for (bound, drawn) in case["below"].as_object().unwrap() {
                let mut random = NumpyRandom::new(seed);
                let bound: u32 = bound.parse().unwrap();
                for expected in drawn.as_array().unwrap() {
                    assert_eq!(u64::from(random.below(bound)), expected.as_u64().unwrap(), "{seed} {bound}");
                }
            }
            let expected: Vec<bool> =
                case["coins"].as_str().unwrap().chars().map(|coin| coin == '1').collect();
            let coins: Vec<bool> = NumpyRandom::new(seed).coins().take(expected.len()).collect();
            assert_eq!(coins, expected, "seed {seed}");
        }
    }

    #[test]
    fn one_possibility_draws_nothing() {
        let mut random = NumpyRandom::new(3);
        assert_eq!(random.below(1), 0);
        assert_eq!(random.next_u64(), NumpyRandom::new(3).next_u64());
    }
}
