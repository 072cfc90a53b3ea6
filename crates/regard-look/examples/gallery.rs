//! Draws every kind of picture into a directory, to look at: `cargo run -p regard-look --example gallery -- DIR [FONT]`.
//! The font is one that has the Japanese characters which the built-in font lacks.

use regard_decode::{Considered, Fate, SearchStep};
use regard_look::{
    BeamTree, Block, Chart, Colour, Font, Heatmap, HeatmapOptions, Links, Picture, Report, Section, Series,
    ShadedWords, Table, TerminalOptions, Theme, heatmap_terminal,
};
use std::error::Error;
use std::path::{Path, PathBuf};

const BLACK_CAT: &str = "the black cat sleeps on the red chair";
const CHAT_NOIR: &str = "le chat noir dort sur la chaise rouge";
const CROSSING: [usize; 8] = [0, 2, 1, 3, 4, 5, 7, 6];

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1);
    let dir = args.next().map_or_else(|| "gallery".into(), PathBuf::from);
    let font = args.next().map(|path| std::fs::read(path).map(Font::new)).transpose()?.transpose()?;
    std::fs::create_dir_all(&dir)?;
    let gallery = Gallery { dir, font };
    for (name, heatmap) in heatmaps()? {
        let title = Some(format!("{name}: {} → strongest on gold", heatmap.source_tokens().join(" ")));
        let gold = CROSSING.iter().enumerate().map(|(target, source)| (*source, target)).collect();
        gallery.add(name, &heatmap.picture(&HeatmapOptions { title, gold, sums: true }))?;
        let links = Links { title: Some(name.into()), heatmap: heatmap.clone(), threshold: 0.1 };
        gallery.add(&format!("{name}.links"), &links.picture())?;
        for colour in [Colour::Plain, Colour::Ansi] {
            let options = TerminalOptions { width: 60, colour, sums: true };
            write(&gallery.dir, &format!("{name}.{colour:?}.txt"), heatmap_terminal(&heatmap, options))?;
        }
        if name == "8x8" {
            write(&gallery.dir, "report.html", report(heatmap).html())?;
        }
    }
    gallery.add("curve", &curve().picture())?;
    gallery.add("words", &shaded(CHAT_NOIR, 3).picture())?;
    gallery.add("words.hebrew", &shaded("החתול הקטן ישן על הכיסא .", 2).picture())?;
    gallery.add("tree", &tree().picture())
}

struct Gallery {
    dir: PathBuf,
    font: Option<Font>,
}

impl Gallery {
    fn add(&self, name: &str, picture: &Picture) -> Result<(), Box<dyn Error>> {
        write(&self.dir, &format!("{name}.svg"), picture.svg(Theme::Light))?;
        write(&self.dir, &format!("{name}.png"), picture.png(Theme::Light, self.font.as_ref())?)?;
        write(&self.dir, &format!("{name}.dark.png"), picture.png(Theme::Dark, self.font.as_ref())?)
    }
}

fn write(dir: &Path, name: &str, bytes: impl AsRef<[u8]>) -> Result<(), Box<dyn Error>> {
    Ok(std::fs::write(dir.join(name), bytes)?)
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(String::from).collect()
}

fn heatmaps() -> Result<[(&'static str, Heatmap); 6], Box<dyn Error>> {
    let long = |text: &str| words(text).into_iter().cycle().take(60).collect::<Vec<_>>();
    let (source, target) = (long(BLACK_CAT), long(CHAT_NOIR));
    Ok([
        ("3x3", sharp(words("a red chair"), words("une chaise rouge"), &[0, 2, 1])?),
        ("8x8", sharp(words(BLACK_CAT), words(CHAT_NOIR), &CROSSING)?),
        ("20x24", sharp(source[..20].to_vec(), target[..24].to_vec(), &CROSSING)?),
        ("60x60", sharp(source, target, &CROSSING)?),
        (
            "scripts",
            sharp(words("猫 が 椅子 で 眠る ."), words("החתול הקטן ישן על הכיסא ."), &[0, 1, 4, 3, 2, 5])?,
        ),
        (
            "odd",
            sharp(words("<b> & \u{1b}[31m  Donaudampfschifffahrtsgesellschaft"), words("\t un…"), &[0, 1])?,
        ),
    ])
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

/// Words that become less and less sure, three times over.
fn shaded(text: &str, times: usize) -> ShadedWords {
    let words: Vec<String> = words(text).into_iter().cycle().take(times * words(text).len()).collect();
    let log_probs: Vec<f32> = (0..words.len()).map(|place| -0.02 * (place as f32).powf(1.7)).collect();
    ShadedWords::from_log_probs("Probability of each word", &words, &log_probs)
}

/// A beam of three over six steps, made up.
fn tree() -> BeamTree {
    let names = words("le chat noir dort la chatte noire </s>");
    let mut sums = vec![0.0];
    let mut steps = Vec::new();
    for position in 0..6_usize {
        let last = position == 5;
        let mut candidates: Vec<Considered> = Vec::new();
        for (parent, sum) in sums.iter().enumerate() {
            for branch in 0..3_usize {
                let log_prob = -0.15 - 1.1 * branch as f32 - 0.1 * (position * parent % 3) as f32;
                let ends = position >= 4 && branch == 0;
                let token = if ends { 7 } else { (position + 2 * branch) % 7 } as u32;
                let sum = sum + f64::from(log_prob);
                candidates.push(Considered { parent, token, log_prob, sum, fate: Fate::Dropped });
            }
        }
        candidates.sort_by(|one, other| other.sum.total_cmp(&one.sum));
        candidates.truncate(6);
        for candidate in candidates.iter_mut().take(3) {
            candidate.fate = match candidate.token {
                7 => Fate::Ended,
                _ if last => Fate::Cut,
                _ => Fate::Lives,
            };
        }
        let living = candidates.iter().filter(|candidate| candidate.fate == Fate::Lives);
        sums = living.map(|candidate| candidate.sum).collect();
        steps.push(SearchStep { sentence: 0, position, candidates, living: Vec::new() });
    }
    BeamTree::new("A beam of 3", &steps, &[0, 1, 2, 3, 7], |id| names[id as usize].clone())
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
        Block::Picture { picture: tree().picture(), caption: "What the search considered.".into() },
    ];
    Report { title: "Demo".into(), sections: vec![Section { title: "The bottleneck".into(), blocks }] }
}
