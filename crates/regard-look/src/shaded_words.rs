//! A translation as running text, each word on a ground that says how probable it was.

use crate::label::{reads_left, visible};
use crate::picture::Picture;
use crate::picture::colour::Paint;
use crate::picture::font::{fit, text_width};
use crate::picture::scale::scale;
use crate::picture::scene::{Anchor, Rect, Scene, Text};

/// Words, and the probability with which a model wrote each after those before it.
///
/// ```
/// use regard_look::{ShadedWords, Theme};
/// let words = ["le", "chat", "</s>"].map(String::from);
/// let words = ShadedWords::from_log_probs("t", &words, &[-0.01, -0.7, -2.3]);
/// assert!((words.words[1].1 - 0.4966).abs() < 1e-4);
/// assert!(words.picture().svg(Theme::Light).contains(">0.50</text>"));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ShadedWords {
    /// A line above the picture.
    pub title: String,
    /// Each word with its probability, from 0 to 1.
    pub words: Vec<(String, f32)>,
}

const MARGIN: f32 = 16.0;
const TITLE_SIZE: f32 = 15.0;
const SIZE: f32 = 16.0;
const SMALL_SIZE: f32 = 10.0;
/// Lines are broken here.
const WIDTH: f32 = 720.0;
/// Of a word's ground.
const HEIGHT: f32 = 26.0;
const LINE_HEIGHT: f32 = 48.0;
/// Between a word and the edge of its ground, and between grounds.
const PADDING: f32 = 6.0;
const SPACE: f32 = 4.0;

impl ShadedWords {
    /// Tokens with natural logarithms of their probabilities.
    #[must_use]
    pub fn from_log_probs(title: impl Into<String>, tokens: &[String], log_probs: &[f32]) -> Self {
        let words = tokens.iter().zip(log_probs).map(|(token, log_prob)| (token.clone(), log_prob.exp()));
        Self { title: title.into(), words: words.collect() }
    }

    /// The picture: a number below each word, a scale below the text. Text that is written from right to left runs so.
    #[must_use]
    pub fn picture(&self) -> Picture {
        let mut scene =
            Scene::new(format!("{}: probability of each of {} tokens", self.title, self.words.len()));
        let room = WIDTH - 2.0 * MARGIN;
        scene.text(Text::new(MARGIN, MARGIN + 13.0, TITLE_SIZE, fit(&self.title, room, TITLE_SIZE)));
        let leftward = reads_left(self.words.iter().map(|(word, _)| word.as_str()));
        let (mut x, mut y) = (0.0, MARGIN + TITLE_SIZE + 12.0);
        for (word, probability) in &self.words {
            let label = fit(&visible(word), room - 2.0 * PADDING, SIZE);
            let width = (text_width(&label, SIZE) + 2.0 * PADDING).max(text_width("0.00", SMALL_SIZE));
            if x > 0.0 && x + width > room {
                (x, y) = (0.0, y + LINE_HEIGHT);
            }
            // The larger of 0 and what is no number is 0.
            let left = MARGIN + if leftward { room - x - width } else { x };
            shaded((left, y, width), &label, probability.clamp(0.0, 1.0).max(0.0), &mut scene);
            x += width + SPACE;
        }
        let end = y + LINE_HEIGHT + 6.0;
        scale(&mut scene, (MARGIN, end), "probability");
        Picture(scene.sized(WIDTH, end + 14.0 + MARGIN))
    }
}

fn shaded((x, y, width): (f32, f32, f32), label: &str, probability: f32, scene: &mut Scene) {
    let tip = format!("{label}: {probability:.4}");
    let (fill, stroke) = (Some(Paint::Weight(probability)), None);
    scene.rect(Rect { x, y, width, height: HEIGHT, fill, stroke, tip });
    let middle = x + width / 2.0;
    let word = Text::new(middle, y + 18.5, SIZE, label).anchored(Anchor::Middle);
    scene.text(word.coloured(Paint::OnWeight(probability)));
    let number = Text::new(middle, y + HEIGHT + 12.0, SMALL_SIZE, format!("{probability:.2}"));
    scene.text(number.anchored(Anchor::Middle).coloured(Paint::FaintInk));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::scene::Shape;

    fn grounds(words: &[(&str, f32)]) -> Vec<Rect> {
        let words = words.iter().map(|(word, probability)| ((*word).to_owned(), *probability)).collect();
        let scene = ShadedWords { title: String::new(), words }.picture().0;
        let of = |shape: Shape| match shape {
            Shape::Rect(rect) if !rect.tip.is_empty() => Some(rect),
            _ => None,
        };
        scene.shapes.into_iter().filter_map(of).collect()
    }

    #[test]
    fn a_ground_has_the_shade_of_its_probability() {
        let found = grounds(&[("le", 0.25), ("chat", 1.5), ("noir", -1.0), ("dort", f32::NAN)]);
        let shades: Vec<Option<Paint>> = found.iter().map(|rect| rect.fill).collect();
        assert_eq!(shades, [0.25, 1.0, 0.0, 0.0].map(|shade| Some(Paint::Weight(shade))));
        assert_eq!(found[0].tip, "le: 0.2500");
    }

    #[test]
    fn text_is_broken_into_lines_that_run_as_it_is_read() {
        let found = grounds(&[("Donaudampfschifffahrtsgesellschaft", 0.5); 5]);
        assert!(found.iter().all(|rect| rect.x >= MARGIN && rect.x + rect.width <= WIDTH - MARGIN));
        let lines: Vec<f32> = found.iter().map(|rect| (rect.y - found[0].y) / LINE_HEIGHT).collect();
        assert_eq!(lines, [0.0, 0.0, 1.0, 1.0, 2.0]);
        let hebrew = grounds(&[("החתול", 0.5), ("ישן", 0.5), ("</s>", 0.5)]);
        assert!((hebrew[0].x + hebrew[0].width - (WIDTH - MARGIN)).abs() < 0.01);
        assert!(hebrew[1].x < hebrew[0].x && hebrew[2].x < hebrew[1].x);
    }
}
