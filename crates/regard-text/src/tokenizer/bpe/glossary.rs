//! Glossaries: patterns whose matches are never cut.

use regex::Regex;

use crate::error::TextError;

/// Patterns of subword-nmt's `--glossaries`: what one matches in a word stands alone there, as a single piece.
#[derive(Clone, Debug)]
pub(super) struct Glossaries {
    patterns: Vec<String>,
    /// One of each pattern.
    parts: Vec<Regex>,
    /// Any of them, as a whole.
    whole: Regex,
}

impl Glossaries {
    /// # Errors
    /// [`TextError::BadGlossary`] for what is no regular expression, or matches the empty string.
    pub(super) fn new(patterns: Vec<String>) -> Result<Self, TextError> {
        let compile = |pattern: &str, written: &str| {
            Regex::new(written).map_err(|error| TextError::BadGlossary {
                pattern: pattern.to_owned(),
                problem: error.to_string(),
            })
        };
        let parts =
            patterns.iter().map(|pattern| compile(pattern, pattern)).collect::<Result<Vec<_>, _>>()?;
        if let Some((pattern, _)) = patterns.iter().zip(&parts).find(|(_, regex)| regex.is_match("")) {
            let problem = "it matches the empty string".to_owned();
            return Err(TextError::BadGlossary { pattern: pattern.clone(), problem });
        }
        let all = patterns.join("|");
        let whole = compile(&all, &format!("^(?:{all})$"))?;
        Ok(Self { patterns, parts, whole })
    }

    pub(super) fn patterns(&self) -> &[String] {
        &self.patterns
    }

    /// Whether a part of a word is a match as a whole.
    pub(super) fn is_match(&self, part: &str) -> bool {
        self.whole.is_match(part)
    }

    /// The parts of a word: matches and what is between them. Each pattern cuts what the ones before it left.
    pub(super) fn isolate<'a>(&self, word: &'a str) -> Vec<&'a str> {
        let mut parts = vec![word];
        for pattern in &self.parts {
            parts = parts.into_iter().flat_map(|part| cut(pattern, part)).collect();
        }
        parts
    }
}

fn cut<'a>(pattern: &Regex, word: &'a str) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let mut end = 0;
    for found in pattern.find_iter(word) {
        parts.extend([word.get(end..found.start()), word.get(found.range())].into_iter().flatten());
        end = found.end();
    }
    parts.extend(word.get(end..));
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glossaries(patterns: &[&str]) -> Result<Glossaries, TextError> {
        Glossaries::new(patterns.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn matches_stand_alone() {
        let glossaries = glossaries(&["USA", r"\d+"]).unwrap();
        assert_eq!(glossaries.isolate("1934USABUSA"), ["1934", "USA", "B", "USA"]);
        assert_eq!(glossaries.isolate("word"), ["word"]);
        assert!(glossaries.is_match("USA") && glossaries.is_match("12") && !glossaries.is_match("USAB"));
    }

    #[test]
    fn mistakes_are_named() {
        assert!(glossaries(&["("]).unwrap_err().to_string().contains("glossary `(`"));
        assert!(glossaries(&["a*"]).unwrap_err().to_string().contains("empty string"));
    }
}
