//! The font inside this crate, how wide it sets a text, and fonts that a user gives.

use crate::label::{char_columns, ellipsise, visible};
use resvg::usvg::fontdb::{Database, FaceInfo, Source, Style, Weight};
use skrifa::charmap::Charmap;
use skrifa::instance::{LocationRef, Size};
use skrifa::metrics::GlyphMetrics;
use skrifa::string::StringId;
use skrifa::{FontRef, MetadataProvider};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use thiserror::Error;

/// `DejaVu Sans` 2.37, complete (Latin, Greek, Cyrillic, Hebrew, Arabic, symbols; no CJK). Licence: `fonts/LICENSE`.
pub(crate) static FONT: &[u8] = include_bytes!("../../fonts/DejaVuSans.ttf");

/// The family name inside [`FONT`].
pub(crate) const FAMILY: &str = "DejaVu Sans";

/// A font for the texts of a PNG: TrueType or OpenType, or the first of a collection. What it lacks is taken from the
/// font inside this crate.
///
/// Layouts are those of the built-in font, which is a wide one.
#[derive(Debug, Clone)]
pub struct Font {
    pub(crate) bytes: Arc<Vec<u8>>,
    pub(crate) family: String,
}

/// Bytes that are no font.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("is no font that can be read: give a .ttf, .otf or .ttc file")]
pub struct FontError;

impl Font {
    /// Reads a font file.
    ///
    /// # Errors
    /// [`FontError`] where the bytes are no font with a name and a table of characters.
    pub fn new(bytes: Vec<u8>) -> Result<Self, FontError> {
        let font = FontRef::from_index(&bytes, 0).map_err(|_| FontError)?;
        let names = || font.localized_strings(StringId::TYPOGRAPHIC_FAMILY_NAME);
        let family = names()
            .english_or_first()
            .or_else(|| font.localized_strings(StringId::FAMILY_NAME).english_or_first());
        let family = family.ok_or(FontError)?.to_string();
        if !font.charmap().has_map() {
            return Err(FontError);
        }
        Ok(Self { bytes: Arc::new(bytes), family })
    }

    /// The font of this machine that has most of these characters; of several the regular one, then the first by its path. None where
    /// none has any.
    #[must_use]
    pub fn of_system(characters: &[char]) -> Option<Self> {
        let mut fonts = Database::new();
        fonts.load_system_fonts();
        let is_regular = |face: &FaceInfo| face.weight == Weight::NORMAL && face.style == Style::Normal;
        let file = |face: &FaceInfo| Some((!is_regular(face), path(&face.source)?));
        let files: BTreeSet<(bool, PathBuf)> = fonts.faces().filter_map(file).collect();
        let (mut best, mut most) = (None, 0);
        for font in files.iter().filter_map(|(_, file)| Self::new(std::fs::read(file).ok()?).ok()) {
            let count = characters.iter().filter(|&&c| font.has(c)).count();
            if count > most {
                (best, most) = (Some(font), count);
            }
        }
        best
    }

    /// What the font calls itself.
    #[must_use]
    pub fn family(&self) -> &str {
        &self.family
    }

    fn has(&self, c: char) -> bool {
        FontRef::from_index(&self.bytes, 0).is_ok_and(|font| font.charmap().map(c).is_some())
    }
}

fn path(source: &Source) -> Option<PathBuf> {
    if let Source::File(path) = source { Some(path.clone()) } else { None }
}

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

/// `text` as readers may see it, cut to `width` pixels at `size` pixels; no text stays none.
pub(crate) fn fit(text: &str, width: f32, size: f32) -> String {
    if text.is_empty() {
        return String::new();
    }
    ellipsise(&visible(text), width, |c| char_width(c, size))
}

/// Whether neither the font inside this crate nor the given one has a glyph for `c`, so that a PNG shows an empty box.
pub(crate) fn lacks(c: char, font: Option<&Font>) -> bool {
    char_columns(c) > 0 && FACE.characters.map(c).is_none() && !font.is_some_and(|font| font.has(c))
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
        assert!(lacks('日', None) && lacks('ක', None));
        for c in "aé ж ש ع α → ⇥ ∅ ␣ … \u{fffd}".chars() {
            assert!(!lacks(c, None), "{c}");
        }
    }

    #[test]
    fn every_letter_of_five_scripts_is_there() {
        let scripts =
            ['A'..='Z', 'À'..='ſ', 'Α'..='Ω', 'α'..='ω', 'А'..='я', 'א'..='ת', 'ء'..='غ', 'ف'..='ي'];
        let lacking: String = scripts
            .into_iter()
            .flatten()
            // One place among the Greek capitals is free.
            .filter(|&c| c != '\u{3a2}' && lacks(c, None))
            .collect();
        assert!(!lacking.contains(char::is_alphabetic), "{lacking}");
    }

    #[test]
    fn a_given_font_is_read_and_anything_else_refused() {
        let font = Font::new(FONT.to_vec()).unwrap();
        assert_eq!(font.family, FAMILY);
        assert!(font.has('a') && !font.has('日') && lacks('日', Some(&font)));
        for bytes in [Vec::new(), b"text".to_vec(), FONT[..100].to_vec(), vec![0; 1000]] {
            assert_eq!(Font::new(bytes).unwrap_err(), FontError);
        }
    }
}
