//! `regard curve`: BLEU by sentence length of several systems, as one picture.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use regard_eval::{BleuOptions, LengthBucket, LengthBuckets, bleu_by_length};
use regard_look::{Chart, Series};
use serde::Serialize;

use super::evaluate::{Tokenize, bucket_line};
use super::input::{all_lines, paired_lines};
use super::output::{Output, print_json, write};
use super::settings::Settings;

/// BLEU by the number of source words, for several systems in one picture.
///
/// Example: regard curve attention.fr fixed.fr --ref test.fr --src test.en --svg curve.svg
#[derive(Args)]
pub(super) struct CurveArgs {
    /// Translations, one file a system; the file's name is the system's
    #[arg(required = true)]
    hypotheses: Vec<PathBuf>,
    /// The reference
    #[arg(long = "ref", value_name = "FILE")]
    reference: PathBuf,
    /// Source lines
    #[arg(long, value_name = "FILE")]
    src: PathBuf,
    /// How lines become tokens: as mteval-v13a does, or at spaces
    #[arg(long, value_enum, default_value = "13a")]
    tokenize: Tokenize,
    /// Write the picture as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write the picture as PNG
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Serialize)]
struct Curve {
    system: String,
    signature: String,
    by_length: Vec<LengthBucket>,
}

pub(super) fn run(args: &CurveArgs) -> Result<()> {
    let options = BleuOptions { tokenizer: args.tokenize.tokenizer(), ..BleuOptions::default() };
    let sources = all_lines(&args.src)?;
    let curve = |path: &PathBuf| -> Result<Curve> {
        let (hypotheses, reference) = paired_lines(path, &args.reference)?;
        let by_length =
            bleu_by_length(&sources, &hypotheses, &[reference], &LengthBuckets::default(), &options)?;
        let system = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Curve { system, signature: options.signature(1), by_length })
    };
    let curves = args.hypotheses.iter().map(curve).collect::<Result<Vec<_>>>()?;
    let chart = chart(&curves);
    if let Some(path) = &args.svg {
        write(path, chart.svg().as_bytes())?;
    }
    if let Some(path) = &args.png {
        write(path, &chart.png()?)?;
    }
    if args.json {
        return print_json(&curves);
    }
    let mut output = Output::open(None)?;
    for curve in &curves {
        output.line(&format!("{}  BLEU|{}", curve.system, curve.signature))?;
        for bucket in &curve.by_length {
            output.line(&bucket_line(bucket))?;
        }
    }
    output.finish()
}

/// The picture: buckets that have lines, one curve a system.
fn chart(curves: &[Curve]) -> Chart {
    let buckets = curves.first().map(|curve| curve.by_length.as_slice()).unwrap_or_default();
    let used: Vec<usize> = (0..buckets.len()).filter(|&bucket| buckets[bucket].lines > 0).collect();
    let series = |curve: &Curve| Series {
        name: curve.system.clone(),
        scores: used.iter().map(|&bucket| curve.by_length[bucket].score).collect(),
    };
    Chart {
        title: "BLEU by sentence length".to_owned(),
        x_label: "source words".to_owned(),
        y_label: "BLEU".to_owned(),
        buckets: used.iter().map(|&bucket| buckets[bucket].range()).collect(),
        counts: used.iter().map(|&bucket| buckets[bucket].lines).collect(),
        series: curves.iter().map(series).collect(),
    }
}
