//! The one font of every picture, and how wide it sets a text.

use crate::label::char_columns;
use skrifa::charmap::Charmap;
use skrifa::instance::{LocationRef, Size};
use skrifa::metrics::GlyphMetrics;
use skrifa::{FontRef, MetadataProvider};
use std::sync::LazyLock;

/// `DejaVu Sans` 2.37 (Latin, Greek, Cyrillic, Hebrew, Arabic, symbols; no CJK). Licence: `fonts/LICENSE`.
pub(crate) static FONT: &[u8] = include_bytes!("../../fonts/DejaVuSans.ttf");

/// The family name inside [`FONT`].
pub(crate) const FAMILY: &str = "DejaVu Sans";

struct Face {
    characters: Charmap<'static>,
    /// For a size of one pixel, so that an advance times the size is a width.
    metrics: GlyphMetrics<'static>,
}

static FACE: LazyLock<Face> = LazyLock::new(|| {
    // The bytes are part of the program and the tests below parse them: this cannot fail on input.
    let font = FontRef::new(FONT).expect("the embedded font is a font");
    let metrics = font.glyph_metrics(Size::new(1.0), LocationRef::default());
    Face { characters: font.charmap(), metrics }
});

/// Width of `text` in pixels at `size` pixels, without kerning.
pub(crate) fn text_width(text: &str, size: f32) -> f32 {
    text.chars().map(|c| char_width(c, size)).sum()
}

/// Width of `c` in pixels at `size` pixels. What the font lacks is taken from the viewer's own fonts: an em for a
/// character of double width, half for others.
pub(crate) fn char_width(c: char, size: f32) -> f32 {
    let glyph = FACE.characters.map(c).and_then(|glyph| FACE.metrics.advance_width(glyph));
    glyph.unwrap_or_else(|| char_columns(c) as f32 / 2.0) * size
}

/// Whether the font has no glyph for `c`, so that a PNG shows an empty box.
pub(crate) fn lacks(c: char) -> bool {
    char_columns(c) > 0 && FACE.characters.map(c).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advances_are_those_of_the_font() {
        // DejaVu Sans, 2048 units per em: 'i' 569, 'm' 1995, space 651.
        assert!((text_width("i", 2048.0) - 569.0).abs() < 0.5);
        assert!((text_width("im m", 2048.0) - (569.0 + 2.0 * 1995.0 + 651.0)).abs() < 1.0);
        assert!((text_width("日本", 10.0) - 20.0).abs() < 1e-6);
    }

    #[test]
    fn what_is_missing_is_known() {
        assert!(lacks('日') && lacks('ක'));
        for c in "aé ж ש ع α → ⇥ ∅ ␣ … \u{fffd}".chars() {
            assert!(!lacks(c), "{c}");
        }
    }
}
