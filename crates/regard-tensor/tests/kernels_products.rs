//! The fast matrix products against exact sums in f64, and the promise about their bits.

#![allow(clippy::float_cmp, reason = "equal bits are the point")]

use regard_tensor::Threads;
use regard_tensor::kernels::cpu::{self, Isa};
use regard_tensor::kernels::{Kernels, Packed, reference};

mod kernels;

use kernels::{SIZES, instruction_sets, wide};

/// Numbers between −1 and 1 that look random.
fn numbers(len: usize, seed: u64) -> Vec<f32> {
    kernels::numbers(len, 1.0, seed)
}

/// |found − exact| ≤ 3e-6·√(1 + depth) for sums of products of numbers below 1.
fn assert_close(found: &[f32], exact: &[f64], depth: usize, what: &str) {
    assert_eq!(found.len(), exact.len());
    for (i, (f, e)) in found.iter().zip(exact).enumerate() {
        let error = (f64::from(*f) - e).abs();
        assert!(error <= 3e-6 * (1.0 + depth as f64).sqrt(), "{what}: element {i} is {f}, not {e}");
    }
}

#[test]
fn products_are_exact_to_rounding() {
    let threads = Threads::new(2);
    for isa in instruction_sets() {
        for (m, k, n) in SIZES {
            let (a, b, bias, c0) = (numbers(m * k, 1), numbers(k * n, 2), numbers(n, 3), numbers(m * n, 4));
            let packed = Packed::from_rows(&threads, &b, k, n);
            let exact_packed = Packed::from_rows(&threads, &wide(&b), k, n);
            for (accumulate, bias) in [(false, None), (true, None), (false, Some(&bias)), (true, Some(&bias))]
            {
                let (mut c, mut exact) = (c0.clone(), wide(&c0));
                cpu::gemm(isa, &threads, &a, m, &packed, &mut c, accumulate, bias.map(Vec::as_slice));
                let bias = bias.map(|bias| wide(bias));
                f64::gemm(&threads, &wide(&a), m, &exact_packed, &mut exact, accumulate, bias.as_deref());
                assert_close(&c, &exact, k, &format!("{isa:?} {m}×{k}×{n} {accumulate}"));
            }
        }
    }
}

#[test]
fn a_product_by_hand() {
    let threads = Threads::single();
    let packed = Packed::from_transposed(&threads, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2, 3);
    assert_eq!((packed.k(), packed.n()), (3, 2));
    for isa in instruction_sets() {
        let mut c = [1.0, 1.0];
        cpu::gemm(isa, &threads, &[1.0, 10.0, 100.0], 1, &packed, &mut c, true, Some(&[0.5, 0.25]));
        assert_eq!(c, [322.5, 655.25]);
    }
}

#[test]
fn packing_transposed_equals_packing_the_transpose() {
    for (k, n) in [(1, 1), (7, 5), (16, 16), (19, 37), (263, 131), (257, 16), (0, 3)] {
        for threads in [Threads::single(), Threads::new(3)] {
            let w = numbers(n * k, 5);
            let b: Vec<f32> = (0..k * n).map(|i| w[i % n * k + i / n]).collect();
            let (rows, transposed) =
                (Packed::from_rows(&threads, &b, k, n), Packed::from_transposed(&threads, &w, n, k));
            assert_eq!(rows.panels(), transposed.panels());
            let at = |i: usize, j: usize| rows.panels()[j / 16 * 16 * k + i * 16 + j % 16];
            assert!((0..k * n).all(|e| at(e / n, e % n).to_bits() == b[e].to_bits()));
        }
    }
}

#[test]
fn a_row_has_the_same_bits_alone_and_among_many() {
    let (k, n) = (523, 149);
    let w = numbers(k * n, 6);
    let packed = Packed::from_rows(&Threads::single(), &w, k, n);
    for isa in instruction_sets() {
        let a = numbers(271 * k, 7);
        let mut alone = vec![0.0; 271 * n];
        for (a, c) in a.chunks_exact(k).zip(alone.chunks_exact_mut(n)) {
            cpu::gemm(isa, &Threads::single(), a, 1, &packed, c, false, None);
        }
        for count in [1, 2, 3] {
            for m in [2, 3, 5, 6, 7, 8, 11, 64, 271] {
                let mut c = vec![0.0; m * n];
                cpu::gemm(isa, &Threads::new(count), &a[..m * k], m, &packed, &mut c, false, None);
                assert!(c == alone[..m * n], "{isa:?}, {m} rows, {count} threads");
            }
        }
    }
}

#[test]
fn fused_instruction_sets_have_the_same_bits() {
    let (Some(avx2), Some(avx512)) = (Isa::avx2(), Isa::avx512()) else {
        println!("skipped: no AVX-512 on this machine");
        return;
    };
    let threads = Threads::new(2);
    for (m, k, n) in SIZES {
        let (a, b, c0) = (numbers(m * k, 15), numbers(k * n, 16), numbers(m * n, 17));
        let packed = Packed::from_rows(&threads, &b, k, n);
        let product = |isa| {
            let mut c = c0.clone();
            cpu::gemm(isa, &threads, &a, m, &packed, &mut c, true, None);
            c
        };
        assert!(product(avx2) == product(avx512), "{m}×{k}×{n}");
        let gradient = |isa| {
            let mut c = vec![0.0; k * n];
            let dy = numbers(m * n, 18);
            cpu::gemm_tn(isa, &threads, &[(&a[..], &dy[..], m)], k, n, &mut c, false);
            c
        };
        assert!(gradient(avx2) == gradient(avx512), "gradient {m}×{k}×{n}");
    }
}

#[test]
fn a_column_has_the_same_bits_in_any_matrix() {
    let (m, k, n) = (29, 307, 103);
    let (threads, w, a) = (Threads::new(2), numbers(k * n, 8), numbers(m * k, 9));
    for isa in instruction_sets() {
        let product = |first: usize, last: usize| {
            let packed = Packed::from_transposed(&threads, &w[first * k..last * k], last - first, k);
            let mut c = vec![0.0; m * (last - first)];
            cpu::gemm(isa, &threads, &a, m, &packed, &mut c, false, None);
            c
        };
        let whole = product(0, n);
        for (first, last) in [(0, 1), (5, 24), (37, 103)] {
            for (part, whole) in product(first, last).chunks_exact(last - first).zip(whole.chunks_exact(n)) {
                assert_eq!(part, &whole[first..last]);
            }
        }
    }
}

#[test]
fn weight_gradients_are_exact_to_rounding_and_the_same_for_any_threads_and_segments() {
    for isa in instruction_sets() {
        for (rows, n_out, n_in) in
            [(1, 7, 5), (13, 3, 17), (307, 31, 19), (541, 103, 67), (29, 5, 149), (0, 3, 5)]
        {
            let (dy, x, c0) =
                (numbers(rows * n_out, 10), numbers(rows * n_in, 11), numbers(n_out * n_in, 12));
            let mut exact = wide(&c0);
            reference::gemm_tn(
                &Threads::single(),
                &[(&wide(&dy)[..], &wide(&x)[..], rows)],
                n_out,
                n_in,
                &mut exact,
                true,
            );
            let run = |count: usize, segments: &[(&[f32], &[f32], usize)], accumulate: bool| {
                let mut c = c0.clone();
                cpu::gemm_tn(isa, &Threads::new(count), segments, n_out, n_in, &mut c, accumulate);
                c
            };
            let whole = run(1, &[(&dy, &x, rows)], true);
            assert_close(&whole, &exact, rows, &format!("{isa:?} {rows} rows {n_out}×{n_in}"));
            let (dy, x, cut) = (dy.split_at(rows / 3 * n_out), x.split_at(rows / 3 * n_in), rows / 3);
            let parts = [(dy.0, x.0, cut), (&[][..], &[][..], 0), (dy.1, x.1, rows - cut)];
            for count in [1, 2, 3] {
                assert!(whole == run(count, &parts, true), "{isa:?} {count} threads");
            }
            let mut zero_start = vec![0.0; n_out * n_in];
            cpu::gemm_tn(isa, &Threads::single(), &parts, n_out, n_in, &mut zero_start, true);
            assert_eq!(run(2, &parts, false), zero_start);
        }
    }
}

#[test]
fn the_reference_product_does_not_depend_on_rows_or_threads() {
    let (m, k, n) = (37, 131, 53);
    let (a, w) = (wide(&numbers(m * k, 13)), wide(&numbers(k * n, 14)));
    let product = |threads: &Threads, a: &[f64]| {
        let packed = Packed::from_rows(threads, &w, k, n);
        let mut c = vec![0.0; a.len() / k * n];
        f64::gemm(threads, a, a.len() / k, &packed, &mut c, false, None);
        c
    };
    let whole = product(&Threads::single(), &a);
    assert_eq!(product(&Threads::new(2), &a), whole);
    assert_eq!(product(&Threads::new(2), &a[5 * k..6 * k]), &whole[5 * n..6 * n]);
}
