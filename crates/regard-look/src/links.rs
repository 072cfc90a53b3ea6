//! Two sentences as rows of words with lines between them: the same weights as a heatmap, read word by word.

use crate::heatmap::Heatmap;
use crate::label::{reads_left, visible};
use crate::picture::Picture;
use crate::picture::colour::Paint;
use crate::picture::font::{fit, text_width};
use crate::picture::scale::{GAP, word};
use crate::picture::scene::{Anchor, Scene, Shape, Stroke, Text};

/// The source above, the target below, and a line for each weight that is not faint, the thicker and the stronger in
/// colour the larger the weight. A sentence that is written from right to left runs from right to left.
///
/// ```
/// use regard_look::{Heatmap, Links, Theme};
/// let words = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
/// let weights = vec![vec![0.97, 0.03], vec![0.2, 0.8]];
/// let heatmap = Heatmap::new(words("black cat"), words("chat noir"), weights)?;
/// let links = Links { title: None, heatmap, threshold: 0.1 };
/// assert_eq!(links.picture().svg(Theme::Light).matches("<title>").count(), 3);
/// # Ok::<(), regard_look::HeatmapError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Links {
    /// A line above the picture.
    pub title: Option<String>,
    /// The words and the weights.
    pub heatmap: Heatmap,
    /// Weights below this one have no line.
    pub threshold: f32,
}

const MARGIN: f32 = 16.0;
const TITLE_SIZE: f32 = 15.0;
const SIZE: f32 = 14.0;
/// Labels are cut here.
const LABEL_WIDTH: f32 = 160.0;
/// Space between two words, at least.
const SPACE: f32 = 14.0;
/// Of the lines between the rows.
const HEIGHT: (f32, f32) = (120.0, 260.0);
/// The width of a line for a weight of 1.
const THICKEST: f32 = 7.0;

impl Links {
    /// The picture.
    #[must_use]
    pub fn picture(&self) -> Picture {
        let (source, target) = (self.heatmap.source_tokens(), self.heatmap.target_tokens());
        let (above, below) = (Row::new(source), Row::new(target));
        let width = above.width().max(below.width());
        let title = self.title.as_deref().unwrap_or("Attention");
        let mut scene = Scene::new(format!(
            "{title}: lines between {} source tokens above and {} target tokens below",
            source.len(),
            target.len()
        ));
        let mut y = MARGIN + SIZE;
        let mut right = width;
        if let Some(title) = &self.title {
            let title = fit(title, width.max(480.0), TITLE_SIZE);
            right = right.max(text_width(&title, TITLE_SIZE));
            scene.text(Text::new(MARGIN, MARGIN + TITLE_SIZE - 2.0, TITLE_SIZE, title));
            y += TITLE_SIZE + 12.0;
        }
        let (from, to) = (above.centres(width), below.centres(width));
        let lower = y + (width * 0.2).clamp(HEIGHT.0, HEIGHT.1);
        self.lines((&from, y + 7.0), (&to, lower - SIZE - 2.0), &mut scene);
        above.write(&from, y, &mut scene);
        below.write(&to, lower, &mut scene);
        let end = self.legend(lower + 20.0, &mut scene);
        Picture(scene.sized(right.max(end - MARGIN) + 2.0 * MARGIN, lower + 32.0 + MARGIN))
    }

    /// Faint lines first, so that strong ones lie over them.
    fn lines(&self, (from, upper): (&[f32], f32), (to, lower): (&[f32], f32), scene: &mut Scene) {
        let mut links: Vec<(f32, usize, usize)> = Vec::new();
        for (target, weights) in self.heatmap.weights().iter().enumerate() {
            let seen = weights.iter().enumerate().filter(|(_, weight)| **weight >= self.threshold);
            links.extend(seen.filter(|(_, weight)| **weight > 0.0).map(|(source, w)| (*w, source, target)));
        }
        links.sort_by(|one, other| one.0.total_cmp(&other.0));
        for (weight, source, target) in links {
            let (words, tokens) = (self.heatmap.source_tokens(), self.heatmap.target_tokens());
            let tip = format!("{} ← {}: {weight:.3}", tokens[target], words[source]);
            let points = vec![(from[source], upper), (to[target], lower)];
            scene.shapes.push(Shape::Polyline { points, stroke: stroke(weight), tip });
        }
    }

    /// Some weights beside their lines; returns where it ends.
    fn legend(&self, y: f32, scene: &mut Scene) -> f32 {
        let mut x = word(scene, (MARGIN, y), "weight") + 2.0 * GAP;
        for weight in [0.25, 0.5, 1.0].into_iter().filter(|weight| *weight >= self.threshold) {
            scene.line((x, y + 5.5), (x + 24.0, y + 5.5), stroke(weight));
            x = word(scene, (x + 24.0 + GAP, y), &weight.to_string()) + 2.0 * GAP;
        }
        if self.threshold > 0.0 {
            x = word(scene, (x, y), &format!("(none below {})", self.threshold));
        }
        x
    }
}

fn stroke(weight: f32) -> Stroke {
    let weight = weight.clamp(0.0, 1.0);
    let width = 0.75 + (THICKEST - 0.75) * weight;
    Stroke { opacity: 0.2 + 0.7 * weight, ..Stroke::new(Paint::Line(0), width) }
}

/// The words of a sentence.
struct Row {
    labels: Vec<String>,
    /// Of each label with the space beside it.
    widths: Vec<f32>,
    leftward: bool,
}

impl Row {
    fn new(tokens: &[String]) -> Self {
        let label = |token: &String| fit(&visible(token), LABEL_WIDTH, SIZE);
        let labels: Vec<String> = tokens.iter().map(label).collect();
        let widths = labels.iter().map(|label| text_width(label, SIZE) + SPACE).collect();
        Self { labels, widths, leftward: reads_left(tokens.iter().map(String::as_str)) }
    }

    fn width(&self) -> f32 {
        self.widths.iter().sum()
    }

    /// The middle of each word, where the row is spread over `width`.
    fn centres(&self, width: f32) -> Vec<f32> {
        let more = (width - self.width()) / self.labels.len().max(1) as f32;
        let mut end = 0.0;
        let mut centre = |own: &f32| {
            end += own + more;
            let middle = end - (own + more) / 2.0;
            MARGIN + if self.leftward { width - middle } else { middle }
        };
        self.widths.iter().map(&mut centre).collect()
    }

    fn write(&self, centres: &[f32], y: f32, scene: &mut Scene) {
        for (label, x) in self.labels.iter().zip(centres) {
            scene.text(Text::new(*x, y, SIZE, label).anchored(Anchor::Middle));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(String::from).collect()
    }

    fn strokes(scene: &Scene) -> Vec<(f32, f32)> {
        let of = |shape: &Shape| match shape {
            Shape::Polyline { stroke, tip, .. } if !tip.is_empty() => Some((stroke.width, stroke.opacity)),
            _ => None,
        };
        scene.shapes.iter().filter_map(of).collect()
    }

    #[test]
    fn faint_links_are_left_out_and_strong_ones_lie_on_top() {
        let weights = vec![vec![0.9, 0.1, 0.0], vec![0.04, 0.0, 1.0]];
        let heatmap = Heatmap::new(words("a b c"), words("x y"), weights).unwrap();
        let drawn =
            |threshold| strokes(&Links { title: None, heatmap: heatmap.clone(), threshold }.picture().0);
        let strong = drawn(0.1);
        assert_eq!((strong.len(), drawn(0.0).len(), drawn(1.1).len()), (3, 4, 0));
        assert!(strong.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
        // 0.75 + 6.25 w and 0.2 + 0.7 w.
        for (found, expected) in strong.iter().zip([(1.375, 0.27), (6.375, 0.83), (7.0, 0.9)]) {
            assert!((found.0 - expected.0).abs() < 1e-5 && (found.1 - expected.1).abs() < 1e-5);
        }
    }

    #[test]
    fn rows_are_as_wide_as_each_other_and_hebrew_runs_left() {
        let row = Row::new(&words("aa aa aa"));
        let centres = row.centres(300.0);
        for (found, expected) in centres.iter().zip([66.0, 166.0, 266.0]) {
            assert!((found - expected).abs() < 1e-3, "{centres:?}");
        }
        let leftward = Row::new(&words("ישן החתול ישן")).centres(300.0);
        assert!(leftward.windows(2).all(|pair| pair[0] > pair[1]), "{leftward:?}");
    }

    #[test]
    fn nothing_to_draw_is_fine() {
        let heatmap = Heatmap::new(vec![], vec![], vec![]).unwrap();
        assert!(strokes(&Links { title: None, heatmap, threshold: 0.0 }.picture().0).is_empty());
    }
}
