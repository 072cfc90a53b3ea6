//! The `zh` tokenizer, as sacreBLEU applies it: every Chinese character is a token, the rest is cut as in `13a`.

use super::spacing::{is_space, space_ascii_symbols, space_characters, space_stops_and_dashes};

/// Sets Chinese characters apart, then symbols, stops and dashes.
pub(super) fn space_chinese(line: &str) -> String {
    let spaced = space_characters(line.trim_matches(is_space), is_chinese);
    space_stops_and_dashes(&space_ascii_symbols(&spaced))
}

/// Whether sacreBLEU takes a character for Chinese.
///
/// Two of its ranges are meant to be the extensions above U+20000 but are spelt with four hexadecimal digits and one
/// character more, so they stand for U+2001–U+2A6D and U+2F81–U+2FA1. The curly quotes, dashes and mathematical symbols
/// in them are set apart; the rare ideographs above U+FFFF are not. Scores can only be compared where this is kept.
fn is_chinese(c: char) -> bool {
    matches!(c,
        '\u{3400}'..='\u{4db5}' | '\u{4e00}'..='\u{9fbb}' // ideographs, extension A first
        | '\u{f900}'..='\u{fa2d}' | '\u{fa30}'..='\u{fa6a}' | '\u{fa70}'..='\u{fad9}' // compatibility ideographs
        | '\u{2001}'..='\u{2a6d}' | '\u{2f81}'..='\u{2fa1}' // see above
        | '\u{ff00}'..='\u{ffef}' // full-width and half-width forms
        | '\u{2e80}'..='\u{2eff}' | '\u{2f00}'..='\u{2fdf}' // radicals
        | '\u{2ff0}'..='\u{303f}' // description characters, punctuation
        | '\u{31c0}'..='\u{31ef}' // strokes
        | '\u{3100}'..='\u{312f}' | '\u{31a0}'..='\u{31bf}' // bopomofo
        | '\u{fe10}'..='\u{fe1f}' | '\u{fe30}'..='\u{fe4f}' // vertical and compatibility forms
        | '\u{3200}'..='\u{33ff}' // enclosed letters, compatibility
    )
}
