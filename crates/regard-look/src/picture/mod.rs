//! Drawing: data → [`scene`] → SVG → PNG, and SVG inside HTML; the terminal has a renderer of its own.

pub(crate) mod colour;
pub(crate) mod font;
pub(crate) mod html;
mod matrix;
mod png;
pub(crate) mod scene;
pub(crate) mod svg;
mod terminal;

pub use matrix::HeatmapOptions;
pub use png::PictureError;
pub(crate) use png::png;
pub use terminal::{Colour, heatmap_terminal};

use crate::heatmap::Heatmap;

/// The heatmap as an SVG file: target tokens down, source tokens across, one cell per weight, a scale from 0 to 1.
///
/// Weights above 1 have the colour of 1. Texts name the font `DejaVu Sans, sans-serif`.
#[must_use]
pub fn heatmap_svg(heatmap: &Heatmap, options: &HeatmapOptions) -> String {
    svg::svg(&matrix::scene(heatmap, options))
}

/// The picture of [`heatmap_svg`] as a PNG file, at two pixels per SVG unit (fewer where a side would exceed 8,192).
///
/// Texts are drawn with the font inside this crate, never with fonts of the system. It lacks CJK among others: such
/// characters are boxes, and a footnote counts them.
///
/// # Errors
/// [`PictureError`] where the picture is too large for memory.
pub fn heatmap_png(heatmap: &Heatmap, options: &HeatmapOptions) -> Result<Vec<u8>, PictureError> {
    png(matrix::scene(heatmap, options))
}
