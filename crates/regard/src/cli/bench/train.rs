//! `regard bench train`: the trainer's own step.

use std::time::Instant;

use anyhow::Result;
use clap::{Args, ValueEnum};
use regard_model::{
    AttentionConfig, Bidirectional, CellKind, ContextKind, ContextLayers, DecoderConfig, EncoderConfig,
    InitialState, ModelConfig, NormPosition, Query, Readout, ReadoutState, RecurrentConfig, Score,
    StackConfig, TiedEmbeddings, TransformerConfig,
};
use regard_tensor::random;
use regard_text::{Batch, Padded};
use regard_train::{Trainer, TrainingConfig, TrainingPrecision};
use serde::Serialize;

use super::{median, peak_mib};
use crate::cli::output::{print, print_json};
use crate::cli::settings::Settings;

const VOCABULARY: usize = 8000;
const BATCH: usize = 64;
/// Tokens of each sentence, the end symbol included.
const LENGTH: usize = 20;
const WARM_UP: usize = 3;

/// The training step: forward, backward, clipping, Adam, on random ids.
///
/// Example: regard bench train --shape a
#[derive(Args)]
pub(super) struct TrainBench {
    /// a: embedding 256, bidirectional LSTM 2 × 256, LSTM 512 with input feeding, general attention, 8,000 words;
    /// b: a Transformer of 3 + 3 layers, width 512, feed-forward 2048, 8 heads, 8,000 words
    #[arg(long, value_enum, default_value = "a")]
    shape: Shape,
    /// Products with weights in bf16
    #[arg(long)]
    bf16: bool,
    /// Steps that are measured
    #[arg(long, default_value_t = 12, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    steps: u16,
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Clone, Copy, ValueEnum)]
enum Shape {
    A,
    B,
}

#[derive(Serialize)]
struct Report {
    step_ms: f64,
    target_tokens_per_s: f64,
    parameters: usize,
    peak_mib: f64,
    threads: usize,
}

pub(super) fn run(args: &TrainBench) -> Result<()> {
    let threads = args.settings.threads()?;
    let (name, config) = match args.shape {
        Shape::A => ("a", ModelConfig::Recurrent(shape_a())),
        Shape::B => ("b", ModelConfig::Transformer(shape_b())),
    };
    let model = config.build(VOCABULARY, VOCABULARY, 1)?;
    let parameters = model.parameters().count();
    let precision = if args.bf16 { TrainingPrecision::Bf16 } else { TrainingPrecision::F32 };
    let training = TrainingConfig {
        updates: Some(u64::MAX),
        label_smoothing: 0.0,
        precision,
        ..TrainingConfig::default()
    };
    let mut trainer = Trainer::new(model, training, 1, &threads)?;
    let batch = Batch { source: random_rows(1), target: random_rows(2), indices: (0..BATCH).collect() };
    let batches = [batch];
    let mut times = Vec::with_capacity(usize::from(args.steps));
    for step in 0..WARM_UP + usize::from(args.steps) {
        let start = Instant::now();
        trainer.update(&batches)?;
        if step >= WARM_UP {
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    let step_ms = median(times);
    let report = Report {
        step_ms,
        target_tokens_per_s: (BATCH * LENGTH) as f64 / step_ms * 1e3,
        parameters,
        peak_mib: peak_mib(),
        threads: threads.count(),
    };
    if args.json {
        return print_json(&report);
    }
    print(&format!(
        "shape {name}, {}, {} threads: step {:.0} ms (median of {}), {:.0} target tokens/s, {:.1} M parameters, peak {:.0} MiB",
        if args.bf16 { "bf16" } else { "f32" },
        report.threads,
        report.step_ms,
        args.steps,
        report.target_tokens_per_s,
        parameters as f64 / 1e6,
        report.peak_mib
    ))
}

/// The model of shape a.
fn shape_a() -> RecurrentConfig {
    let base = RecurrentConfig::luong();
    RecurrentConfig {
        cell: CellKind::Lstm,
        embedding: 256,
        encoder: EncoderConfig {
            layers: 1,
            hidden: 256,
            bidirectional: Bidirectional::All,
            reverse_source: false,
        },
        decoder: DecoderConfig {
            layers: 1,
            hidden: 512,
            initial_state: InitialState::Last,
            input_feeding: true,
            context_layers: ContextLayers::First,
            readout: Readout::Attentional,
            readout_state: ReadoutState::Current,
            readout_width: 512,
        },
        context: ContextKind::Attention,
        attention: AttentionConfig { score: Score::General, query: Query::Current, ..base.attention },
        dropout: 0.2,
        ..base
    }
}

/// The model of shape b.
fn shape_b() -> TransformerConfig {
    let stack = StackConfig { layers: 3, heads: 8 };
    TransformerConfig {
        tied_embeddings: TiedEmbeddings::None,
        norm_position: NormPosition::Pre,
        encoder: stack,
        decoder: stack,
        feed_forward_dropout: 0.1,
        ..TransformerConfig::base()
    }
}

fn random_rows(key: u64) -> Padded {
    let id = |place: usize| (random::mix(key, place as u64) % (VOCABULARY as u64 - 4)) as u32 + 4;
    let rows: Vec<Vec<u32>> =
        (0..BATCH).map(|row| (0..LENGTH).map(|column| id(row * LENGTH + column)).collect()).collect();
    Padded::from_rows(&rows)
}
