//! The search of one sentence as a tree: what was considered at each step, and what became of it.

use crate::label::visible;
use crate::picture::Picture;
use crate::picture::colour::Paint;
use crate::picture::font::{fit, text_width};
use crate::picture::scale::{GAP, word};
use crate::picture::scene::{Rect, Scene, Shape, Stroke, Text};
use regard_decode::{Fate, SearchStep};
use serde::Serialize;

/// A tree of continuations. Steps run from left to right; the candidates of a step stand below each other as the search
/// ranked them.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct BeamTree {
    /// A line above the picture.
    pub title: String,
    /// Step by step, and best first within a step.
    pub nodes: Vec<BeamNode>,
}

/// A continuation that was considered.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BeamNode {
    /// The target position that was written, from 0.
    pub step: usize,
    /// Its place among the candidates of the step, from 0.
    pub rank: usize,
    /// What it continues, as a place in [`BeamTree::nodes`]; none for the start of the sentence.
    pub parent: Option<usize>,
    /// The token.
    pub token: String,
    /// log p of the token, natural logarithm.
    pub log_prob: f32,
    /// Σ log p of the path with it.
    pub sum: f64,
    /// What became of it.
    pub fate: Fate,
    /// Whether it belongs to the translation that was returned.
    pub returned: bool,
}

const MARGIN: f32 = 16.0;
const TITLE_SIZE: f32 = 15.0;
const SIZE: f32 = 12.0;
const SMALL_SIZE: f32 = 10.0;
/// Tokens are cut here.
const TOKEN_WIDTH: f32 = 120.0;
/// Between the steps, for the lines.
const BETWEEN: f32 = 44.0;
const BOX_HEIGHT: f32 = 32.0;
const ROW_HEIGHT: f32 = 40.0;
/// The width of the line to the best of a step.
const THICKEST: f32 = 6.0;

impl BeamTree {
    /// The tree of the steps of one sentence, in the order in which they were observed. `returned` are the token ids of the
    /// translation, and `name` gives the text of one.
    ///
    /// ```
    /// use regard_decode::{Considered, Fate, SearchStep};
    /// use regard_look::{BeamTree, Theme};
    /// let considered = |parent, token, sum, fate| Considered { parent, token, log_prob: -0.1, sum, fate };
    /// let first = vec![considered(0, 7, -0.1, Fate::Lives), considered(0, 8, -2.5, Fate::Dropped)];
    /// let steps = [
    ///     SearchStep { sentence: 0, position: 0, candidates: first, living: vec![vec![7]] },
    ///     SearchStep { sentence: 0, position: 1, candidates: vec![considered(0, 3, -0.2, Fate::Ended)], living: vec![] },
    /// ];
    /// let tree = BeamTree::new("t", &steps, &[7, 3], |id| format!("word{id}"));
    /// assert_eq!((tree.nodes[2].parent, tree.nodes[2].returned, tree.nodes[1].returned), (Some(0), true, false));
    /// assert!(tree.picture().svg(Theme::Light).contains(">word7</text>"));
    /// ```
    #[must_use]
    pub fn new(
        title: impl Into<String>,
        steps: &[SearchStep],
        returned: &[u32],
        name: impl Fn(u32) -> String,
    ) -> Self {
        let mut nodes: Vec<BeamNode> = Vec::new();
        // The nodes of the paths that live; none stands for the start.
        let mut living = vec![None];
        let mut so_far = Some(None);
        for (step, observed) in steps.iter().enumerate() {
            let mut next = Vec::new();
            let mut followed = None;
            for (rank, candidate) in observed.candidates.iter().enumerate() {
                let Some(&parent) = living.get(candidate.parent) else { continue };
                let place = nodes.len();
                let follows = followed.is_none()
                    && candidate.fate != Fate::Dropped
                    && so_far == Some(parent)
                    && returned.get(step) == Some(&candidate.token);
                if follows {
                    followed = Some(Some(place));
                }
                if candidate.fate == Fate::Lives {
                    next.push(Some(place));
                }
                nodes.push(BeamNode {
                    step,
                    rank,
                    parent,
                    token: name(candidate.token),
                    log_prob: candidate.log_prob,
                    sum: candidate.sum,
                    fate: candidate.fate,
                    returned: follows,
                });
            }
            (living, so_far) = (next, followed);
        }
        Self { title: title.into(), nodes }
    }

    /// The picture. The width of a line is the probability of its path over that of the best of the step; what was dropped
    /// is faint, and each node that did not go on says why.
    #[must_use]
    pub fn picture(&self) -> Picture {
        let layout = Layout::new(self);
        let mut scene = Scene::new(format!(
            "{}: {} continuations considered in {} steps",
            self.title,
            self.nodes.len(),
            layout.columns.len()
        ));
        let title = fit(&self.title, layout.right().max(480.0), TITLE_SIZE);
        let mut right = layout.right().max(MARGIN + text_width(&title, TITLE_SIZE));
        scene.text(Text::new(MARGIN, MARGIN + 13.0, TITLE_SIZE, title));
        // What matters most lies on top.
        let layer_of = |node: &BeamNode| (node.returned, node.fate != Fate::Dropped);
        for layer in [(false, false), (false, true), (true, true)] {
            for node in self.nodes.iter().filter(|node| layer_of(node) == layer) {
                layout.edge(node, &mut scene);
            }
        }
        layout.start(&mut scene);
        for node in &self.nodes {
            layout.node(node, &mut scene);
        }
        let end = layout.top + ROW_HEIGHT * layout.rows as f32 + 8.0;
        right = right.max(legend(end, &mut scene));
        Picture(scene.sized(right + MARGIN, end + 14.0 + MARGIN))
    }
}

/// Why a path did not go on.
fn reason(fate: Fate) -> &'static str {
    match fate {
        Fate::Lives => "",
        Fate::Cut => "cut: too long",
        Fate::Ended => "ended",
        Fate::Dropped => "dropped",
    }
}

/// What the marks mean; returns where it ends.
fn legend(y: f32, scene: &mut Scene) -> f32 {
    let mut x = MARGIN;
    for (colour, meaning) in [
        (Paint::Gold, "the translation"),
        (Paint::Line(0), "goes on: width = probability of the path / that of the best of the step"),
    ] {
        scene.line((x, y + 5.5), (x + 20.0, y + 5.5), Stroke::new(colour, 3.0));
        x = word(scene, (x + 20.0 + GAP, y), meaning) + 3.0 * GAP;
    }
    scene.line((x, y + 5.5), (x + 20.0, y + 5.5), faint());
    x = word(scene, (x + 20.0 + GAP, y), "dropped: there were enough better ones") + 3.0 * GAP;
    word(scene, (x, y), "Numbers: Σ log p")
}

fn faint() -> Stroke {
    Stroke { dash: 3.0, opacity: 0.7, ..Stroke::new(Paint::FaintInk, 1.0) }
}

/// Where the steps stand.
struct Layout<'a> {
    nodes: &'a [BeamNode],
    /// Left edge and width of each step's boxes.
    columns: Vec<(f32, f32)>,
    /// Σ log p of the best of each step.
    best: Vec<f64>,
    rows: usize,
    top: f32,
}

impl<'a> Layout<'a> {
    fn new(tree: &'a BeamTree) -> Self {
        let nodes = tree.nodes.as_slice();
        let steps = nodes.iter().map(|node| node.step + 1).max().unwrap_or(0);
        let (mut widths, mut best) = (vec![0.0_f32; steps], vec![f64::NEG_INFINITY; steps]);
        for node in nodes {
            widths[node.step] = widths[node.step].max(box_width(node));
            best[node.step] = best[node.step].max(node.sum);
        }
        let mut x = MARGIN + text_width(START, SIZE) + 2.0 * GAP;
        let column = |width: f32| {
            let left = x + BETWEEN;
            x = left + width;
            (left, width)
        };
        let columns = widths.into_iter().map(column).collect();
        let rows = nodes.iter().map(|node| node.rank + 1).max().unwrap_or(1);
        Self { nodes, columns, best, rows, top: MARGIN + TITLE_SIZE + 14.0 }
    }

    fn right(&self) -> f32 {
        self.columns.last().map_or(MARGIN, |(left, width)| left + width)
    }

    /// The middle of a row.
    fn y(&self, rank: usize) -> f32 {
        self.top + ROW_HEIGHT * (rank as f32 + 0.5)
    }

    /// The line from what a node continues.
    fn edge(&self, node: &BeamNode, scene: &mut Scene) {
        let from = match node.parent.map(|parent| &self.nodes[parent]) {
            Some(parent) => {
                let (left, _) = self.columns[parent.step];
                (left + box_width(parent), self.y(parent.rank))
            }
            None => (MARGIN + text_width(START, SIZE) + 2.0 * GAP, self.y(0)),
        };
        let (left, _) = self.columns[node.step];
        let to = (left, self.y(node.rank));
        let stroke = if node.fate == Fate::Dropped {
            faint()
        } else {
            let share = (node.sum - self.best[node.step]).exp() as f32;
            let colour = if node.returned { Paint::Gold } else { Paint::Line(0) };
            Stroke::new(colour, 1.0 + (THICKEST - 1.0) * share.max(0.0))
        };
        // Short words in a wide column: first along the row, then across.
        let bend = (left - BETWEEN).max(from.0);
        let points = vec![from, (bend, from.1), to];
        scene.shapes.push(Shape::Polyline { points, stroke, tip: String::new() });
    }

    fn start(&self, scene: &mut Scene) {
        scene.text(Text::new(MARGIN + GAP, self.y(0) + 4.0, SIZE, START));
    }

    fn node(&self, node: &BeamNode, scene: &mut Scene) {
        let ((x, _), middle) = (self.columns[node.step], self.y(node.rank));
        let (ink, outline) = match node.fate {
            Fate::Dropped => (Paint::FaintInk, None),
            _ if node.returned => (Paint::Ink, Some(Stroke::new(Paint::Gold, 2.0))),
            _ => (Paint::Ink, Some(Stroke::new(Paint::FaintInk, 1.0))),
        };
        let tip = format!(
            "{}: log p {:.3}, Σ log p {:.3} {}",
            node.token,
            node.log_prob,
            node.sum,
            reason(node.fate)
        );
        scene.rect(Rect {
            x,
            y: middle - BOX_HEIGHT / 2.0,
            width: box_width(node),
            height: BOX_HEIGHT,
            fill: Some(Paint::Paper),
            stroke: outline,
            tip: tip.trim_end().to_owned(),
        });
        let token = Text::new(x + GAP, middle - 2.0, SIZE, label(node));
        scene.text(token.coloured(ink));
        let below = Text::new(x + GAP, middle + 11.0, SMALL_SIZE, note(node));
        scene.text(below.coloured(Paint::FaintInk));
    }
}

const START: &str = "start";

fn label(node: &BeamNode) -> String {
    fit(&visible(&node.token), TOKEN_WIDTH, SIZE)
}

/// The score, and why the path did not go on.
fn note(node: &BeamNode) -> String {
    format!("{:.2} {}", node.sum, reason(node.fate)).trim_end().to_owned()
}

fn box_width(node: &BeamNode) -> f32 {
    text_width(&label(node), SIZE).max(text_width(&note(node), SMALL_SIZE)) + 2.0 * GAP
}

#[cfg(test)]
mod tests {
    use super::*;
    use regard_decode::Considered;

    /// Two steps: a beam of two, one that ends and one that is cut.
    fn tree(returned: &[u32]) -> BeamTree {
        let considered = |parent, token, sum, fate| Considered { parent, token, log_prob: -0.5, sum, fate };
        let first = vec![
            considered(0, 5, -0.1, Fate::Lives),
            considered(0, 6, -0.1 - 2.0_f64.ln(), Fate::Lives),
            considered(0, 7, -3.0, Fate::Dropped),
        ];
        let second = vec![
            considered(1, 3, -1.0, Fate::Ended),
            considered(0, 8, -1.5, Fate::Cut),
            considered(0, 3, -2.5, Fate::Dropped),
        ];
        let steps = [
            SearchStep { sentence: 0, position: 0, candidates: first, living: vec![vec![5], vec![6]] },
            SearchStep { sentence: 0, position: 1, candidates: second, living: vec![] },
        ];
        BeamTree::new("search", &steps, returned, |id| format!("w{id}"))
    }

    #[test]
    fn parents_are_the_paths_that_lived() {
        let nodes = tree(&[6, 3]).nodes;
        let parents: Vec<Option<usize>> = nodes.iter().map(|node| node.parent).collect();
        assert_eq!(parents, [None, None, None, Some(1), Some(0), Some(0)]);
        assert_eq!(nodes.iter().map(|node| node.rank).collect::<Vec<_>>(), [0, 1, 2, 0, 1, 2]);
        let returned = |ids: &[u32]| -> Vec<usize> {
            let nodes = tree(ids).nodes;
            (0..nodes.len()).filter(|&place| nodes[place].returned).collect()
        };
        assert_eq!(returned(&[6, 3]), [1, 3]);
        assert_eq!(returned(&[5, 8]), [0, 4]);
        // What was dropped is no way to a translation.
        assert_eq!(returned(&[5, 3]), [0]);
        assert_eq!(returned(&[9, 8]), [0; 0]);
    }

    #[test]
    fn lines_are_as_wide_as_paths_are_probable() {
        let scene = tree(&[6, 3]).picture().0;
        let of = |shape: &Shape| match shape {
            Shape::Polyline { points, stroke, .. } if points.len() == 3 => Some(*stroke),
            _ => None,
        };
        let strokes: Vec<Stroke> = scene.shapes.iter().filter_map(of).collect();
        // 1 + 5 exp(sum − best of the step).
        let (blue, gold) = (Paint::Line(0), Paint::Gold);
        let expected = [
            (faint().colour, 1.0),
            (faint().colour, 1.0),
            (blue, 6.0),
            (blue, 1.0 + 5.0 * (-0.5_f32).exp()),
            (gold, 3.5),
            (gold, 6.0),
        ];
        assert_eq!(strokes.len(), expected.len());
        for (stroke, (colour, width)) in strokes.iter().zip(expected) {
            assert!(stroke.colour == colour && (stroke.width - width).abs() < 1e-5, "{stroke:?}");
        }
    }

    #[test]
    fn reasons_are_written() {
        let texts: Vec<String> = tree(&[6, 3])
            .picture()
            .0
            .shapes
            .into_iter()
            .filter_map(|shape| if let Shape::Text(text) = shape { Some(text.content) } else { None })
            .collect();
        for text in ["w8", "-0.10", "-3.00 dropped", "-1.00 ended", "-1.50 cut: too long"] {
            assert!(texts.iter().any(|found| found == text), "{text} in {texts:?}");
        }
    }

    #[test]
    fn nothing_to_draw_is_fine() {
        assert!(BeamTree::new("", &[], &[], |_| String::new()).picture().0.width > 0.0);
    }
}
