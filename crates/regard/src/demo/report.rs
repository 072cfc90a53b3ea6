//! The page that the demonstration leaves.

use regard_look::{Block, Chart, Heatmap, HeatmapOptions, Report, Section, Series, Table};

use super::alignment::ContentHits;
use super::contestants::Kind;
use super::grammar;
use super::measure::Measured;

/// What was learned, as a page that needs nothing beside it.
#[must_use]
pub fn report(models: &[Measured], heatmap: &Heatmap, hits: ContentHits) -> Report {
    let gold = grammar::the_black_cat().links;
    let look = vec![
        Block::Paragraph(
            "One row for each French word that the attention model wrote, one column for each English word that it read. \
             A row sums to 1. Outlined cells are the words that really belong together."
                .to_owned(),
        ),
        Block::Heatmap {
            heatmap: heatmap.clone(),
            options: HeatmapOptions { gold, ..HeatmapOptions::default() },
            caption: "The crossings are the adjectives, which stand after the noun in French.".to_owned(),
        },
        Block::Paragraph(format!(
            "Over all test sentences, {} of {} content words ({:.1} %) look hardest at the word that they translate.",
            hits.hits,
            hits.words,
            100.0 * hits.share()
        )),
    ];
    let bottleneck = vec![
        Block::Paragraph(
            "All models have about the same size and the same training. One must put the whole sentence into one vector; \
             another keeps a state for each word and looks at all of them again at every step; the Transformer does \
             nothing but look. The vector does not grow with the sentence."
                .to_owned(),
        ),
        Block::Chart { chart: chart(models), caption: "BLEU, cut at spaces, by the number of source words.".to_owned() },
        Block::Table(table(models)),
    ];
    Report {
        title: "One vector, or a look at every word".to_owned(),
        sections: vec![
            Section { title: "The bottleneck".to_owned(), blocks: bottleneck },
            Section { title: "Where the model looks".to_owned(), blocks: look },
        ],
    }
}

fn chart(models: &[Measured]) -> Chart {
    let buckets = models.first().map(|model| model.by_length.as_slice()).unwrap_or_default();
    Chart {
        title: "BLEU by sentence length".to_owned(),
        x_label: "source words".to_owned(),
        y_label: "BLEU".to_owned(),
        buckets: buckets.iter().map(regard_eval::LengthBucket::range).collect(),
        counts: buckets.iter().map(|bucket| bucket.lines).collect(),
        series: models
            .iter()
            .map(|model| Series {
                name: words(model.kind).to_owned(),
                scores: model.by_length.iter().map(|bucket| bucket.score).collect(),
                bands: model.by_length.iter().map(|bucket| bucket.low.zip(bucket.high)).collect(),
            })
            .collect(),
    }
}

fn table(models: &[Measured]) -> Table {
    let buckets = models.first().map(|model| model.by_length.as_slice()).unwrap_or_default();
    let header = ["model", "weights", "training, s"].map(str::to_owned).into_iter();
    let row = |model: &Measured| {
        let facts =
            [words(model.kind).to_owned(), model.parameters.to_string(), format!("{:.0}", model.seconds)];
        let scores =
            model.by_length.iter().map(|b| b.score.map_or("–".to_owned(), |score| format!("{score:.1}")));
        facts.into_iter().chain(scores).collect()
    };
    Table {
        caption: "BLEU by the number of source words.".to_owned(),
        header: header.chain(buckets.iter().map(regard_eval::LengthBucket::range)).collect(),
        rows: models.iter().map(row).collect(),
    }
}

fn words(kind: Kind) -> &'static str {
    match kind {
        Kind::FixedVector => "fixed vector",
        Kind::Attention => "attention",
        Kind::Transformer => "Transformer",
    }
}
