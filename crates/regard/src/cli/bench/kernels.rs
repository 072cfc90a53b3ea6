//! `regard bench kernels`: what training and translation spend their time in.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use regard_tensor::kernels::cpu::Isa;
use regard_tensor::kernels::{Kernels, Operand};
use regard_tensor::{Precision, Threads};
use serde::Serialize;

use crate::cli::output::{print, print_json};
use crate::cli::settings::Settings;

const DEPTH: usize = 512;
const COLUMNS: usize = 2048;
const ROWS: [usize; 5] = [1, 8, 64, 640, 1280];
const PRECISIONS: [Precision; 3] = [Precision::F32, Precision::Bf16, Precision::Int8];

/// Products \[rows, 512\]·\[512, 2048\] in f32, bf16 and 8 bits and products for gradients of weights, in GFLOP/s (two
/// operations a multiply-add; in 8 bits GOPS); the packing of such a weight, in ms; functions, in values/ns on one
/// thread. Each the fastest run of a quarter of a second, with the instructions that the processor has.
///
/// Example: regard bench kernels --threads 1
#[derive(Args)]
pub(super) struct KernelBench {
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Serialize)]
struct Report {
    /// The instructions that are used.
    instructions: String,
    threads: usize,
    products: Vec<Rate>,
    weight_gradients: Vec<Rate>,
    packing: Vec<Packing>,
    functions: Vec<Function>,
}

#[derive(Serialize)]
struct Rate {
    precision: &'static str,
    rows: usize,
    /// 10⁹ operations a second.
    gflops: f64,
}

#[derive(Serialize)]
struct Packing {
    precision: &'static str,
    ms: f64,
}

#[derive(Serialize)]
struct Function {
    name: &'static str,
    values_per_ns: f64,
}

pub(super) fn run(args: &KernelBench) -> Result<()> {
    let threads = args.settings.threads()?;
    let report = Report {
        instructions: Isa::detect().to_string(),
        threads: threads.count(),
        products: PRECISIONS.into_iter().flat_map(|precision| products(&threads, precision)).collect(),
        weight_gradients: weight_gradients(&threads),
        packing: PRECISIONS.into_iter().map(|precision| packing(&threads, precision)).collect(),
        functions: functions(),
    };
    if args.json { print_json(&report) } else { print(&report.text()) }
}

impl Report {
    fn text(&self) -> String {
        let Self { instructions, threads, .. } = self;
        let mut lines = vec![
            format!("{instructions}, threads: {threads}, GFLOP/s or GOPS"),
            "rows      f32     bf16     int8".to_owned(),
        ];
        let rates = |rates: &[Rate], rows: usize| -> String {
            let rates = rates.iter().filter(|rate| rate.rows == rows);
            rates.fold(String::new(), |line, rate| line + &format!(" {:8.1}", rate.gflops))
        };
        lines.extend(ROWS.map(|rows| format!("{rows:4}{}", rates(&self.products, rows))));
        let rows = ROWS[ROWS.len() - 1];
        lines.push(format!("gradient of the weight over {rows} rows{}", rates(&self.weight_gradients, rows)));
        let packing = self.packing.iter().map(|Packing { precision, ms }| format!("{precision} {ms:.2}"));
        lines.push(format!("packing, ms: {}", packing.collect::<Vec<_>>().join(", ")));
        let functions = self.functions.iter();
        let functions = functions.map(|function| format!("{} {:.2}", function.name, function.values_per_ns));
        lines.push(format!("values/ns: {}", functions.collect::<Vec<_>>().join(", ")));
        lines.join("\n")
    }
}

fn name(precision: Precision) -> &'static str {
    match precision {
        Precision::F32 => "f32",
        Precision::Bf16 => "bf16",
        Precision::Int8 => "int8",
    }
}

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
    let place = |i: usize| (i as u64).wrapping_mul(2_654_435_761) % 1_000_003;
    (0..len).map(|i| place(i) as f32 / 500_001.5 - 1.0).collect()
}

/// 10⁹ operations a second of a product over so many rows.
fn gflops(rows: usize, seconds: f64) -> f64 {
    2.0 * (rows * DEPTH * COLUMNS) as f64 / seconds / 1e9
}

fn products(threads: &Threads, precision: Precision) -> Vec<Rate> {
    let packed = Operand::from_transposed(threads, precision, &numbers(COLUMNS * DEPTH), COLUMNS, DEPTH);
    let rate = |rows: usize| {
        let (a, mut c) = (numbers(rows * DEPTH), vec![0.0; rows * COLUMNS]);
        let seconds = fastest(|| packed.multiply(threads, &a, rows, &mut c, false, None));
        Rate { precision: name(precision), rows, gflops: gflops(rows, seconds) }
    };
    ROWS.map(rate).into()
}

fn weight_gradients(threads: &Threads) -> Vec<Rate> {
    let rows = ROWS[ROWS.len() - 1];
    let (x, dy) = (numbers(rows * DEPTH), numbers(rows * COLUMNS));
    let (segments, mut c) = ([(&dy[..], &x[..], rows)], vec![0.0; COLUMNS * DEPTH]);
    let exact = fastest(|| f32::gemm_tn(threads, &segments, COLUMNS, DEPTH, &mut c, false));
    let narrow = fastest(|| f32::gemm_tn_bf16(threads, &segments, COLUMNS, DEPTH, &mut c, false));
    let rate = |precision, seconds| Rate { precision: name(precision), rows, gflops: gflops(rows, seconds) };
    vec![rate(Precision::F32, exact), rate(Precision::Bf16, narrow)]
}

fn packing(threads: &Threads, precision: Precision) -> Packing {
    let w = numbers(COLUMNS * DEPTH);
    let pack = || drop(black_box(Operand::from_transposed(threads, precision, &w, COLUMNS, DEPTH)));
    Packing { precision: name(precision), ms: fastest(pack) * 1e3 }
}

fn functions() -> Vec<Function> {
    // Reading the clock may take as long as one run. The functions take as long for any value, so each run goes on from
    // the last one's result.
    const REPEATS: usize = 50;
    type OfSlice = fn(&mut [f32]);
    let mut x = numbers(4096);
    let functions: [(&str, OfSlice); 4] = [
        ("exp", f32::exp_slice),
        ("tanh", f32::tanh_slice),
        ("sigmoid", f32::sigmoid_slice),
        ("softmax", f32::softmax_row),
    ];
    let measured = functions.map(|(name, function)| {
        let seconds = fastest(|| (0..REPEATS).for_each(|_| function(black_box(&mut x))));
        Function { name, values_per_ns: (REPEATS * x.len()) as f64 / seconds / 1e9 }
    });
    measured.into()
}
