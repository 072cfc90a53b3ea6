//! The scale of a colour ramp, from 0 to 1.

use super::colour::Paint;
use super::font::text_width;
use super::scene::{Rect, Scene, Text};

pub(crate) const SMALL_SIZE: f32 = 10.0;
/// Space between parts of a legend.
pub(crate) const GAP: f32 = 6.0;

/// A small word of a legend at `x`, `y` being the upper edge of its line; returns where it ends.
pub(crate) fn word(scene: &mut Scene, (x, y): (f32, f32), content: &str) -> f32 {
    scene.text(Text::new(x, y + 9.0, SMALL_SIZE, content));
    x + text_width(content, SMALL_SIZE)
}

/// The scale with `name` before it; returns where it ends.
pub(crate) fn scale(scene: &mut Scene, (x, y): (f32, f32), name: &str) -> f32 {
    const STEPS: usize = 40;
    const STEP: f32 = 3.0;
    // Whole pixels, so that the steps touch without a seam.
    let mut x = (word(scene, (x, y), &format!("{name} 0")) + GAP).ceil();
    for step in 0..STEPS {
        let fill = Some(Paint::Weight((step as f32 + 0.5) / STEPS as f32));
        scene.rect(Rect { x, y, width: STEP, height: 10.0, fill, ..Rect::default() });
        x += STEP;
    }
    word(scene, (x + GAP, y), "1")
}
