//! What a picture is made of before it becomes SVG: a few kinds of shapes, in pixels, y down.

use super::colour::Paint;
use super::font::text_width;

/// Shapes in the order in which they are painted, on paper of a given size.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Scene {
    pub(crate) width: f32,
    pub(crate) height: f32,
    /// What the picture shows, in words, for who cannot see it.
    pub(crate) description: String,
    pub(crate) shapes: Vec<Shape>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    Rect(Rect),
    Polyline { points: Vec<(f32, f32)>, stroke: Stroke, tip: String },
    Polygon { points: Vec<(f32, f32)>, fill: Paint, tip: String },
    Text(Text),
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Rect {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) width: f32,
    pub(crate) height: f32,
    pub(crate) fill: Option<Paint>,
    pub(crate) stroke: Option<Stroke>,
    /// Shown by a browser when the mouse rests on the shape; empty for none.
    pub(crate) tip: String,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stroke {
    pub(crate) colour: Paint,
    pub(crate) width: f32,
    /// Length of dashes and gaps; 0 for a solid line.
    pub(crate) dash: f32,
    /// From 0, not to be seen, to 1.
    pub(crate) opacity: f32,
}

impl Stroke {
    /// A solid line.
    pub(crate) fn new(colour: Paint, width: f32) -> Self {
        Self { colour, width, dash: 0.0, opacity: 1.0 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Text {
    pub(crate) x: f32,
    /// Of the baseline.
    pub(crate) y: f32,
    pub(crate) size: f32,
    pub(crate) anchor: Anchor,
    /// Degrees, clockwise, around `(x, y)`.
    pub(crate) turn: f32,
    pub(crate) colour: Paint,
    pub(crate) content: String,
}

impl Text {
    /// Upright text in ink that starts at `(x, y)`.
    pub(crate) fn new(x: f32, y: f32, size: f32, content: impl Into<String>) -> Self {
        Self { x, y, size, anchor: Anchor::Start, turn: 0.0, colour: Paint::Ink, content: content.into() }
    }

    pub(crate) fn anchored(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    pub(crate) fn turned(self, turn: f32) -> Self {
        Self { turn, ..self }
    }

    pub(crate) fn coloured(self, colour: Paint) -> Self {
        Self { colour, ..self }
    }
}

impl Scene {
    /// An empty picture; its size in pixels is set when the layout is known.
    pub(crate) fn new(description: impl Into<String>) -> Self {
        Self { description: description.into(), ..Self::default() }
    }

    pub(crate) fn text(&mut self, text: Text) {
        self.shapes.push(Shape::Text(text));
    }

    pub(crate) fn rect(&mut self, rect: Rect) {
        self.shapes.push(Shape::Rect(rect));
    }

    pub(crate) fn line(&mut self, from: (f32, f32), to: (f32, f32), stroke: Stroke) {
        self.shapes.push(Shape::Polyline { points: vec![from, to], stroke, tip: String::new() });
    }

    /// Sets the size, with paper under everything.
    pub(crate) fn sized(mut self, width: f32, height: f32) -> Self {
        (self.width, self.height) = (width.ceil(), height.ceil());
        let fill = Some(Paint::Paper);
        let paper = Rect { width: self.width, height: self.height, fill, ..Rect::default() };
        self.shapes.insert(0, Shape::Rect(paper));
        self
    }

    /// Every character of its texts, each once, in order.
    pub(crate) fn characters(&self) -> Vec<char> {
        let texts = self.shapes.iter().filter_map(|shape| match shape {
            Shape::Text(text) => Some(text.content.chars()),
            _ => None,
        });
        let mut characters: Vec<char> = texts.flatten().collect();
        characters.sort_unstable();
        characters.dedup();
        characters
    }

    /// Makes the picture taller, with `note` in the new space (and wider where the note needs it).
    pub(crate) fn footnote(mut self, note: &str) -> Self {
        let size = 10.0;
        let y = self.height + 6.0;
        self.text(Text::new(16.0, y, size, note).coloured(Paint::FaintInk));
        let width = self.width.max(text_width(note, size) + 32.0);
        let height = self.height + 18.0;
        self.sized(width, height)
    }
}
