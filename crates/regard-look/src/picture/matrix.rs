//! Layout of the heatmap: everything is placed from the size of a cell, which follows from the number of words.

use super::colour::{Paint, is_visible};
use super::font::{char_width, text_width};
use super::scale::{GAP, SMALL_SIZE, scale, word};
use super::scene::{Anchor, Rect, Scene, Stroke, Text};
use crate::heatmap::{Coverage, Heatmap};
use crate::label::{ellipsise, visible};
use std::f32::consts::FRAC_1_SQRT_2;

/// What is drawn around and over the cells.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HeatmapOptions {
    /// A line above the picture.
    pub title: Option<String>,
    /// Gold links `(source, target)`, 0-based as in `0-1` of a Pharaoh file, drawn as outlined cells. Links outside the
    /// matrix are not drawn.
    pub gold: Vec<(usize, usize)>,
    /// A row of column sums below the matrix, those outside of [`Coverage::Once`] marked.
    pub sums: bool,
}

const MARGIN: f32 = 16.0;
const TITLE_SIZE: f32 = 15.0;
/// Labels are cut here.
const LABEL_WIDTH: f32 = 140.0;
/// The longer side of the matrix, as long as cells stay between their limits.
const MATRIX_SIDE: f32 = 640.0;
const CELL_LIMITS: (f32, f32) = (12.0, 44.0);
/// Numbers stand in the cells up to this many columns.
const NUMBERED_COLUMNS: usize = 12;
const NUMBERED_CELL: f32 = 36.0;
/// Heights of the row of sums.
const FLAT_SUM: f32 = 18.0;
const UPRIGHT_SUM: f32 = 38.0;

/// How column labels stand: as flat as their room allows.
#[derive(Clone, Copy, PartialEq)]
enum Head {
    Flat,
    Slanted,
    Upright,
}

struct Layout<'a> {
    heatmap: &'a Heatmap,
    columns: Vec<String>,
    rows: Vec<String>,
    cell: f32,
    font: f32,
    head: Head,
    /// Of the first cell.
    left: f32,
    top: f32,
    /// Of the row of sums with the space above it; 0 where there is none.
    sums_height: f32,
}

/// The picture of a heatmap.
pub(crate) fn scene(heatmap: &Heatmap, options: &HeatmapOptions) -> Scene {
    let layout = Layout::new(heatmap, options);
    let (columns, rows) = (layout.columns.len(), layout.rows.len());
    let title = options.title.as_deref().unwrap_or("Attention");
    let mut scene =
        Scene::new(format!("{title}: weights of {columns} source tokens for {rows} target tokens"));
    layout.labels(&mut scene);
    layout.cells(&mut scene);
    layout.grid(&mut scene);
    layout.links(&options.gold, &mut scene);
    if options.sums {
        layout.sums(&mut scene);
    }
    let legend_end = layout.legend(options, &mut scene);

    let mut width = layout.right().max(legend_end);
    if let Some(title) = &options.title {
        let room = (width - MARGIN).max(480.0);
        let title = ellipsise(&visible(title), room, |c| char_width(c, TITLE_SIZE));
        width = width.max(MARGIN + text_width(&title, TITLE_SIZE));
        scene.text(Text::new(MARGIN, MARGIN + TITLE_SIZE - 2.0, TITLE_SIZE, title));
    }
    scene.sized(width + MARGIN, layout.end() + 30.0 + MARGIN)
}

impl<'a> Layout<'a> {
    fn new(heatmap: &'a Heatmap, options: &HeatmapOptions) -> Self {
        let (source, target) = (heatmap.source_tokens(), heatmap.target_tokens());
        let longer = source.len().max(target.len()).max(1);
        let cell = (MATRIX_SIDE / longer as f32).floor().clamp(CELL_LIMITS.0, CELL_LIMITS.1);
        let font = (cell * 0.8).floor().clamp(10.0, 13.0);
        let cut = |token: &String| ellipsise(&visible(token), LABEL_WIDTH, |c| char_width(c, font));
        let columns: Vec<String> = source.iter().map(cut).collect();
        let rows: Vec<String> = target.iter().map(cut).collect();

        let label_width = widest(&columns, font);
        let (head, head_height) = if label_width <= cell - GAP {
            (Head::Flat, font)
        } else if cell >= 20.0 {
            (Head::Slanted, (label_width + font) * FRAC_1_SQRT_2)
        } else {
            (Head::Upright, label_width)
        };
        let title_height = if options.title.is_some() { TITLE_SIZE + 12.0 } else { 0.0 };
        let sum_height = if cell < NUMBERED_CELL { UPRIGHT_SUM } else { FLAT_SUM };
        let corner = text_width("target ↓", SMALL_SIZE);
        Self {
            heatmap,
            left: (MARGIN + widest(&rows, font).max(corner) + GAP).ceil(),
            top: (MARGIN + title_height + head_height.max(SMALL_SIZE * 2.5) + GAP).ceil(),
            columns,
            rows,
            cell,
            font,
            head,
            sums_height: if options.sums { GAP + sum_height } else { 0.0 },
        }
    }

    /// Left edge of column `index`; its right edge is that of the next one.
    fn x(&self, index: usize) -> f32 {
        self.left + self.cell * index as f32
    }

    /// Upper edge of row `index`.
    fn y(&self, index: usize) -> f32 {
        self.top + self.cell * index as f32
    }

    fn bottom(&self) -> f32 {
        self.y(self.rows.len())
    }

    /// Where cells and sums end.
    fn end(&self) -> f32 {
        self.bottom() + self.sums_height
    }

    /// Where cells and slanted labels end.
    fn right(&self) -> f32 {
        let label_end = |(column, label): (usize, &String)| match self.head {
            Head::Slanted => {
                self.x(column) + self.cell / 2.0 + text_width(label, self.font) * FRAC_1_SQRT_2 + GAP
            }
            Head::Flat | Head::Upright => 0.0,
        };
        self.columns.iter().enumerate().map(label_end).fold(self.x(self.columns.len()), f32::max)
    }

    fn labels(&self, scene: &mut Scene) {
        let corner = |y: f32, text: &str| {
            let text = Text::new(self.left - GAP, y, SMALL_SIZE, text);
            text.anchored(Anchor::End).coloured(Paint::FaintInk)
        };
        scene.text(corner(self.top - GAP - SMALL_SIZE * 1.3, "source →"));
        scene.text(corner(self.top - GAP, "target ↓"));
        // Half the height of a small letter, to centre text on a line.
        let half = self.font * 0.35;
        for (column, label) in self.columns.iter().enumerate() {
            let (x, y) = (self.x(column) + self.cell / 2.0, self.top - GAP);
            scene.text(match self.head {
                Head::Flat => Text::new(x, y, self.font, label).anchored(Anchor::Middle),
                Head::Slanted => Text::new(x + half * FRAC_1_SQRT_2, y, self.font, label).turned(-45.0),
                Head::Upright => Text::new(x + half, y, self.font, label).turned(-90.0),
            });
        }
        for (row, label) in self.rows.iter().enumerate() {
            let y = self.y(row) + self.cell / 2.0 + half;
            scene.text(Text::new(self.left - GAP, y, self.font, label).anchored(Anchor::End));
        }
    }

    /// Cells that can be told from an empty one, so that a picture of long sentences stays small.
    fn cells(&self, scene: &mut Scene) {
        let (width, height) = (self.x(self.columns.len()) - self.left, self.bottom() - self.top);
        let fill = Some(Paint::Weight(0.0));
        scene.rect(Rect { x: self.left, y: self.top, width, height, fill, ..Rect::default() });
        for (row, weights) in self.heatmap.weights().iter().enumerate() {
            for (column, &weight) in weights.iter().enumerate() {
                if !is_visible(weight) {
                    continue;
                }
                let tip = format!("{} ← {}: {weight:.3}", self.rows[row], self.columns[column]);
                let cell = self.cell_at(row, column);
                scene.rect(Rect { fill: Some(Paint::Weight(weight)), tip, ..cell });
                self.number(row, column, weight, scene);
            }
        }
    }

    fn number(&self, row: usize, column: usize, weight: f32, scene: &mut Scene) {
        if self.columns.len() > NUMBERED_COLUMNS || self.cell < NUMBERED_CELL || weight < 0.005 {
            return;
        }
        let (x, y) = (self.x(column) + self.cell / 2.0, self.y(row) + self.cell / 2.0 + 4.0);
        let text = Text::new(x, y, 11.0, format!("{weight:.2}"));
        scene.text(text.anchored(Anchor::Middle).coloured(Paint::OnWeight(weight)));
    }

    fn cell_at(&self, row: usize, column: usize) -> Rect {
        let (x, y) = (self.x(column), self.y(row));
        Rect { x, y, width: self.cell, height: self.cell, ..Rect::default() }
    }

    fn grid(&self, scene: &mut Scene) {
        let stroke = Stroke::new(Paint::Grid, if self.cell < 20.0 { 0.5 } else { 1.0 });
        let (right, bottom) = (self.x(self.columns.len()), self.bottom());
        for column in 0..=self.columns.len() {
            scene.line((self.x(column), self.top), (self.x(column), bottom), stroke);
        }
        for row in 0..=self.rows.len() {
            scene.line((self.left, self.y(row)), (right, self.y(row)), stroke);
        }
    }

    fn links(&self, gold: &[(usize, usize)], scene: &mut Scene) {
        for &(column, row) in gold {
            if column < self.columns.len() && row < self.rows.len() {
                scene.rect(outlined(self.cell_at(row, column)));
            }
        }
    }

    /// One number below each column, upright where the column is narrow; what is skipped or repeated has a ground and a sign.
    fn sums(&self, scene: &mut Scene) {
        let narrow = self.cell < NUMBERED_CELL;
        let (y, height) = (self.bottom() + GAP, self.sums_height - GAP);
        let name = Text::new(self.left - GAP, y + 13.0, SMALL_SIZE, "sum");
        scene.text(name.anchored(Anchor::End).coloured(Paint::FaintInk));
        for (column, sum) in self.heatmap.column_sums().into_iter().enumerate() {
            let coverage = Coverage::of(sum);
            let (fill, ink) = match paint(coverage) {
                Some(line) => (Some(Paint::Line(line)), Paint::OnLine(line)),
                None => (None, Paint::Ink),
            };
            let tip =
                format!("Σ {}: {sum:.3} {}", self.columns[column], coverage.name()).trim_end().to_owned();
            let stroke = Some(Stroke::new(Paint::Grid, if self.cell < 20.0 { 0.5 } else { 1.0 }));
            scene.rect(Rect { x: self.x(column), y, width: self.cell, height, fill, stroke, tip });
            let label = format!("{}{sum:.2}", coverage.sign());
            let x = self.x(column) + self.cell / 2.0;
            scene.text(if narrow {
                Text::new(x + 3.5, y + height - 3.0, SMALL_SIZE, label).turned(-90.0).coloured(ink)
            } else {
                Text::new(x, y + 13.0, SMALL_SIZE, label).anchored(Anchor::Middle).coloured(ink)
            });
        }
    }

    /// The scale of weights below the matrix and what the marks mean; returns where it ends.
    fn legend(&self, options: &HeatmapOptions, scene: &mut Scene) -> f32 {
        let y = self.end() + 14.0;
        let mut x = scale(scene, (self.left, y), "weight");
        if !options.gold.is_empty() {
            x += 3.0 * GAP;
            scene.rect(outlined(Rect { x, y: y - 1.0, width: 12.0, height: 12.0, ..Rect::default() }));
            x = word(scene, (x + 12.0 + GAP, y), "gold link");
        }
        if options.sums {
            for (coverage, limit) in [(Coverage::Skipped, "sum < 0.3"), (Coverage::Repeated, "sum > 1.7")] {
                x += 3.0 * GAP;
                let fill = paint(coverage).map(Paint::Line);
                scene.rect(Rect { x, y: y - 1.0, width: 12.0, height: 12.0, fill, ..Rect::default() });
                let name = format!("{} {}, {limit}", coverage.sign(), coverage.name());
                x = word(scene, (x + 12.0 + GAP, y), &name);
            }
        }
        x
    }
}

/// The colour of a chart's line for a source word that was skipped or repeated.
fn paint(coverage: Coverage) -> Option<usize> {
    match coverage {
        Coverage::Skipped => Some(1),
        Coverage::Once => None,
        Coverage::Repeated => Some(2),
    }
}

/// The outline of a gold link, inside its cell.
fn outlined(cell: Rect) -> Rect {
    let width = if cell.width < 20.0 { 1.5 } else { 2.0 };
    let inset = width / 2.0 + 0.5;
    Rect {
        x: cell.x + inset,
        y: cell.y + inset,
        width: cell.width - 2.0 * inset,
        height: cell.height - 2.0 * inset,
        stroke: Some(Stroke::new(Paint::Gold, width)),
        ..cell
    }
}

fn widest(labels: &[String], size: f32) -> f32 {
    labels.iter().map(|label| text_width(label, size)).fold(0.0, f32::max)
}
