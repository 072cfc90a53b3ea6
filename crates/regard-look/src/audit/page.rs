//! An audit as a page.

use super::{Audit, Measure, StepRecord};
use crate::heatmap::Heatmap;
use crate::picture::HeatmapOptions;
use crate::report::{Block, Report, Section, Table};

/// Pictures of so many steps.
const PICTURES: usize = 6;

impl Audit {
    /// The table, the verdict and pictures of some steps.
    #[must_use]
    pub fn report(&self) -> Report {
        let verdict = [Block::Paragraph(self.verdict.clone())];
        let limits = self.limits.iter().cloned().map(Block::Paragraph);
        let section = |title: &str, blocks: Vec<Block>| Section { title: title.to_owned(), blocks };
        Report {
            title: format!("Audit of {}", self.model),
            sections: vec![
                section("Verdict", verdict.into_iter().collect()),
                section("Measures", vec![self.table(), Block::Paragraph(self.settings_line())]),
                section("Steps", self.records.steps.iter().take(PICTURES).filter_map(picture).collect()),
                section("Limits", limits.collect()),
            ],
        }
    }

    fn table(&self) -> Block {
        let header =
            ["measure", "of", "value", "95 % interval", "baseline", "steps"].map(str::to_owned).to_vec();
        let rows = self.tests.iter().map(row).collect();
        let caption =
            "Each mean is over steps; the baseline is explained with each measure in the JSON document"
                .to_owned();
        Block::Table(Table { caption, header, rows })
    }

    fn settings_line(&self) -> String {
        format!(
            "{} sentences, {} steps, seed {}. Attention: {}. Content words: {}. Intervals: {}. Adversary, {} steps, {} updates at a rate of {}: {}.",
            self.sentences,
            self.steps,
            self.settings.options.seed,
            self.settings.site,
            self.settings.content_words,
            self.settings.intervals,
            self.settings.options.adversary_steps,
            self.settings.options.adversary_updates,
            self.settings.options.adversary_rate,
            self.settings.adversary
        )
    }
}

fn number(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), |value| format!("{value:.3}"))
}

fn row(measure: &Measure) -> Vec<String> {
    let interval = match (measure.low, measure.high) {
        (Some(low), Some(high)) => format!("{low:.3} to {high:.3}"),
        _ => "–".to_owned(),
    };
    vec![
        measure.name.clone(),
        measure.site.clone(),
        number(measure.value),
        interval,
        number(measure.baseline),
        measure.steps.to_string(),
    ]
}

/// The attention of a step above what other measures say, each row as shares of its sum.
fn picture(step: &StepRecord) -> Option<Block> {
    let shares = |values: &[f64]| -> Vec<f32> {
        let sum = values.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        values.iter().map(|value| (value / sum) as f32).collect()
    };
    let mut names = vec!["attention".to_owned()];
    let mut rows = vec![shares(&step.attention)];
    for rival in &step.rivals {
        names.push(format!("attention: {}", rival.kind.name()));
        rows.push(shares(&rival.attention));
    }
    for named in &step.attributions {
        names.push(named.method.clone());
        rows.push(shares(&named.values));
    }
    let heatmap = Heatmap::new(step.source.clone(), names, rows).ok()?;
    let caption = format!(
        "\"{}\", token {} of sentence {}: p {:.3}, strongest column masked: total variation {:.3}",
        step.token, step.step, step.sentence, step.probability, step.tvd.without_strongest
    );
    Some(Block::Heatmap { heatmap, options: HeatmapOptions::default(), caption })
}
