//! `regard bench`: how fast this machine computes, trains and translates.

mod kernels;
mod train;
mod translate;

use anyhow::Result;
use clap::{Args, Subcommand};

/// How fast this machine computes, trains and translates: each the median or the best of several runs.
///
/// Example: regard bench train --shape a
#[derive(Args)]
pub(super) struct BenchArgs {
    #[command(subcommand)]
    work: Work,
}

#[derive(Subcommand)]
enum Work {
    Kernels(kernels::KernelBench),
    Train(train::TrainBench),
    Translate(translate::TranslateBench),
}

pub(super) fn run(args: &BenchArgs) -> Result<()> {
    match &args.work {
        Work::Kernels(args) => kernels::run(args),
        Work::Train(args) => train::run(args),
        Work::Translate(args) => translate::run(args),
    }
}

/// The largest resident memory of this process so far, in MiB; 0 where the system does not say.
fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}

/// The middle one of some times or rates, the upper one of two; 0 of none.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
