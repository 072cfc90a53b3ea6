//! Speed of the kernels that training spends its time in, on one thread and on all: `cargo bench -p regard-tensor`.

use regard_tensor::kernels::{Kernels, Operand, Packed};
use regard_tensor::{Precision, Threads};
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

/// The rate of a product or gradient of so many multiply-adds.
fn show(name: &str, multiply_adds: usize, seconds: f64) {
    println!("  {name}: {:.1} GFLOP/s", 2.0 * multiply_adds as f64 / seconds / 1e9);
}

fn products(threads: &Threads, precision: Precision) {
    let k = 512;
    for n in [2048, 8000] {
        let w = numbers(n * k);
        let packed = Operand::from_transposed(threads, precision, &w, n, k);
        for m in [1, 8, 64, 640, 1280] {
            let (a, mut c) = (numbers(m * k), vec![0.0; m * n]);
            let seconds = fastest(|| packed.multiply(threads, &a, m, &mut c, false, None));
            show(&format!("{precision:?} [{m}, {k}]·[{k}, {n}]"), m * n * k, seconds);
        }
    }
}

fn packing(threads: &Threads) {
    let (n, k) = (8000, 512);
    let w = numbers(n * k);
    for precision in [Precision::F32, Precision::Bf16, Precision::Int8] {
        let seconds = fastest(|| drop(black_box(Operand::from_transposed(threads, precision, &w, n, k))));
        println!("  {precision:?} pack [{n}, {k}] transposed: {:.2} ms", seconds * 1e3);
    }
    let seconds = fastest(|| drop(black_box(Packed::from_rows(threads, &w, n, k))));
    println!("  F32 pack [{n}, {k}] rows: {:.2} ms", seconds * 1e3);
}

fn gradients(threads: &Threads) {
    for (rows, n_out, n_in) in [(1280, 2048, 512), (1280, 512, 512), (256, 8000, 512)] {
        let (x, dy, mut c) = (numbers(rows * n_in), numbers(rows * n_out), vec![0.0; n_out * n_in]);
        let segments = [(&dy[..], &x[..], rows)];
        let sizes = format!("[{rows}, {n_out}]ᵀ·[{rows}, {n_in}]");
        let seconds = fastest(|| f32::gemm_tn(threads, &segments, n_out, n_in, &mut c, false));
        show(&format!("F32 {sizes}"), rows * n_out * n_in, seconds);
        let seconds = fastest(|| f32::gemm_tn_bf16(threads, &segments, n_out, n_in, &mut c, false));
        show(&format!("Bf16 {sizes}"), rows * n_out * n_in, seconds);
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
        for precision in [Precision::F32, Precision::Bf16, Precision::Int8] {
            products(&threads, precision);
        }
        packing(&threads);
        gradients(&threads);
    }
    functions();
}
