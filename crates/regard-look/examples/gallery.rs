//! Draws every kind of picture into a directory, to look at: `cargo run -p regard-look --example gallery -- DIR`.

use regard_look::{
    Block, Chart, Colour, Heatmap, HeatmapOptions, Report, Section, Series, Table, heatmap_png, heatmap_svg,
    heatmap_terminal,
};
use std::error::Error;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let dir = std::env::args_os().nth(1).map_or_else(|| "gallery".into(), PathBuf::from);
    std::fs::create_dir_all(&dir)?;
    let black_cat = "the black cat sleeps on the red chair";
    let chat_noir = "le chat noir dort sur la chaise rouge";
    let long: Vec<String> =
        (0..60).map(|i| black_cat.split(' ').nth(i % 8).unwrap_or_default().into()).collect();
    let long_target: Vec<String> =
        (0..60).map(|i| chat_noir.split(' ').nth(i % 8).unwrap_or_default().into()).collect();
    let crossing: Vec<usize> = vec![0, 2, 1, 3, 4, 5, 7, 6];
    let pictures = [
        ("3x3", sharp(words("a red chair"), words("une chaise rouge"), &[0, 2, 1])?),
        ("8x8", sharp(words(black_cat), words(chat_noir), &crossing)?),
        ("20x24", sharp(long[..20].to_vec(), long_target[..24].to_vec(), &crossing)?),
        ("60x60", sharp(long, long_target, &crossing)?),
        (
            "scripts",
            sharp(words("猫 が 椅子 で 眠る ."), words("החתול הקטן ישן על הכיסא ."), &[0, 1, 4, 3, 2, 5])?,
        ),
        (
            "odd",
            sharp(words("<b> & \u{1b}[31m  Donaudampfschifffahrtsgesellschaft"), words("\t un…"), &[0, 1])?,
        ),
    ];
    for (name, heatmap) in &pictures {
        let title = Some(format!("{name}: {} → {}", heatmap.source_tokens().join(" "), "strongest on gold"));
        let gold = crossing.iter().enumerate().map(|(target, source)| (*source, target)).collect();
        let options = HeatmapOptions { title, gold };
        write(&dir, &format!("{name}.svg"), heatmap_svg(heatmap, &options))?;
        write(&dir, &format!("{name}.png"), heatmap_png(heatmap, &options)?)?;
        for colour in [Colour::Plain, Colour::Ansi] {
            write(&dir, &format!("{name}.{colour:?}.txt"), heatmap_terminal(heatmap, 60, colour))?;
        }
    }
    write(&dir, "curve.svg", curve().svg())?;
    write(&dir, "curve.png", curve().png()?)?;
    let [_, (_, heatmap), ..] = pictures;
    write(&dir, "report.html", report(heatmap).html())
}

fn write(dir: &Path, name: &str, bytes: impl AsRef<[u8]>) -> Result<(), Box<dyn Error>> {
    Ok(std::fs::write(dir.join(name), bytes)?)
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(String::from).collect()
}

/// Rows that look at the position that `order` names, the more softly the further down.
fn sharp(source: Vec<String>, target: Vec<String>, order: &[usize]) -> Result<Heatmap, Box<dyn Error>> {
    let period = order.len();
    let scores: Vec<Vec<f32>> = (0..target.len())
        .map(|row| {
            let top = row / period * period + order[row % period];
            let score = |column: usize| -1.3 * column.abs_diff(top) as f32 / (1.0 + row as f32 / 16.0);
            (0..source.len()).map(score).collect()
        })
        .collect();
    Ok(Heatmap::from_scores(source, target, &scores, 1.0)?)
}

fn curve() -> Chart {
    let buckets = ["3–5", "6–10", "11–20", "21–30", "31–40", "41–60"].map(String::from).to_vec();
    let series = [
        ("attention", [99.0, 99.4, 98.1, 97.0, 95.2, 93.8]),
        ("fixed vector, source reversed", [100.0, 98.0, 48.0, 23.0, 19.0, 15.0]),
        ("fixed vector", [94.0, 84.0, 36.0, 20.0, 15.5, 11.0]),
    ];
    let series = series.map(|(name, scores)| Series {
        name: name.into(),
        scores: scores.map(Some).to_vec(),
        bands: Vec::new(),
    });
    Chart {
        title: "BLEU by source length".into(),
        x_label: "source length (words)".into(),
        y_label: "BLEU".into(),
        buckets,
        counts: vec![160, 160, 160, 160, 160, 160],
        series: series.to_vec(),
    }
}

fn report(heatmap: Heatmap) -> Report {
    let table = Table {
        caption: "BLEU|tok:none".into(),
        header: words("words fixed attention"),
        rows: vec![words("3–5 100.0 99.0"), words("41–60 15.0 93.8")],
    };
    let options = HeatmapOptions::default();
    let blocks = vec![
        Block::Paragraph("Two models of equal size, trained for the same number of updates.".into()),
        Block::Table(table),
        Block::Chart {
            chart: curve(),
            caption: "Scores fall with length unless the model can look back.".into(),
        },
        Block::Heatmap { heatmap, options, caption: "Where the attention model looks.".into() },
    ];
    Report { title: "Demo".into(), sections: vec![Section { title: "The bottleneck".into(), blocks }] }
}
