//! Characters that a token may not hold as they are, since Moses' phrase tables give them a meaning.

/// Names and characters. The first of a character is written, all are read.
const ENTITIES: &[(&str, char)] = &[
    ("&amp;", '&'),
    ("&#124;", '|'),
    ("&lt;", '<'),
    ("&gt;", '>'),
    ("&apos;", '\''),
    ("&quot;", '"'),
    ("&#91;", '['),
    ("&#93;", ']'),
    ("&bar;", '|'),
    ("&bra;", '['),
    ("&ket;", ']'),
];

pub(super) fn escape(token: &str) -> String {
    let mut out = String::with_capacity(token.len());
    for c in token.chars() {
        match ENTITIES.iter().find(|&&(_, named)| named == c) {
            Some((name, _)) => out.push_str(name),
            None => out.push(c),
        }
    }
    out
}

/// Each entity becomes its character, once: `&amp;lt;` is `&lt;`.
pub(super) fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let entity = &rest[at..];
        let found = ENTITIES.iter().find(|(name, _)| entity.starts_with(name));
        let (c, length) = found.map_or(('&', 1), |&(name, c)| (c, name.len()));
        out.push(c);
        rest = &entity[length..];
    }
    out + rest
}

/// Dots for `DOTMULTI`, `DOTDOTMULTI` and so on, a dot for each `DOT`. Moses writes runs of dots so while it works, and
/// cannot tell its own words from the text's; what a model has learned from its tokens depends on that.
pub(super) fn restore_dots(token: String) -> String {
    if !token.contains("DOTMULTI") {
        return token;
    }
    let mut out = String::new();
    let mut rest = token.as_str();
    while let Some((before, after)) = rest.split_once("MULTI") {
        let stem = before.trim_end_matches("DOT");
        let dots = (before.len() - stem.len()) / "DOT".len();
        out.push_str(stem);
        out.push_str(&if dots == 0 { "MULTI".to_owned() } else { ".".repeat(dots) });
        rest = after;
    }
    out + rest
}
