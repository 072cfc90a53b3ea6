//! Abbreviations, whose period does not end a sentence.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::MosesLanguage;

/// When the period after an abbreviation is part of it.
#[derive(Clone, Copy)]
pub(super) enum Prefix {
    Always,
    BeforeNumber,
}

type Prefixes = LazyLock<HashMap<&'static str, Prefix>>;

static ENGLISH: Prefixes = LazyLock::new(|| parse(include_str!("prefixes/en.txt")));
static FRENCH: Prefixes = LazyLock::new(|| parse(include_str!("prefixes/fr.txt")));
static GERMAN: Prefixes = LazyLock::new(|| parse(include_str!("prefixes/de.txt")));

/// Moses' format: one a line, `#` before comments, and a mark after those that only count before a number.
fn parse(list: &'static str) -> HashMap<&'static str, Prefix> {
    list.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| match line.strip_suffix(" #NUMERIC_ONLY#") {
            Some(word) => (word, Prefix::BeforeNumber),
            None => (line, Prefix::Always),
        })
        .collect()
}

/// What is known of `word`, given without its period.
pub(super) fn prefix(word: &str, language: MosesLanguage) -> Option<Prefix> {
    let prefixes = match language {
        MosesLanguage::En => &ENGLISH,
        MosesLanguage::Fr => &FRENCH,
        MosesLanguage::De => &GERMAN,
    };
    prefixes.get(word).copied()
}
