//! Numbers of fewer bits, several to a word of 32, and back.

/// See [`Kernels::bf16_words`](crate::kernels::Kernels::bf16_words).
#[inline(always)]
pub(super) fn bf16_words<const FMA: bool>(row: &[f32], words: &mut [u32]) {
    let (pairs, rest) = row.as_chunks::<2>();
    for (word, &[first, second]) in words.iter_mut().zip(pairs) {
        *word = bf16(first) | bf16(second) << 16;
    }
    if let (&[x], Some(word)) = (rest, words.last_mut()) {
        *word = bf16(x);
    }
}

/// See [`Kernels::bf16_pair_words`](crate::kernels::Kernels::bf16_pair_words).
#[inline(always)]
pub(super) fn bf16_pair_words<const FMA: bool>(first: &[f32], second: &[f32], words: &mut [u32]) {
    for ((word, &first), &second) in words.iter_mut().zip(first).zip(second) {
        *word = bf16(first) | bf16(second) << 16;
    }
}

/// See [`Kernels::int8_scale`](crate::kernels::Kernels::int8_scale).
#[inline(always)]
pub(super) fn int8_scale<const FMA: bool>(row: &[f32]) -> f32 {
    // Sizes of floats are in the order of their bits, with NaN above all.
    let most = row.iter().fold(0, |most, x| (x.to_bits() & 0x7FFF_FFFF).max(most));
    f32::from_bits(most) / 127.0
}

/// See [`Kernels::int8_words`](crate::kernels::Kernels::int8_words).
#[inline(always)]
pub(super) fn int8_words<const FMA: bool>(row: &[f32], scale: f32, flip: u32, words: &mut [u32]) {
    let inverse = if scale >= f32::MIN_POSITIVE { 1.0 / scale } else { 0.0 };
    let word = |four: &[f32; 4]| {
        let [a, b, c, d] = four.map(|x| int8(x * inverse));
        (a | b << 8 | c << 16 | d << 24) ^ flip
    };
    let (fours, rest) = row.as_chunks::<4>();
    for (to, four) in words.iter_mut().zip(fours) {
        *to = word(four);
    }
    if let (false, Some(to)) = (rest.is_empty(), words.last_mut()) {
        let mut four = [0.0; 4];
        four[..rest.len()].copy_from_slice(rest);
        *to = word(&four);
    }
}

/// The upper half of the bits of a number, rounded to nearest, ties to even.
#[inline(always)]
fn bf16(x: f32) -> u32 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7FFF + (bits >> 16 & 1)) >> 16;
    if x.is_nan() { bits >> 16 | 0x40 } else { rounded }
}

/// The nearest integer of −127 to 127, ties to even, in the low 8 bits.
#[inline(always)]
fn int8(x: f32) -> u32 {
    // 1.5·2²³: adding it leaves the nearest integer in the low bits.
    (x + 12_582_912.0).to_bits() & 0xFF
}
