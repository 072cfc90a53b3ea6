//! Speed of the kernels that training spends its time in, on one thread and on all: `cargo bench -p regard-tensor`.

use regard_tensor::Threads;
use regard_tensor::kernels::{Kernels, Packed};
use std::hint::black_box;
use std::time::Instant;

/// Seconds of the fastest of several runs.
fn fastest(mut run: impl FnMut()) -> f64 {
    run();
    let (start, mut runs, mut best) = (Instant::now(), 0, f64::INFINITY);
    while runs < 5 || start.elapsed().as_secs_f64() < 0.25 {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
        runs += 1;
    }
    best
}

/// Numbers between −1 and 1.
fn numbers(len: usize) -> Vec<f32> {
    (0..len).map(|i| ((i * 2_654_435_761) % 1_000_003) as f32 / 500_001.5 - 1.0).collect()
}

fn products(threads: &Threads) {
    let k = 512;
    for n in [2048, 8000] {
        let w = numbers(n * k);
        let packed = Packed::from_transposed(threads, &w, n, k);
        for m in [1, 8, 64, 640, 1280] {
            let (a, mut c) = (numbers(m * k), vec![0.0; m * n]);
            let seconds = fastest(|| f32::gemm(threads, &a, m, &packed, &mut c, false, None));
            let rate = 2.0 * (m * n * k) as f64 / seconds / 1e9;
            println!("  gemm     [{m}, {k}]·[{k}, {n}]: {rate:.1} GFLOP/s");
        }
        let seconds = fastest(|| drop(black_box(Packed::from_transposed(threads, &w, n, k))));
        println!("  pack     [{n}, {k}] transposed: {:.2} ms", seconds * 1e3);
        let seconds = fastest(|| drop(black_box(Packed::from_rows(threads, &w, n, k))));
        println!("  pack     [{n}, {k}] rows: {:.2} ms", seconds * 1e3);
    }
    for (rows, n_out, n_in) in [(1280, 2048, 512), (1280, 512, 512), (256, 8000, 512)] {
        let (x, dy, mut c) = (numbers(rows * n_in), numbers(rows * n_out), vec![0.0; n_out * n_in]);
        let seconds = fastest(|| f32::gemm_tn(threads, &[(&dy, &x, rows)], n_out, n_in, &mut c, false));
        let rate = 2.0 * (rows * n_out * n_in) as f64 / seconds / 1e9;
        println!("  gemm_tn  [{rows}, {n_out}]ᵀ·[{rows}, {n_in}]: {rate:.1} GFLOP/s");
    }
}

fn functions() {
    // Reading the clock may take as long as one run. The functions take as long for any value, so each run goes on from
    // the last one's result.
    const REPEATS: usize = 50;
    type Function = fn(&mut [f32]);
    let mut x = numbers(4096);
    let functions: [(&str, Function); 4] = [
        ("exp", f32::exp_slice),
        ("tanh", f32::tanh_slice),
        ("sigmoid", f32::sigmoid_slice),
        ("softmax", f32::softmax_row),
    ];
    for (name, function) in functions {
        let seconds = fastest(|| {
            for _ in 0..REPEATS {
                function(black_box(&mut x));
            }
        });
        println!("  {name:8} {:.2} values/ns", (REPEATS * x.len()) as f64 / seconds / 1e9);
    }
}

fn main() {
    for threads in [Threads::single(), Threads::all()] {
        println!("{} thread(s)", threads.count());
        products(&threads);
    }
    functions();
}
