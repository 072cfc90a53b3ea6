//! The length curve: BLEU by bucket of source length, one line per system, with the number of lines in each bucket.

use crate::picture::colour::Paint;
use crate::picture::font::{fit, text_width};
use crate::picture::scene::{Anchor, Scene, Shape, Stroke, Text};
use crate::picture::{Picture, PictureError, Theme};

/// Scores from 0 to 100 over buckets, for several systems.
///
/// ```
/// use regard_look::{Chart, Series};
/// let series = |name: &str, scores: [f64; 2]| {
///     let bands = scores.map(|score| Some((score - 3.0, score + 2.0))).to_vec();
///     Series { name: name.into(), scores: scores.map(Some).to_vec(), bands }
/// };
/// let chart = Chart {
///     title: "BLEU by length".into(),
///     x_label: "source words".into(),
///     y_label: "BLEU".into(),
///     buckets: vec!["1–10".into(), "11–20".into()],
///     counts: vec![120, 80],
///     series: vec![series("attention", [96.0, 95.0]), series("fixed vector", [98.0, 48.0])],
/// };
/// assert!(chart.svg().contains(">fixed vector</text>"));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chart {
    /// A line above the picture.
    pub title: String,
    /// What the buckets are, with the unit.
    pub x_label: String,
    /// What the scores are.
    pub y_label: String,
    /// Names of the buckets, left to right.
    pub buckets: Vec<String>,
    /// Number of lines in each bucket, written below its name; may be empty.
    pub counts: Vec<usize>,
    /// One line each.
    pub series: Vec<Series>,
}

/// The scores of one system.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// For the legend.
    pub name: String,
    /// One score, 0 to 100, per bucket. `None`, or a number that is not finite, leaves a gap; what lies outside 0 to 100
    /// is drawn at the edge, and scores beyond the last bucket are not drawn.
    pub scores: Vec<Option<f64>>,
    /// The interval of each score, drawn as an upright line through it; may be empty.
    pub bands: Vec<Option<(f64, f64)>>,
}

const WIDTH: f32 = 720.0;
const PLOT_HEIGHT: f32 = 280.0;
const LEFT: f32 = 68.0;
const RIGHT: f32 = WIDTH - 20.0;
const MARGIN: f32 = 16.0;
const SIZE: f32 = 12.0;
const SMALL_SIZE: f32 = 11.0;
const MARKER: f32 = 4.0;

impl Chart {
    /// The chart, laid out.
    #[must_use]
    pub fn picture(&self) -> Picture {
        Picture(self.scene())
    }

    /// The chart as SVG on white paper.
    #[must_use]
    pub fn svg(&self) -> String {
        self.picture().svg(Theme::Light)
    }

    /// The chart as PNG on white paper, with the built-in font.
    ///
    /// # Errors
    /// [`PictureError`] where the picture is too large for memory.
    pub fn png(&self) -> Result<Vec<u8>, PictureError> {
        self.picture().png(Theme::Light, None)
    }

    fn scene(&self) -> Scene {
        let mut scene = Scene::new(format!("{}: {} by {}", self.title, self.y_label, self.x_label));
        scene.text(Text::new(MARGIN, MARGIN + 13.0, 15.0, fit(&self.title, WIDTH - 2.0 * MARGIN, 15.0)));
        let plot = Plot { top: self.legend(&mut scene), buckets: self.buckets.len(), most: self.most() };
        self.axes(&plot, &mut scene);
        for (index, series) in self.series.iter().enumerate() {
            self.curve(&plot, index, series, &mut scene);
        }
        scene.sized(WIDTH, plot.bottom() + 58.0 + MARGIN)
    }

    /// Where the axis ends: at the first of 20, 40, … 100 that nothing drawn is above.
    fn most(&self) -> f64 {
        let scores = self.series.iter().flat_map(|series| series.scores.iter().flatten().copied());
        let ends = self.series.iter().flat_map(|series| series.bands.iter().flatten().map(|band| band.1));
        let largest = scores.chain(ends).filter(|score| score.is_finite()).fold(0.0, f64::max);
        [20.0, 40.0, 60.0, 80.0].into_iter().find(|&most| largest <= most).unwrap_or(100.0)
    }

    /// Names beside their lines, in as many rows as they need; returns where the plot starts.
    fn legend(&self, scene: &mut Scene) -> f32 {
        let (mut x, mut y) = (LEFT, MARGIN + 36.0);
        for (index, series) in self.series.iter().enumerate() {
            let name = fit(&series.name, 220.0, SIZE);
            let width = 34.0 + text_width(&name, SIZE) + 20.0;
            if x + width > RIGHT && x > LEFT {
                (x, y) = (LEFT, y + 20.0);
            }
            scene.line((x, y - 4.0), (x + 28.0, y - 4.0), stroke(index));
            scene.shapes.push(marker(index, (x + 14.0, y - 4.0), String::new()));
            scene.text(Text::new(x + 34.0, y, SIZE, name));
            x += width;
        }
        y + 22.0
    }

    fn axes(&self, plot: &Plot, scene: &mut Scene) {
        for tick in 0..=5_u8 {
            let score = plot.most * f64::from(tick) / 5.0;
            let y = plot.y(score);
            let colour = if tick == 0 { Paint::FaintInk } else { Paint::Grid };
            scene.line((LEFT, y), (RIGHT, y), Stroke::new(colour, 1.0));
            scene.text(Text::new(LEFT - 8.0, y + 4.0, SMALL_SIZE, score.to_string()).anchored(Anchor::End));
        }
        let slot = plot.slot();
        for (bucket, name) in self.buckets.iter().enumerate() {
            let below = |y: f32, text: &str| {
                let text = fit(text, slot - 4.0, SMALL_SIZE);
                Text::new(plot.x(bucket), plot.bottom() + y, SMALL_SIZE, text).anchored(Anchor::Middle)
            };
            scene.text(below(18.0, name));
            if let Some(count) = self.counts.get(bucket) {
                scene.text(below(34.0, &count.to_string()).coloured(Paint::FaintInk));
            }
        }
        if !self.counts.is_empty() {
            let lines = Text::new(LEFT - 8.0, plot.bottom() + 34.0, SMALL_SIZE, "lines");
            scene.text(lines.anchored(Anchor::End).coloured(Paint::FaintInk));
        }
        let middle = f32::midpoint(LEFT, RIGHT);
        let x_label = Text::new(middle, plot.bottom() + 58.0, SIZE, fit(&self.x_label, RIGHT - LEFT, SIZE));
        scene.text(x_label.anchored(Anchor::Middle));
        let y_label =
            Text::new(MARGIN + 10.0, plot.y(plot.most / 2.0), SIZE, fit(&self.y_label, PLOT_HEIGHT, SIZE));
        scene.text(y_label.anchored(Anchor::Middle).turned(-90.0));
    }

    fn curve(&self, plot: &Plot, index: usize, series: &Series, scene: &mut Scene) {
        let at = |(bucket, score): (usize, &Option<f64>)| {
            let score = score.filter(|score| score.is_finite())?;
            Some((bucket, score, (plot.x(bucket), plot.y(score))))
        };
        let points: Vec<_> = series.scores.iter().enumerate().take(plot.buckets).map(at).collect();
        for run in points.split(Option::is_none).filter(|run| run.len() > 1) {
            let points = run.iter().flatten().map(|(_, _, point)| *point).collect();
            scene.shapes.push(Shape::Polyline { points, stroke: stroke(index), tip: String::new() });
        }
        // Side by side, so that intervals of several systems can be told apart.
        let aside = 5.0 * (index as f32 - (self.series.len() as f32 - 1.0) / 2.0);
        for &(bucket, _, (x, _)) in points.iter().flatten() {
            if let Some(Some((low, high))) = series.bands.get(bucket) {
                let thin = Stroke { width: 1.0, dash: 0.0, ..stroke(index) };
                scene.line((x + aside, plot.y(*low)), (x + aside, plot.y(*high)), thin);
            }
        }
        for &(bucket, score, point) in points.iter().flatten() {
            let tip = format!("{}, {}: {score:.1}", series.name, self.buckets[bucket]);
            scene.shapes.push(marker(index, point, tip));
        }
    }
}

/// Where scores and buckets lie.
struct Plot {
    top: f32,
    buckets: usize,
    /// The score at the top.
    most: f64,
}

impl Plot {
    fn bottom(&self) -> f32 {
        self.top + PLOT_HEIGHT
    }

    /// Width of a bucket.
    fn slot(&self) -> f32 {
        (RIGHT - LEFT) / self.buckets.max(1) as f32
    }

    fn x(&self, bucket: usize) -> f32 {
        LEFT + self.slot() * (bucket as f32 + 0.5)
    }

    fn y(&self, score: f64) -> f32 {
        self.bottom() - PLOT_HEIGHT * (score.clamp(0.0, self.most) / self.most) as f32
    }
}

/// Lines differ in colour and in dashes, for who does not see the colours.
fn stroke(index: usize) -> Stroke {
    Stroke { dash: [0.0, 7.0, 2.5][index % 3], ..Stroke::new(Paint::Line(index), 2.0) }
}

/// A circle, square, triangle or diamond.
fn marker(index: usize, (x, y): (f32, f32), tip: String) -> Shape {
    let (corners, turn) = [(16, 0.0), (4, 0.125), (3, 0.75), (4, 0.0)][index % 4];
    let radius = if corners == 16 { MARKER } else { MARKER * 1.3 };
    let corner = |i: u8| {
        let angle = (f32::from(i) / f32::from(corners) + turn) * std::f32::consts::TAU;
        (x + radius * angle.cos(), y + radius * angle.sin())
    };
    Shape::Polygon { points: (0..corners).map(corner).collect(), fill: Paint::Line(index), tip }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(scores: Vec<Option<f64>>) -> Chart {
        let buckets = ["1–5", "6–10", "11–20", "21–30"].map(String::from).to_vec();
        let series = vec![Series { name: "a & b".into(), scores, bands: Vec::new() }];
        Chart { title: "t".into(), buckets, counts: vec![5, 6, 7, 8], series, ..Chart::default() }
    }

    #[test]
    fn a_gap_breaks_the_line() {
        let scene = chart(vec![Some(1.0), Some(2.0), None, Some(f64::NAN), Some(3.0)]).scene();
        let lines =
            scene.shapes.iter().filter(|s| matches!(s, Shape::Polyline { points, .. } if points.len() > 2));
        assert_eq!(lines.count(), 0);
        let tips: Vec<&str> = scene
            .shapes
            .iter()
            .filter_map(|s| match s {
                Shape::Polygon { tip, .. } if !tip.is_empty() => Some(tip.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(tips, ["a & b, 1–5: 1.0", "a & b, 6–10: 2.0"]);
    }

    #[test]
    fn scores_lie_between_the_axes() {
        let plot = Plot { top: 100.0, buckets: 4, most: 100.0 };
        let heights = [0.0, 50.0, 100.0, 120.0, -3.0].map(|score| plot.y(score).round() as i32);
        assert_eq!(heights, [380, 240, 100, 100, 380]);
        let places = [plot.slot(), plot.x(0), plot.x(3)].map(|x| x.round() as i32);
        assert_eq!(places, [158, 147, 621]);
    }

    #[test]
    fn counts_and_names_are_written() {
        let svg = chart(vec![Some(50.0); 4]).svg();
        for text in
            [">8</text>", ">lines</text>", ">a &amp; b</text>", ">21–30</text>", ">60</text>", ">12</text>"]
        {
            assert!(svg.contains(text), "{text} not in {svg}");
        }
        assert_eq!(svg.matches("<polyline").count(), 6 + 1 + 1);
    }

    #[test]
    fn the_axis_ends_above_everything_and_bands_are_drawn() {
        let mut chart = chart(vec![Some(30.0); 4]);
        assert!((chart.most() - 40.0).abs() < 1e-9);
        let lines = |chart: &Chart| chart.svg().matches("<polyline").count();
        let before = lines(&chart);
        chart.series[0].bands = vec![Some((20.0, 41.0)), None];
        assert!((chart.most() - 60.0).abs() < 1e-9);
        assert_eq!(lines(&chart), before + 1);
        chart.series[0].scores[0] = Some(300.0);
        assert!((chart.most() - 100.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_to_draw_is_fine() {
        assert!(Chart::default().svg().contains("</svg>"));
    }
}
