//! The passes that the tokenizers are made of: each sets some characters apart with spaces.
//!
//! A pass over neighbouring characters consumes what it matched, as a regular expression does: in `1..2` the second full
//! stop has no neighbour left.

/// Words between [white space](is_space).
pub(crate) fn split_words(line: &str) -> impl Iterator<Item = &str> {
    line.split(is_space).filter(|word| !word.is_empty())
}

/// White space in Python's sense: Unicode's, and the four separators U+001C to U+001F.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// Resolves `&quot;`, `&amp;`, `&lt;` and `&gt;`, in this order.
pub(crate) fn unescape(line: &str) -> String {
    if line.contains('&') {
        line.replace("&quot;", "\"").replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")
    } else {
        line.to_owned()
    }
}

/// Sets every character apart that is `chosen`.
pub(crate) fn space_characters(line: &str, chosen: impl Fn(char) -> bool) -> String {
    let mut spaced = String::with_capacity(2 * line.len());
    for c in line.chars() {
        if chosen(c) {
            spaced.extend([' ', c, ' ']);
        } else {
            spaced.push(c);
        }
    }
    spaced
}

/// Sets every ASCII symbol apart, but for the apostrophe, the comma, the hyphen and the full stop.
pub(crate) fn space_ascii_symbols(line: &str) -> String {
    space_characters(line, |c| matches!(c, '{'..='~' | '['..='`' | '!'..='&' | '('..='+' | ':'..='@' | '/'))
}

/// Sets apart full stops and commas, except between digits, and hyphens after a digit.
pub(crate) fn space_stops_and_dashes(line: &str) -> String {
    let line = space_pairs(line, |a, b| !a.is_ascii_digit() && is_stop(b), |a, b| [a, ' ', b, ' ']);
    let line = space_pairs(&line, |a, b| is_stop(a) && !b.is_ascii_digit(), |a, b| [' ', a, ' ', b]);
    space_pairs(&line, |a, b| a.is_ascii_digit() && b == '-', |a, b| [a, ' ', b, ' '])
}

fn is_stop(c: char) -> bool {
    matches!(c, '.' | ',')
}

/// Replaces every pair that `matches`, from left to right and without overlap.
pub(crate) fn space_pairs(
    line: &str,
    matches: impl Fn(char, char) -> bool,
    replace: impl Fn(char, char) -> [char; 4],
) -> String {
    let mut spaced = String::with_capacity(line.len() + line.len() / 4);
    let mut rest = line.chars().peekable();
    while let Some(a) = rest.next() {
        if let Some(b) = rest.next_if(|&b| matches(a, b)) {
            spaced.extend(replace(a, b));
        } else {
            spaced.push(a);
        }
    }
    spaced
}
