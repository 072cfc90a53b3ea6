//! The heatmap in a terminal: coloured cells, or a ramp of characters where there are no colours.
//!
//! A line is `target word, cells, strongest source word and its weight`. Where the cells of all columns do not fit into
//! the width, the matrix is cut into bands of columns, one below the other.

use super::colour::{Paint, Rgb, Theme};
use crate::heatmap::{Coverage, Heatmap};
use crate::label::{char_columns, columns, ellipsise_columns, runs_left, visible};
use std::borrow::Cow;
use std::ops::Range;

/// How cells are shown in a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// Characters from ` ` to `@`; nothing but text.
    Plain,
    /// 24-bit background colours (ANSI escapes).
    Ansi,
}

/// How a heatmap is written in a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalOptions {
    /// Lines have at most so many columns (at least 24 are used).
    pub width: usize,
    /// How cells are shown.
    pub colour: Colour,
    /// A row of column sums below the cells, and the source words that were skipped or repeated by name.
    pub sums: bool,
}

/// From a weight of 0 to 1, rounded to ninths: what is below 0.056 leaves its cell empty.
const RAMP: [char; 10] = [' ', '.', ':', '-', '=', '+', '*', '#', '%', '@'];
/// The label of the row of sums.
const SUM: &str = "sum";
/// Narrower than this nothing is readable.
const NARROWEST: usize = 24;
/// A column label that is written downwards has at most this many characters.
const TALLEST_LABEL: usize = 12;

/// The heatmap as lines of text.
///
/// Wide characters count as two columns. In [`Colour::Plain`] the output holds no escape sequence; in neither does a
/// token bring one in.
#[must_use]
pub fn heatmap_terminal(heatmap: &Heatmap, options: TerminalOptions) -> String {
    let width = options.width.max(NARROWEST);
    let layout = Layout::new(heatmap, width, options);
    let mut lines = Vec::new();
    let bands = layout.bands();
    for band in &bands {
        if bands.len() > 1 {
            let of = layout.columns.len();
            lines.push(format!("source {}–{} of {of}", band.start + 1, band.end));
        }
        lines.extend(layout.head(band));
        lines.extend((0..layout.rows.len()).map(|row| layout.row(row, band)));
        if options.sums {
            lines.push(layout.sums(band));
        }
    }
    lines.push(layout.legend());
    if options.sums {
        lines.extend(layout.flagged(width));
    }
    lines.iter().flat_map(|line| [line.trim_end(), "\n"]).collect()
}

struct Layout<'a> {
    heatmap: &'a Heatmap,
    colour: Colour,
    rows: Vec<String>,
    columns: Vec<String>,
    strongest: Vec<String>,
    row_width: usize,
    /// Columns of the terminal per cell, with the gap after it.
    cell: usize,
    /// Whether column labels fit across their cells; otherwise they are written downwards.
    across: bool,
    /// Source words that fit beside each other.
    per_band: usize,
}

impl<'a> Layout<'a> {
    fn new(heatmap: &'a Heatmap, width: usize, options: TerminalOptions) -> Self {
        let colour = options.colour;
        let label = |token: &String| ellipsise_columns(&visible(token), (width / 4).min(20));
        let rows: Vec<String> = heatmap.target_tokens().iter().map(label).collect();
        let columns: Vec<String> = heatmap.source_tokens().iter().map(label).collect();
        let strongest = strongest(heatmap, (width / 4).min(16));
        let row_width = widest(&rows).max(if options.sums { SUM.len() } else { 0 });
        let room = width.saturating_sub(row_width + widest(&strongest) + 3).max(2);

        let (across_cell, most) = match colour {
            Colour::Plain => ((widest(&columns) + 1).max(4), 3),
            Colour::Ansi => ((widest(&columns) + 1).max(6), 4),
        };
        let across = columns.len() * across_cell <= room;
        let cell = if across {
            across_cell
        } else {
            let widest_char = columns.iter().flat_map(|c| c.chars()).map(char_columns).max().unwrap_or(1);
            (room / columns.len().max(1)).clamp(widest_char.max(1), most)
        };
        let per_band = (room / cell).max(1);
        Self { heatmap, colour, rows, columns, strongest, row_width, cell, across, per_band }
    }

    /// Ranges of columns of nearly the same size.
    fn bands(&self) -> Vec<Range<usize>> {
        let all = self.columns.len();
        let count = all.div_ceil(self.per_band).max(1);
        let each = all.div_ceil(count);
        (0..count).map(|band| (band * each).min(all)..((band + 1) * each).min(all)).collect()
    }

    /// The lines with the column labels.
    fn head(&self, band: &Range<usize>) -> Vec<String> {
        let labels = &self.columns[band.clone()];
        let margin = " ".repeat(self.row_width + 1);
        if self.across {
            let cells: String = labels.iter().map(|label| pad_right(label, self.cell)).collect();
            return vec![margin + &cells];
        }
        let stacks: Vec<Vec<String>> = labels.iter().map(|label| stack(label)).collect();
        let height = stacks.iter().map(Vec::len).max().unwrap_or(0);
        let line = |level: usize| {
            let piece = |stack: &Vec<String>| {
                // Labels stand on the matrix: short ones start lower.
                let blank = height - stack.len();
                let piece = level.checked_sub(blank).map_or("", |index| stack[index].as_str());
                pad_right(&format!("{}{piece}", " ".repeat(self.indent())), self.cell)
            };
            margin.clone() + &stacks.iter().map(piece).collect::<String>()
        };
        (0..height).map(line).collect()
    }

    /// Blanks before a downward label, so that it stands over the middle of its cell.
    fn indent(&self) -> usize {
        usize::from(self.colour == Colour::Ansi && self.cell >= 3)
    }

    fn row(&self, row: usize, band: &Range<usize>) -> String {
        let weights = &self.heatmap.row(row)[band.clone()];
        let cells: String = weights.iter().map(|weight| self.cell(*weight)).collect();
        let label = &self.rows[row];
        let blank = " ".repeat(self.row_width - columns(label));
        format!("{blank}{} {cells}  {}", in_place(label), self.strongest[row])
    }

    fn cell(&self, weight: f32) -> String {
        match self.colour {
            Colour::Plain => {
                let step = (weight.clamp(0.0, 1.0) * (RAMP.len() - 1) as f32).round() as usize;
                let filled = if self.cell == 1 { 1 } else { (self.cell - 1).min(3) };
                pad_right(&RAMP[step].to_string().repeat(filled), self.cell)
            }
            Colour::Ansi => {
                let number = match self.cell {
                    _ if weight < 0.005 => String::new(),
                    0..4 => String::new(),
                    4 => format!("{weight:.2}").trim_start_matches('0').chars().take(3).collect(),
                    _ => format!("{weight:.2}"),
                };
                let blank = (self.cell.saturating_sub(number.len())) / 2;
                paint(weight, &pad_right(&format!("{}{number}", " ".repeat(blank)), self.cell))
            }
        }
    }

    /// Sums where they fit into the cells, else only the signs of what was skipped or repeated.
    fn sums(&self, band: &Range<usize>) -> String {
        let sums = &self.heatmap.column_sums()[band.clone()];
        let cell = |sum: &f32| {
            let sign = Coverage::of(*sum).sign();
            let number = format!("{sign}{sum:.2}");
            let fits = self.cell > columns(&number);
            pad_right(if fits { &number } else { sign }, self.cell)
        };
        let blank = " ".repeat(self.row_width - SUM.len());
        format!("{blank}{SUM} {}", sums.iter().map(cell).collect::<String>())
    }

    /// The words that were skipped and those that were repeated, by name, in lines of at most `width` columns.
    fn flagged(&self, width: usize) -> Vec<String> {
        let sums = self.heatmap.column_sums();
        let mut lines = Vec::new();
        for (coverage, limit) in [(Coverage::Skipped, "< 0.3"), (Coverage::Repeated, "> 1.7")] {
            let flagged = sums.iter().zip(&self.columns).filter(|(sum, _)| Coverage::of(**sum) == coverage);
            let words: Vec<String> =
                flagged.map(|(sum, word)| format!("{} {sum:.2}", in_place(word))).collect();
            if words.is_empty() {
                continue;
            }
            let mut line = format!("{} {}, sum {limit}:", coverage.sign(), coverage.name());
            for word in words {
                if columns(&line) + 1 + columns(&word) > width {
                    lines.push(std::mem::replace(&mut line, " ".to_owned()));
                }
                line = line + " " + &word;
            }
            lines.push(line);
        }
        lines
    }

    fn legend(&self) -> String {
        match self.colour {
            Colour::Plain => format!("weight 0 [{}] 1", RAMP.iter().collect::<String>()),
            Colour::Ansi => {
                let strip: String = (0..=10).map(|step| paint(step as f32 / 10.0, " ")).collect();
                format!("weight 0 {strip} 1")
            }
        }
    }
}

/// For each row the strongest source word, padded, and its weight; `-` where there is none.
fn strongest(heatmap: &Heatmap, limit: usize) -> Vec<String> {
    let word = |source: usize| ellipsise_columns(&visible(&heatmap.source_tokens()[source]), limit);
    let found: Vec<Option<(String, f32)>> =
        heatmap.strongest().iter().map(|s| s.map(|s| (word(s.source), s.weight))).collect();
    let widest = found.iter().flatten().map(|(word, _)| columns(word)).max().unwrap_or(0);
    let line = |found: &Option<(String, f32)>| match found {
        Some((word, weight)) => format!("{} {weight:.2}", pad_right(word, widest)),
        None => "-".to_owned(),
    };
    found.iter().map(line).collect()
}

/// A label cut into what stands below each other: characters with the marks that belong to them.
fn stack(label: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for c in label.chars() {
        match pieces.last_mut() {
            Some(piece) if char_columns(c) == 0 => piece.push(c),
            _ => pieces.push(c.to_string()),
        }
    }
    if pieces.len() > TALLEST_LABEL {
        pieces.truncate(TALLEST_LABEL - 1);
        pieces.push("⋮".to_owned());
    }
    pieces
}

fn paint(weight: f32, text: &str) -> String {
    let colour = |paint| Theme::Light.colour(paint);
    let (Rgb(r, g, b), Rgb(r2, g2, b2)) = (colour(Paint::Weight(weight)), colour(Paint::OnWeight(weight)));
    format!("\x1b[48;2;{r};{g};{b}m\x1b[38;2;{r2};{g2};{b2}m{text}\x1b[0m")
}

fn pad_right(text: &str, width: usize) -> String {
    format!("{}{}", in_place(text), " ".repeat(width.saturating_sub(columns(text))))
}

/// Text that runs from right to left between two marks of no width, or else terminals that reorder such text would turn
/// the cells beside it round as well.
fn in_place(text: &str) -> Cow<'_, str> {
    const LEFT_TO_RIGHT: char = '\u{200e}';
    if text.chars().any(runs_left) {
        return format!("{LEFT_TO_RIGHT}{text}{LEFT_TO_RIGHT}").into();
    }
    text.into()
}

fn widest(labels: &[String]) -> usize {
    labels.iter().map(|label| columns(label)).max().unwrap_or(0)
}
