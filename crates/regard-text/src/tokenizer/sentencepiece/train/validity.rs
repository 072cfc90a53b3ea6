//! Which strings may be pieces.

use unicode_script::{Script, UnicodeScript};

use super::corpus::{BOUNDARY, MARK, UNCOVERED};

/// Characters of the longest piece.
pub(super) const MAX_LENGTH: usize = 16;

/// The script of a character, as far as pieces go: Japanese mixes three of them in a word.
pub(super) fn script(character: char) -> Script {
    match character.script() {
        Script::Hiragana | Script::Katakana => Script::Han,
        // The long vowel mark, which is common to two scripts.
        _ if character == 'ー' => Script::Han,
        script => script,
    }
}

/// Whether characters, given with their scripts, may be a piece: not too long, of one script, the mark `▁` only in front.
pub(super) fn is_valid(characters: &[char], scripts: &[Script]) -> bool {
    if characters.is_empty() || characters.len() > MAX_LENGTH {
        return false;
    }
    let mut before = None;
    for (place, (&character, &script)) in characters.iter().zip(scripts).enumerate() {
        match character {
            MARK if place > 0 => return false,
            MARK => {}
            BOUNDARY | UNCOVERED | ' ' => return false,
            _ => {
                // A combining mark belongs to what it stands on.
                let script = if script == Script::Inherited { before } else { Some(script) };
                if before.is_some() && script.is_some() && before != script {
                    return false;
                }
                before = script;
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_and_marks() {
        let valid = |text: &str| {
            let characters: Vec<char> = text.chars().collect();
            is_valid(&characters, &characters.iter().map(|&c| script(c)).collect::<Vec<_>>())
        };
        for text in ["▁the", "▁", "e\u{301}t", "走るラーメン", ".,3", "クー"] {
            assert!(valid(text), "{text}");
        }
        for text in ["", "the▁", "3rd", "aя", "a\0", "a b", "aaaaaaaaaaaaaaaaa"] {
            assert!(!valid(text), "{text}");
        }
    }
}
