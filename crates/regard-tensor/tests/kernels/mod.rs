//! What the tests of the kernels share.

use regard_tensor::kernels::cpu::Isa;

/// The instruction sets of this machine, with and without what they have for fewer bits.
pub(crate) fn instruction_sets() -> Vec<Isa> {
    for (name, isa) in [("AVX2", Isa::avx2()), ("AVX-512", Isa::avx512())] {
        if isa.is_none() {
            println!("skipped: no {name} on this machine");
        }
    }
    let plain = Isa::avx512().map(Isa::without_narrow);
    if plain.is_some() && plain == Isa::avx512() {
        println!("skipped: no instructions for bf16 and bytes on this machine");
    }
    [Some(Isa::PORTABLE), Isa::avx2(), plain, Isa::avx512()].into_iter().flatten().collect()
}

/// Numbers between −`most` and `most` that look random.
pub(crate) fn numbers(len: usize, most: f32, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..len).map(|_| most * next()).collect()
}

pub(crate) fn wide(x: &[f32]) -> Vec<f64> {
    x.iter().copied().map(f64::from).collect()
}

/// Rows, depth, columns: distinct primes, whole tiles, one of each, none.
#[allow(dead_code, reason = "not every test file has products")]
pub(crate) const SIZES: [(usize, usize, usize); 16] = [
    (1, 7, 5),
    (2, 13, 3),
    (3, 11, 17),
    (4, 257, 31),
    (5, 19, 67),
    (7, 3, 149),
    (1, 523, 131),
    (2, 263, 71),
    (3, 5, 97),
    (13, 101, 53),
    (67, 599, 37),
    (491, 29, 43),
    (6, 256, 16),
    (12, 512, 64),
    (3, 0, 5),
    (0, 5, 3),
];
