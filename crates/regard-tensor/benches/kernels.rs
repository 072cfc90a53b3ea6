//! Speed of the kernels that training spends its time in: `cargo bench -p regard-tensor`.

use regard_tensor::{
    Element, Threads,
    kernels::{
        Packed,
        cpu::{self, Isa},
    },
};
use std::hint::black_box;
use std::time::Instant;

/// Seconds of the fastest of several runs.
fn fastest(mut run: impl FnMut()) -> f64 {
    run();
    let start = Instant::now();
    let mut best = f64::INFINITY;
    let mut runs = 0;
    while runs < 3 || (start.elapsed().as_secs_f64() < 0.4 && runs < 2000) {
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

fn main() {
    for count in [1, 2] {
        let threads = Threads::new(count);
        println!("{count} thread(s)");
        for (k, n) in [(512, 2048), (512, 8000)] {
            let w = numbers(n * k);
            let seconds = fastest(|| drop(black_box(Packed::from_transposed(&threads, &w, n, k))));
            println!("  pack transposed      k {k} n {n}: {:7.3} ms", seconds * 1e3);
            let seconds = fastest(|| drop(black_box(Packed::from_rows(&threads, &w, k, n))));
            println!("  pack rows            k {k} n {n}: {:7.3} ms", seconds * 1e3);
            let packed = Packed::from_transposed(&threads, &w, n, k);
            for m in [1, 2, 3, 4, 5, 8, 64, 640, 1280] {
                let (a, mut c) = (numbers(m * k), vec![0.0; m * n]);
                let seconds =
                    fastest(|| cpu::gemm(Isa::detect(), &threads, &a, m, &packed, &mut c, false, None));
                let flops = 2.0 * (m * n * k) as f64 / seconds / 1e9;
                println!(
                    "  gemm     m {m:5} k {k} n {n}: {flops:7.1} GFLOP/s, {:6.1} GB/s of weights",
                    (n * k * 4) as f64 / seconds / 1e9
                );
            }
        }
        for (r, n_out, n_in) in
            [(1280, 2048, 512), (1280, 8000, 512), (64, 2048, 512), (1280, 512, 512), (256, 8000, 512)]
        {
            let (x, dy, mut c) = (numbers(r * n_in), numbers(r * n_out), vec![0.0; n_out * n_in]);
            let seconds =
                fastest(|| cpu::gemm_tn(Isa::detect(), &threads, &[(&dy, &x, r)], n_out, n_in, &mut c, true));
            println!(
                "  gemm_tn  r {r} {n_out}x{n_in}: {:7.1} GFLOP/s",
                2.0 * (r * n_out * n_in) as f64 / seconds / 1e9
            );
        }
    }
    let _ = <f32 as regard_tensor::kernels::Kernels>::sum_slice(&[]);
}
