//! `regard curve`: BLEU by sentence length of several systems, as one picture.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use regard_eval::{BleuOptions, BleuTokenizer, LengthBucket, LengthBuckets, bleu_by_length};
use regard_look::{Chart, Series};
use serde::Serialize;

use super::evaluate::{bucket_line, check_counts};
use super::input::{all_lines, paired_lines};
use super::output::{Output, print_json, write};
use super::settings::Settings;

/// BLEU by the number of source words, for several systems in one picture.
///
/// Intervals are of 95 %, from bootstrap samples.
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
    /// How lines become tokens: 13a, none (at spaces), intl, char or zh
    #[arg(long, default_value = "13a", value_name = "NAME")]
    tokenize: BleuTokenizer,
    /// Write the data as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
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
    let options = BleuOptions { tokenizer: args.tokenize, ..BleuOptions::default() };
    let (sources, reference) = paired_lines(&args.src, &args.reference)?;
    let curve = |path: &PathBuf| -> Result<Curve> {
        let hypotheses = all_lines(path)?;
        check_counts(path, hypotheses.len(), &args.reference, reference.len())?;
        let by_length =
            bleu_by_length(&sources, &hypotheses, &[&reference], &LengthBuckets::default(), &options)?;
        Ok(Curve { system: name(args, path), signature: options.signature(1), by_length })
    };
    let curves = args.hypotheses.iter().map(curve).collect::<Result<Vec<_>>>()?;
    let chart = chart(&curves);
    if let Some(path) = &args.csv {
        write(path, csv(&curves).as_bytes())?;
    }
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
            output.line(&bucket_line(bucket, "BLEU"))?;
        }
    }
    output.finish()
}

/// The file's name without its ending, where no other system is called so too.
fn name(args: &CurveArgs, path: &Path) -> String {
    let same = args.hypotheses.iter().filter(|other| other.file_stem() == path.file_stem()).count();
    let stem = path.file_stem().filter(|_| same == 1).map(|stem| stem.to_string_lossy().into_owned());
    stem.unwrap_or_else(|| path.display().to_string())
}

/// One row a system and bucket; what is not known is empty.
fn csv(curves: &[Curve]) -> String {
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let rows = curves.iter().flat_map(|curve| {
        let system = format!("\"{}\"", curve.system.replace('"', "\"\""));
        curve.by_length.iter().map(move |LengthBucket { from, to, lines, score, low, high }| {
            let to = to.map(|to| to.to_string()).unwrap_or_default();
            let numbers = [*score, *low, *high].map(number).join(",");
            format!("{system},{from},{to},{lines},{numbers}\n")
        })
    });
    std::iter::once("system,from,to,lines,bleu,low,high\n".to_owned()).chain(rows).collect()
}

/// The picture: buckets that have lines, one curve a system.
fn chart(curves: &[Curve]) -> Chart {
    let buckets = curves.first().map(|curve| curve.by_length.as_slice()).unwrap_or_default();
    let used: Vec<usize> = (0..buckets.len()).filter(|&bucket| buckets[bucket].lines > 0).collect();
    let series = |curve: &Curve| Series {
        name: curve.system.clone(),
        scores: used.iter().map(|&bucket| curve.by_length[bucket].score).collect(),
        bands: used
            .iter()
            .map(|&bucket| curve.by_length[bucket].low.zip(curve.by_length[bucket].high))
            .collect(),
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
