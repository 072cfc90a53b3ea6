//! The first rules: white space, control characters, symbols and runs of dots.

use super::characters::{is_alnum, is_space};

/// A character of the line and the byte where it starts there.
pub(super) type Placed = (char, usize);

/// A space that a rule puts in. It ends up in no token, so its place does not matter.
pub(super) const SPACE: Placed = (' ', 0);

/// The line with spaces around symbols and around runs of two or more dots.
pub(super) fn separate(line: &str) -> Vec<Placed> {
    let clean = clean(line);
    let mut text = Vec::with_capacity(clean.len() * 2);
    for run in trim(&clean).chunk_by(|a, b| a.0 == '.' && b.0 == '.') {
        if run.len() > 1 || is_symbol(run[0].0) {
            text.push(SPACE);
            text.extend(run);
            text.push(SPACE);
        } else {
            text.extend(run);
        }
    }
    text
}

/// One space for each run of white space; control characters go after that, so that two spaces may meet.
fn clean(line: &str) -> Vec<Placed> {
    let mut text = Vec::with_capacity(line.len());
    let mut after_space = false;
    for (at, c) in line.char_indices() {
        let space = is_space(c);
        if space && !after_space {
            text.push(SPACE);
        } else if c > ' ' && !space {
            text.push((c, at));
        }
        after_space = space;
    }
    text
}

fn trim(text: &[Placed]) -> &[Placed] {
    let start = text.iter().position(|&(c, _)| c != ' ').unwrap_or(text.len());
    let end = text.iter().rposition(|&(c, _)| c != ' ').map_or(start, |last| last + 1);
    &text[start..end]
}

/// Symbols always stand alone; the marks named here have rules of their own.
fn is_symbol(c: char) -> bool {
    !is_alnum(c) && !matches!(c, ' ' | '.' | '\'' | '`' | ',' | '-')
}
