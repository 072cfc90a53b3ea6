//! Products in bf16 and in 8 bits against their plain twins in f64, and the promise about their bits.

#![allow(clippy::float_cmp, reason = "equal bits are the point")]

mod kernels;

use kernels::{SIZES, instruction_sets, wide};
use regard_tensor::kernels::cpu::{self, Isa};
use regard_tensor::kernels::{Kernels, Narrow, Operand, reference};
use regard_tensor::{Element, Precision, Threads};

/// Numbers between −1 and 1 that look random.
fn numbers(len: usize, seed: u64) -> Vec<f32> {
    kernels::numbers(len, 1.0, seed)
}

/// `w` \[n,k\] for products with its transpose.
fn narrow<T: Element>(precision: Precision, w: &[T], n: usize, k: usize) -> Narrow {
    match Operand::from_transposed(&Threads::new(2), precision, w, n, k) {
        Operand::Narrow(narrow) => narrow,
        Operand::Exact(_) => unreachable!("{precision:?} has fewer bits"),
    }
}

/// What the sums of products of rounded numbers below 1 may differ by. Those of bytes are exact before they are scaled.
fn bound(precision: Precision, depth: usize) -> f64 {
    if precision == Precision::Bf16 {
        3e-6 * (1.0 + depth as f64).sqrt()
    } else {
        1e-6 * (1.0 + depth as f64)
    }
}

#[test]
fn products_are_those_of_the_plain_twin() {
    let threads = Threads::new(2);
    for (precision, isa) in [Precision::Bf16, Precision::Int8]
        .into_iter()
        .flat_map(|precision| instruction_sets().into_iter().map(move |isa| (precision, isa)))
    {
        for (m, k, n) in SIZES {
            let (a, w, bias, c0) = (numbers(m * k, 1), numbers(n * k, 2), numbers(n, 3), numbers(m * n, 4));
            let b = narrow(precision, &w, n, k);
            assert_eq!((b.k(), b.n()), (k, n));
            for (accumulate, bias) in [(false, None), (true, None), (false, Some(&bias)), (true, Some(&bias))]
            {
                let (mut c, mut exact) = (c0.clone(), wide(&c0));
                cpu::gemm_narrow(isa, &threads, &a, m, &b, &mut c, accumulate, bias.map(Vec::as_slice));
                let bias = bias.map(|bias| wide(bias));
                reference::gemm_narrow(&threads, &wide(&a), m, &b, &mut exact, accumulate, bias.as_deref());
                for (i, (found, exact)) in c.iter().zip(&exact).enumerate() {
                    let error = (f64::from(*found) - exact).abs();
                    assert!(error <= bound(precision, k), "{isa:?} {m}×{k}×{n} {i}: {found}, not {exact}");
                }
            }
        }
    }
}

#[test]
fn what_rounding_costs() {
    // Of 523 products of numbers between −1 and 1, whose sum is about 7.6: bf16 rounds each to 2⁻⁹ of its size, bytes to 1/254.
    let (m, k, n) = (29, 523, 67);
    let (a, w) = (numbers(m * k, 5), numbers(n * k, 6));
    let product = |precision| {
        let mut c = vec![0.0; m * n];
        let b = Operand::from_transposed(&Threads::single(), precision, &w, n, k);
        b.multiply(&Threads::single(), &a, m, &mut c, false, None);
        c
    };
    let exact = product(Precision::F32);
    for (precision, most) in [(Precision::Bf16, 0.003), (Precision::Int8, 0.01)] {
        let squares = |x: &[f32]| x.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>();
        let difference: Vec<f32> = product(precision).iter().zip(&exact).map(|(a, b)| a - b).collect();
        let relative = (squares(&difference) / squares(&exact)).sqrt();
        assert!(relative > most / 10.0 && relative < most, "{precision:?}: {relative}");
    }
}

#[test]
fn a_row_has_the_same_bits_alone_and_among_many() {
    let (k, n) = (523, 149);
    let (w, a) = (numbers(k * n, 6), numbers(271 * k, 7));
    for precision in [Precision::Bf16, Precision::Int8] {
        let b = narrow(precision, &w, n, k);
        for isa in instruction_sets() {
            let mut alone = vec![0.0; 271 * n];
            for (a, c) in a.chunks_exact(k).zip(alone.chunks_exact_mut(n)) {
                cpu::gemm_narrow(isa, &Threads::single(), a, 1, &b, c, false, None);
            }
            for (count, m) in
                [1, 2, 3].into_iter().flat_map(|count| [2, 3, 5, 6, 11, 64, 271].map(|m| (count, m)))
            {
                let mut c = vec![0.0; m * n];
                cpu::gemm_narrow(isa, &Threads::new(count), &a[..m * k], m, &b, &mut c, false, None);
                assert!(c == alone[..m * n], "{precision:?} {isa:?}, {m} rows, {count} threads");
            }
        }
    }
}

#[test]
fn bytes_have_the_same_bits_with_every_instruction_set_and_do_not_saturate() {
    // The largest sums that there are: every byte is ±127.
    let (m, k, n) = (13, 4099, 37);
    let signs = |seed| numbers(m.max(n) * k, seed).iter().map(|x| x.signum()).collect::<Vec<_>>();
    for (a, w) in [
        (signs(8), signs(9)),
        (vec![1.0; m * k], vec![-1.0; n * k]),
        (numbers(m * k, 10), numbers(n * k, 11)),
    ] {
        let (a, w) = (&a[..m * k], &w[..n * k]);
        let b = narrow(Precision::Int8, w, n, k);
        let product = |isa| {
            let mut c = vec![0.0; m * n];
            cpu::gemm_narrow(isa, &Threads::new(2), a, m, &b, &mut c, false, None);
            c
        };
        let plain = product(Isa::PORTABLE);
        assert!(instruction_sets().into_iter().all(|isa| product(isa) == plain));
        let mut exact = vec![0.0; m * n];
        reference::gemm_narrow(&Threads::single(), &wide(a), m, &b, &mut exact, false, None);
        for (found, exact) in plain.iter().zip(exact) {
            assert!((f64::from(*found) - exact).abs() <= 1e-5 * (1.0 + exact.abs()), "{found}, not {exact}");
        }
    }
}

#[test]
fn weight_gradients_are_those_of_the_plain_twin_for_any_threads_and_segments() {
    for isa in instruction_sets() {
        for (rows, n_out, n_in) in
            [(1, 7, 5), (13, 3, 17), (307, 31, 19), (1543, 103, 67), (29, 5, 149), (0, 3, 5)]
        {
            let (dy, x, c0) =
                (numbers(rows * n_out, 12), numbers(rows * n_in, 13), numbers(n_out * n_in, 14));
            let mut exact = wide(&c0);
            let whole = (&wide(&dy)[..], &wide(&x)[..], rows);
            reference::gemm_tn_bf16(&Threads::single(), &[whole], n_out, n_in, &mut exact, true);
            let run = |count: usize, segments: &[(&[f32], &[f32], usize)], accumulate: bool| {
                let mut c = c0.clone();
                cpu::gemm_tn_bf16(isa, &Threads::new(count), segments, n_out, n_in, &mut c, accumulate);
                c
            };
            let whole = run(1, &[(&dy, &x, rows)], true);
            for (found, exact) in whole.iter().zip(&exact) {
                let error = (f64::from(*found) - exact).abs();
                assert!(error <= bound(Precision::Bf16, rows), "{isa:?} {rows}: {found}, not {exact}");
            }
            let (dy, x, cut) = (dy.split_at(rows / 3 * n_out), x.split_at(rows / 3 * n_in), rows / 3);
            let parts = [(dy.0, x.0, cut), (&[][..], &[][..], 0), (dy.1, x.1, rows - cut)];
            for count in [1, 2, 3] {
                assert!(whole == run(count, &parts, true), "{isa:?} {count} threads");
            }
            let mut zero_start = vec![0.0; n_out * n_in];
            cpu::gemm_tn_bf16(isa, &Threads::single(), &parts, n_out, n_in, &mut zero_start, true);
            assert_eq!(run(2, &parts, false), zero_start);
        }
    }
}

#[test]
fn numbers_become_words_as_in_the_plain_twin() {
    let mut row = numbers(1031, 15);
    let ends =
        [0.0, -0.0, 1.0, f32::MAX, f32::MIN_POSITIVE, 1e-40, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
    // Halfway between two bf16, the lower even and odd; NaN whose upper bits alone would be infinite.
    row.extend(ends.into_iter().chain([0x3F80_8000, 0x3F81_8000, 0x7F80_0001].map(f32::from_bits)));
    let second: Vec<f32> = row.iter().rev().copied().collect();
    for len in [0, 1, 2, 3, 4, 5, 7, 31, 32, 33, row.len()] {
        let (row, second, finite) = (&row[..len], &second[..len], &row[..len.min(1031)]);
        let scale = reference::int8_scale(finite);
        let words = |fill: &dyn Fn(&mut [u32]), count: usize| {
            let mut words = vec![7; count];
            fill(&mut words);
            words
        };
        let (half, quarter) = (len.div_ceil(2), finite.len().div_ceil(4));
        for isa in instruction_sets() {
            let fast = words(&|words| cpu::bf16_words(isa, row, words), half);
            assert_eq!(fast, words(&|words| reference::bf16_words(row, words), half));
            let fast = words(&|words| cpu::bf16_pair_words(isa, row, second, words), len);
            assert_eq!(fast, words(&|words| reference::bf16_pair_words(row, second, words), len));
            assert_eq!(cpu::int8_scale(isa, finite), scale);
            let fast = words(&|words| cpu::int8_words(isa, finite, scale, 0x8080_8080, words), quarter);
            assert_eq!(
                fast,
                words(&|words| reference::int8_words(finite, scale, 0x8080_8080, words), quarter)
            );
        }
    }
}

#[test]
fn words_by_hand() {
    let mut words = [0; 2];
    f32::bf16_words(&[1.0, -2.0, 1.003_906_3], &mut words);
    assert_eq!(words, [0xC000_3F80, 0x3F80]);
    let row = [127.0, -127.0, 0.5, 1.5, 2.5];
    assert_eq!(f32::int8_scale(&row), 1.0);
    f32::int8_words(&row, 1.0, 0, &mut words);
    assert_eq!(words.map(u32::to_le_bytes), [[127, 129, 0, 2], [2, 0, 0, 0]]);
    assert!(f32::int8_scale(&[1.0, f32::NAN, 2.0]).is_nan());
    assert_eq!(f32::int8_scale(&[0.0; 3]), 0.0);
    // Too small to divide by.
    let tiny = [1e-38, -1e-38];
    f32::int8_words(&tiny, f32::int8_scale(&tiny), 0, &mut words[..1]);
    assert_eq!(words[0], 0);
    reference::int8_words(&tiny, f32::int8_scale(&tiny), 0, &mut words[..1]);
    assert_eq!(words[0], 0);
}

#[test]
fn what_is_not_finite_stays_so() {
    for (precision, bad) in
        [Precision::Bf16, Precision::Int8].into_iter().flat_map(|p| [f32::NAN, f32::INFINITY].map(|x| (p, x)))
    {
        let b = narrow(precision, &[1.0; 3 * 5], 3, 5);
        for isa in instruction_sets() {
            let mut c = [0.0; 6];
            cpu::gemm_narrow(
                isa,
                &Threads::single(),
                &[1.0, bad, 0.5, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
                2,
                &b,
                &mut c,
                false,
                None,
            );
            assert!(c[..3].iter().all(|c| !c.is_finite()), "{precision:?} {isa:?} {bad}: {c:?}");
            assert!(c[3..].iter().all(|c| (c - 5.0).abs() < 1e-5), "{precision:?} {isa:?}: {c:?}");
        }
    }
}
