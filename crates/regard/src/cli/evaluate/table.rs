//! Reports as text: one line for a system alone, a table for several, and what was asked for beside them.

use std::path::Path;

use anyhow::Result;
use regard_eval::{FrequencyBand, LengthBucket};

use super::report::Report;
use super::{EvaluateArgs, Paired};
use crate::cli::output::Output;

/// A difference with a smaller p-value gets a star.
const SIGNIFICANT: f64 = 0.05;

pub(super) fn show(args: &EvaluateArgs, reports: &[Report]) -> Result<()> {
    let mut output = Output::open(None)?;
    let several = args.hypotheses.len() > 1;
    if several {
        for line in table(args, reports) {
            output.line(&line)?;
        }
    }
    for (place, report) in reports.iter().enumerate() {
        if !several {
            output.line(&score_line(report))?;
        }
        let details = details(report);
        if several && !details.is_empty() {
            let first = place == 0 || reports.get(place - 1).is_some_and(|last| last.system != report.system);
            let heading =
                if first { format!("\n{}: {}", report.system, report.name) } else { report.name.clone() };
            output.line(&heading)?;
        }
        for line in details {
            output.line(&line)?;
        }
    }
    output.finish()
}

/// `BLEU|signature = 75.1 (μ = 75.0 ± 1.2) 90.9/…`.
fn score_line(report: &Report) -> String {
    let score = match &report.bleu {
        Some(bleu) => bleu.verbose.clone(),
        None => format!("{:.1}", report.score),
    };
    let (score, rest) = score.split_once(' ').unwrap_or((&score, ""));
    let interval = report.interval.map(|i| format!(" (μ = {:.1} ± {:.1})", i.mean, i.half_width));
    let line =
        format!("{}|{} = {score}{} {rest}", report.name, report.signature, interval.unwrap_or_default());
    line.trim_end().to_owned()
}

/// Sentence scores, buckets and bands.
fn details(report: &Report) -> Vec<String> {
    let buckets = |buckets: &Option<Vec<LengthBucket>>| -> Vec<String> {
        buckets.iter().flatten().map(|bucket| bucket_line(bucket, &report.name)).collect()
    };
    let mut lines: Vec<String> =
        report.sentences.iter().flatten().map(|score| format!("{score:.2}")).collect();
    lines.extend(buckets(&report.by_length));
    if report.by_target_length.is_some() {
        lines.push("by words of the reference".to_owned());
        lines.extend(buckets(&report.by_target_length));
    }
    lines.extend(report.by_frequency.iter().flatten().map(band_line));
    lines
}

/// One row a system and one column a metric, and below it what the marks mean and the signatures.
fn table(args: &EvaluateArgs, reports: &[Report]) -> Vec<String> {
    let columns = reports.len() / args.hypotheses.len().max(1);
    let rows: Vec<&[Report]> = reports.chunks(columns.max(1)).collect();
    let best: Vec<f64> =
        (0..columns).map(|column| best(rows.iter().filter_map(|row| row.get(column)))).collect();
    let heading = rows.first().copied().unwrap_or_default();
    let names = heading.iter().map(|report| report.name.clone());
    let mut cells: Vec<Vec<String>> = vec![std::iter::once("system".to_owned()).chain(names).collect()];
    for row in &rows {
        let system = row.iter().take(1).map(|report| short(args, &report.system));
        cells.push(system.chain(row.iter().zip(&best).map(|(report, best)| cell(report, *best))).collect());
    }
    let mut lines = aligned(&cells);
    lines.extend(legend(args, heading));
    lines.extend(heading.iter().map(|report| format!("{}|{}", report.name, report.signature)));
    lines
}

/// The name of a system's file, where no other file is called so too.
fn short(args: &EvaluateArgs, system: &str) -> String {
    let name = Path::new(system).file_name();
    let same = args.hypotheses.iter().filter(|path| path.file_name() == name).count();
    let name = name.filter(|_| same == 1).map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| system.to_owned())
}

fn best<'a>(column: impl Iterator<Item = &'a Report>) -> f64 {
    let scores = column.map(|report| (report.higher_is_better, report.score));
    let best = scores.reduce(|a, b| {
        let better = if a.0 { b.1 > a.1 } else { b.1 < a.1 };
        if better { b } else { a }
    });
    best.map_or(0.0, |(_, score)| score)
}

/// `35.1 ± 1.2 best (p = 0.0120)*`.
fn cell(report: &Report, best: f64) -> String {
    let interval = report.interval.map(|interval| format!(" ± {:.1}", interval.half_width));
    let best = if report.score.to_bits() == best.to_bits() { " best" } else { "" };
    let star = |p: f64| if p < SIGNIFICANT { "*" } else { "" };
    let p = report.p_value.map(|p| format!(" (p = {p:.4}){}", star(p)));
    format!("{:.1}{}{best}{}", report.score, interval.unwrap_or_default(), p.unwrap_or_default())
}

fn legend(args: &EvaluateArgs, heading: &[Report]) -> Vec<String> {
    let mut lines = Vec::new();
    if heading.iter().any(|report| report.interval.is_some()) {
        lines.push("±: half of the 95 % interval, from bootstrap samples".to_owned());
    }
    if let (Some(paired), Some(first)) = (args.paired, heading.first()) {
        let test = match paired {
            Paired::Bootstrap => "paired bootstrap",
            Paired::Ar => "paired approximate randomisation",
        };
        lines.push(format!("p: {test} against {}; * below {SIGNIFICANT}", short(args, &first.system)));
    }
    lines
}

/// Pads every column to its widest cell.
fn aligned(cells: &[Vec<String>]) -> Vec<String> {
    let width =
        |column: usize| cells.iter().filter_map(|row| row.get(column)).map(|c| c.chars().count()).max();
    let line = |row: &Vec<String>| {
        let padded = row.iter().enumerate().map(|(column, cell)| {
            let width = width(column).unwrap_or(0);
            format!("{cell:<width$}")
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    cells.iter().map(line).collect()
}

/// A bucket as a line of a table: words, lines, score and its interval.
pub(in crate::cli) fn bucket_line(bucket: &LengthBucket, metric: &str) -> String {
    let score = bucket.score.map_or("-".to_owned(), |score| format!("{score:.1}"));
    let within = within(bucket.low, bucket.high);
    format!("{:>8} words {:>7} lines {score:>7} {metric}{within}", bucket.range(), bucket.lines)
}

fn band_line(band: &FrequencyBand) -> String {
    let range = match band.to {
        Some(to) if to == band.from => to.to_string(),
        Some(to) => format!("{}-{to}", band.from),
        None => format!("{}+", band.from),
    };
    let score = band.score.map_or("-".to_owned(), |score| format!("{score:.1}"));
    let within = within(band.low, band.high);
    format!("{range:>8} times {:>7} words {score:>7} word F1{within}", band.words)
}

fn within(low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!(" (95 %: {low:.1} to {high:.1})"),
        _ => String::new(),
    }
}
