//! A scene as PNG: its SVG, drawn by resvg with the embedded font, a given one, and no other.

use super::colour::Theme;
use super::font::{FAMILY, FONT, Font, lacks};
use super::scene::Scene;
use super::svg::svg_in;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use std::borrow::Cow;
use std::sync::{Arc, LazyLock};
use thiserror::Error;

/// Why a picture did not become a PNG.
#[derive(Debug, Error)]
pub enum PictureError {
    /// The picture does not fit into memory.
    #[error("a picture of {width} × {height} pixels cannot be drawn as PNG: write SVG instead")]
    Size {
        /// In pixels.
        width: u32,
        /// In pixels.
        height: u32,
    },
    /// The renderer refused the SVG.
    #[error("the picture could not be drawn: {0}")]
    Render(#[from] resvg::usvg::Error),
    /// The encoder failed.
    #[error("the picture could not be encoded as PNG: {0}")]
    Encode(String),
}

/// Pixels per SVG unit: sharp on dense screens and in print.
const SCALE: f32 = 2.0;
/// No side gets longer than this; larger pictures are drawn smaller.
const LONGEST_SIDE: f32 = 8192.0;

/// The embedded font, loaded once.
static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_source(fontdb::Source::Binary(Arc::new(FONT)));
    fonts.set_sans_serif_family(FAMILY);
    Arc::new(fonts)
});

/// Bytes of a PNG file at two pixels per unit. Characters that the fonts lack are boxes, and a footnote says so.
pub(crate) fn png(scene: &Scene, theme: Theme, font: Option<&Font>) -> Result<Vec<u8>, PictureError> {
    let mut scene = Cow::Borrowed(scene);
    let missing = missing(&scene, font).len();
    if missing > 0 {
        let are = if missing == 1 { "character is a box" } else { "characters are boxes" };
        let fonts = if font.is_some() { "not in the fonts" } else { "not in the built-in font" };
        let note = format!("{missing} {are}: {fonts}. The SVG shows all text.");
        scene = Cow::Owned(scene.into_owned().footnote(&note));
    }
    let family = font.map_or(FAMILY.to_owned(), |font| format!("'{}'", font.family.replace('\'', "\\'")));
    let options = Options { font_family: FAMILY.into(), fontdb: fonts(font), ..Options::default() };
    let tree = Tree::from_str(&svg_in(&scene, theme, &family), &options)?;
    let scale = SCALE.min(LONGEST_SIDE / scene.width.max(scene.height));
    let (width, height) = ((scene.width * scale).ceil() as u32, (scene.height * scale).ceil() as u32);
    let mut pixmap = Pixmap::new(width, height).ok_or(PictureError::Size { width, height })?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| PictureError::Encode(error.to_string()))
}

/// Different characters of the picture that neither font can draw, in order.
pub(crate) fn missing(scene: &Scene, font: Option<&Font>) -> Vec<char> {
    scene.characters().into_iter().filter(|&c| lacks(c, font)).collect()
}

fn fonts(font: Option<&Font>) -> Arc<fontdb::Database> {
    let Some(font) = font else { return FONTS.clone() };
    let mut fonts = (**FONTS).clone();
    fonts.load_font_source(fontdb::Source::Binary(font.bytes.clone()));
    Arc::new(fonts)
}
