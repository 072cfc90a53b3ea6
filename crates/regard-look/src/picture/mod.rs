//! Drawing: data → [`scene`] → SVG → PNG, and SVG inside HTML; the terminal has a renderer of its own.

pub(crate) mod colour;
pub(crate) mod font;
pub(crate) mod html;
mod matrix;
mod png;
pub(crate) mod scale;
pub(crate) mod scene;
mod svg;
mod terminal;

pub use colour::Theme;
pub use font::{Font, FontError};
pub use matrix::HeatmapOptions;
pub use png::PictureError;
pub use terminal::{Colour, TerminalOptions, heatmap_terminal};

use crate::heatmap::Heatmap;
use scene::Scene;

/// A picture that is laid out, to be written as SVG, as PNG or in a [`crate::Report`].
#[derive(Debug, Clone, PartialEq)]
pub struct Picture(pub(crate) Scene);

impl Picture {
    /// An SVG file. Texts name the font `DejaVu Sans, sans-serif`.
    #[must_use]
    pub fn svg(&self, theme: Theme) -> String {
        svg::svg_in(&self.0, theme, font::FAMILY)
    }

    /// A PNG file, at two pixels per SVG unit (fewer where a side would exceed 8,192).
    ///
    /// Texts are drawn with the given font and with the one inside this crate, never with fonts of the system. The latter
    /// lacks CJK among others: such characters are boxes, and a footnote counts them.
    ///
    /// # Errors
    /// [`PictureError`] where the picture is too large for memory.
    pub fn png(&self, theme: Theme, font: Option<&Font>) -> Result<Vec<u8>, PictureError> {
        png::png(&self.0, theme, font)
    }

    /// The characters that are boxes in [`png`](Self::png), each once, in order.
    #[must_use]
    pub fn missing_characters(&self, font: Option<&Font>) -> Vec<char> {
        png::missing(&self.0, font)
    }
}

impl Heatmap {
    /// Target tokens down, source tokens across, one cell per weight, a scale from 0 to 1. Weights above 1 have the colour
    /// of 1.
    #[must_use]
    pub fn picture(&self, options: &HeatmapOptions) -> Picture {
        Picture(matrix::scene(self, options))
    }
}

/// [`Heatmap::picture`] as SVG on white paper.
#[must_use]
pub fn heatmap_svg(heatmap: &Heatmap, options: &HeatmapOptions) -> String {
    heatmap.picture(options).svg(Theme::Light)
}

/// [`Heatmap::picture`] as PNG on white paper, with the built-in font.
///
/// # Errors
/// [`PictureError`] where the picture is too large for memory.
pub fn heatmap_png(heatmap: &Heatmap, options: &HeatmapOptions) -> Result<Vec<u8>, PictureError> {
    heatmap.picture(options).png(Theme::Light, None)
}
