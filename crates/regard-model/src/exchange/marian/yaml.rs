//! The YAML that Marian writes: one mapping, whose values are scalars or lists of scalars.
//!
//! Its configurations and vocabularies are no more than that: `key: value` lines, lists one `- item` a line or in brackets,
//! keys plain or quoted, long ones after `?`. Whatever else the language has is refused with its line.

use std::collections::BTreeMap;

/// The value of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Scalar(String),
    List(Vec<String>),
}

/// Reads a mapping; its keys are distinct.
pub(super) fn mapping(text: &str) -> Result<BTreeMap<String, Value>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.split('\n').map(|line| line.trim_end_matches(['\r', ' ', '\t']));
    let mut entries = BTreeMap::new();
    let mut open = Open::Nothing;
    for (number, line) in (1..).zip(lines) {
        let problem = |problem: &str| format!("line {number} {problem}: {}", shown(line));
        if line.is_empty() || line.starts_with('#') || ["---", "..."].contains(&line) {
            continue;
        }
        let part = line.trim_start_matches([' ', '\t']);
        let inner = part.len() < line.len() || part == "-" || part.starts_with("- ");
        open = match open {
            Open::Key(key) => {
                let value = part
                    .strip_prefix(": ")
                    .ok_or_else(|| problem("has no `: value` for the key before it"))?;
                insert(&mut entries, key, value).map_err(|text| problem(&text))?
            }
            Open::List(key) if inner => {
                add(&mut entries, &key, part).map_err(|text| problem(&text))?;
                Open::List(key)
            }
            _ if inner => return Err(problem("is indented, and no list is open")),
            _ => entry(&mut entries, part).map_err(|text| problem(&text))?,
        };
    }
    match open {
        Open::Key(key) => Err(format!("the last key, {}, has no value", shown(&key))),
        _ => Ok(entries),
    }
}

/// What the next line may continue.
enum Open {
    Nothing,
    /// A key after `?`, whose value follows.
    Key(String),
    /// A key without a value, whose list may follow.
    List(String),
}

/// A line that begins an entry.
fn entry(entries: &mut BTreeMap<String, Value>, line: &str) -> Result<Open, String> {
    if let Some(key) = line.strip_prefix("? ") {
        return Ok(Open::Key(whole(key)?));
    }
    let (key, value) = split(line)?;
    insert(entries, key, value)
}

fn insert(entries: &mut BTreeMap<String, Value>, key: String, value: &str) -> Result<Open, String> {
    let value = value.trim_start_matches([' ', '\t']);
    let open = if value.is_empty() { Open::List(key.clone()) } else { Open::Nothing };
    let value =
        if value.starts_with('[') { Value::List(bracketed(value)?) } else { Value::Scalar(whole(value)?) };
    match entries.insert(key, value) {
        None => Ok(open),
        Some(_) => Err("has a key that is there already".to_owned()),
    }
}

/// Adds a line of a list to the value of `key`, which is empty before the first one.
fn add(entries: &mut BTreeMap<String, Value>, key: &str, line: &str) -> Result<(), String> {
    let items = match line.strip_prefix('-') {
        Some(item) => vec![whole(item.trim_start_matches([' ', '\t']))?],
        None if line.starts_with('[') => bracketed(line)?,
        None => return Err("is no item of a list".to_owned()),
    };
    match entries.get_mut(key) {
        Some(Value::List(list)) => list.extend(items),
        Some(value) => *value = Value::List(items),
        None => {}
    }
    Ok(())
}

/// `[a, b]`: plain items.
fn bracketed(text: &str) -> Result<Vec<String>, String> {
    let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let items = inside.ok_or("has a list that does not end")?.split(',').map(str::trim);
    items.filter(|item| !item.is_empty()).map(whole).collect()
}

/// `key: value` in two; the value is empty where there is none.
fn split(line: &str) -> Result<(String, &str), String> {
    let no_colon = || "has no `key: value`".to_owned();
    if line.starts_with(['"', '\'']) {
        let (key, rest) = quoted(line)?;
        let rest = rest.trim_start_matches([' ', '\t']);
        return Ok((key, rest.strip_prefix(':').ok_or_else(no_colon)?));
    }
    let (key, value) = match line.split_once(": ") {
        Some(parts) => parts,
        None => (line.strip_suffix(':').ok_or_else(no_colon)?, ""),
    };
    Ok((plain(key)?, value))
}

/// A scalar that is all of `text`.
fn whole(text: &str) -> Result<String, String> {
    if !text.starts_with(['"', '\'']) {
        return plain(text);
    }
    match quoted(text)? {
        (scalar, "") => Ok(scalar),
        _ => Err("goes on after a quotation".to_owned()),
    }
}

/// A scalar without quotes.
fn plain(text: &str) -> Result<String, String> {
    match text.chars().next() {
        Some(sign) if "[]{},#&*!|>%@`".contains(sign) && text.len() > 1 => {
            Err(format!("has a scalar that begins with `{sign}`, which is not read"))
        }
        _ => Ok(text.trim_end_matches([' ', '\t']).to_owned()),
    }
}

/// A scalar in quotes, and what follows it.
fn quoted(text: &str) -> Result<(String, &str), String> {
    let mut scalar = String::new();
    let mut characters = text.chars();
    let quote = characters.next();
    while let Some(character) = characters.next() {
        match character {
            '\'' if quote == Some('\'') => match characters.as_str().strip_prefix('\'') {
                Some(rest) => {
                    scalar.push('\'');
                    characters = rest.chars();
                }
                None => return Ok((scalar, characters.as_str())),
            },
            '"' if quote == Some('"') => return Ok((scalar, characters.as_str())),
            '\\' if quote == Some('"') => scalar.push(escaped(&mut characters)?),
            other => scalar.push(other),
        }
    }
    Err("has a quotation that does not end".to_owned())
}

/// The character of an escape sequence, from after its backslash on.
fn escaped(characters: &mut std::str::Chars) -> Result<char, String> {
    let sign = characters.next().unwrap_or_default();
    let digits = match sign {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => 0,
    };
    if digits > 0 {
        let code = characters.as_str().get(..digits).and_then(|code| u32::from_str_radix(code, 16).ok());
        let found = code.and_then(char::from_u32).ok_or_else(|| format!("has a bad `\\{sign}`"))?;
        *characters = characters.as_str()[digits..].chars();
        return Ok(found);
    }
    Ok(match sign {
        '0' => '\0',
        'a' => '\u{7}',
        'b' => '\u{8}',
        't' => '\t',
        'n' => '\n',
        'v' => '\u{b}',
        'f' => '\u{c}',
        'r' => '\r',
        'e' => '\u{1b}',
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        '"' | '\\' | '/' | ' ' => sign,
        _ => return Err(format!("has an unknown escape `\\{sign}`")),
    })
}

/// The beginning of a line, for a message.
fn shown(line: &str) -> String {
    let start: String = line.chars().take(40).collect();
    if start.len() < line.len() { format!("`{start}…`") } else { format!("`{line}`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar(text: &str) -> Value {
        Value::Scalar(text.to_owned())
    }

    fn list(items: &[&str]) -> Value {
        Value::List(items.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn what_marian_writes() {
        let text = "dec-cell: gru\ndim-vocabs:\n  - 800\n  - 900\ninput-types:\n  []\nempty: \"\"\nnone:\n\
                    sep: \"[eos]\"\nversion: v1.12.42 b7be 2025-05-24 22:34:42 -0700     \nmodels:\n- a b.npz\nflow: [1, 2]";
        let expected = [
            ("dec-cell", scalar("gru")),
            ("dim-vocabs", list(&["800", "900"])),
            ("empty", scalar("")),
            ("flow", list(&["1", "2"])),
            ("input-types", list(&[])),
            ("models", list(&["a b.npz"])),
            ("none", scalar("")),
            ("sep", scalar("[eos]")),
            ("version", scalar("v1.12.42 b7be 2025-05-24 22:34:42 -0700")),
        ];
        assert_eq!(
            mapping(text).unwrap().into_iter().collect::<Vec<_>>(),
            expected.map(|(k, v)| (k.to_owned(), v))
        );
    }

    #[test]
    fn the_oddities_of_vocabularies() {
        for (line, token) in [
            ("</s>: 7", "</s>"),
            ("\",\": 7", ","),
            ("d'un: 7", "d'un"),
            ("'it''s': 7", "it's"),
            ("a:b: 7", "a:b"),
            ("\": \": 7", ": "),
            ("\"\\\"\": 7", "\""),
            ("\"\\\\\" : 7", "\\"),
            ("\"\\x85\\u2581\\U0001F600\": 7", "\u{85}\u{2581}\u{1f600}"),
            ("? \"long\"\n: 7", "long"),
            ("~: 7", "~"),
            ("\u{a0}: 7", "\u{a0}"),
            ("-5: 7", "-5"),
            ("▁the: 7 ", "▁the"),
            ("--: 7\r", "--"),
        ] {
            assert_eq!(mapping(line).unwrap(), BTreeMap::from([(token.to_owned(), scalar("7"))]), "{line}");
        }
    }

    #[test]
    fn what_is_not_read_is_refused_with_its_line() {
        for (text, message) in [
            ("a: 1\na: 2", "line 2 has a key that is there already: `a: 2`"),
            ("a", "line 1 has no `key: value`: `a`"),
            ("a: 1\n  b: 2", "line 2 is indented, and no list is open: `  b: 2`"),
            ("a:\n  b: 2", "line 2 is no item of a list: `  b: 2`"),
            ("a: |\n  text", "line 2 is indented"),
            ("a: {b: 1}", "line 1 has a scalar that begins with `{`"),
            ("a: [1, 2", "line 1 has a list that does not end"),
            ("\"a: 1", "line 1 has a quotation that does not end"),
            ("\"\\q\": 1", "line 1 has an unknown escape `\\q`"),
            ("\"\\ud800\": 1", "line 1 has a bad `\\u`"),
            ("\"\\xé\": 1", "line 1 has a bad `\\x`"),
            ("a: \"b\" c", "line 1 goes on after a quotation"),
            ("? a\nb: 1", "line 2 has no `: value` for the key before it"),
            ("? a", "the last key, `a`, has no value"),
        ] {
            let found = mapping(text).unwrap_err();
            assert!(found.starts_with(message), "{found}");
        }
    }
}
