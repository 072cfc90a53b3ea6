//! Files of links, in two formats that are told apart by their first token.
//!
//! - Pharaoh, a line for each sentence pair: `0-0 1-2 2p2`, where `-` is a sure link and `p` a possible one. A blank line is
//!   a pair without links.
//! - The format of the shared tasks of NAACL 2003 and ACL 2005 (<https://aclanthology.org/W03-0301>), a line for each
//!   link: `sentence source target`, and then `S` (sure, also where nothing stands) or `P` (possible). Sentences count from
//!   1, positions too unless the caller says otherwise.

use super::links::{GoldLinks, Links};
use thiserror::Error;

/// The most sentences that a file in NAACL's format may number.
const MAX_SENTENCES: usize = 1_000_000;
/// As much of a malformed line as a message shows, in characters.
const SHOWN: usize = 40;

const PHARAOH: &str = "`source-target` or, for a possible link, source`p`target, such as 0-0 or 3p4";
const NAACL: &str =
    "`sentence source target`, then S, P or nothing, such as 18 1 2 P, with sentences from 1 to 1000000";

/// Why a file of links cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AlignmentError {
    /// Something that is no link.
    #[error("{file}:{line}: {found:?} is no link: expected {expected}")]
    Malformed {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What stands there, cut where it is long.
        found: String,
        /// What a link looks like in this file.
        expected: &'static str,
    },
    /// A position before the first word.
    #[error(
        "{file}:{line}: {found:?} has a position below {base}, where positions count from {base}: \
         name another base, or leave out links to no word"
    )]
    BelowBase {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The link.
        found: String,
        /// The position of a first word.
        base: usize,
    },
}

/// The links of a file, sentence by sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlignmentFile {
    /// The links of each sentence pair, in order.
    pub sentences: Vec<GoldLinks>,
    /// Whether sentences without links may follow that the file does not tell of, as in NAACL's format.
    open_end: bool,
}

impl AlignmentFile {
    /// Reads the lines of a file; `file` is its name for messages, `base` the position of a first word: where none is given,
    /// 0 in Pharaoh's format and 1 in NAACL's.
    ///
    /// ```
    /// use regard_eval::AlignmentFile;
    /// let pharaoh = AlignmentFile::parse("gold", &["1-1 2p3", ""], Some(1))?;
    /// let mut naacl = AlignmentFile::parse("gold.wa", &["1 1 1 S", "1 2 3 P"], None)?;
    /// naacl.extend_to(2);
    /// assert_eq!(pharaoh.sentences, naacl.sentences);
    /// # Ok::<(), regard_eval::AlignmentError>(())
    /// ```
    ///
    /// # Errors
    /// [`AlignmentError`], for the first token that is no link.
    pub fn parse(file: &str, lines: &[impl AsRef<str>], base: Option<usize>) -> Result<Self, AlignmentError> {
        let first = lines.iter().find_map(|line| tokens(line.as_ref()).next());
        let open_end = first.is_some_and(|token| number(token).is_some());
        let reader = Reader { file, base: base.unwrap_or(usize::from(open_end)) };
        let lines = lines.iter().map(AsRef::as_ref).zip(1..);
        let sentences = if open_end {
            reader.naacl(lines)?
        } else {
            lines.map(|(text, line)| reader.pharaoh(line, text)).collect::<Result<_, _>>()?
        };
        Ok(Self { sentences, open_end })
    }

    /// Adds sentences without links up to this number where the format leaves them out: NAACL's ends with the last
    /// sentence that has a link. A file in Pharaoh's format stays as it is.
    pub fn extend_to(&mut self, sentences: usize) {
        if self.open_end && self.sentences.len() < sentences {
            self.sentences.resize_with(sentences, GoldLinks::default);
        }
    }

    /// The links of each sentence pair, whatever their kind.
    #[must_use]
    pub fn links(&self) -> Vec<Links> {
        self.sentences.iter().map(|sentence| sentence.possible().clone()).collect()
    }
}

struct Reader<'a> {
    file: &'a str,
    base: usize,
}

impl Reader<'_> {
    fn pharaoh(&self, line: usize, text: &str) -> Result<GoldLinks, AlignmentError> {
        let mut links = GoldLinks::default();
        for token in tokens(text) {
            let (source, target, sure) =
                split_link(token).ok_or_else(|| self.malformed(line, token, PHARAOH))?;
            links.insert(self.rebased(line, token, (source, target))?, sure);
        }
        Ok(links)
    }

    fn naacl<'a>(
        &self,
        lines: impl Iterator<Item = (&'a str, usize)>,
    ) -> Result<Vec<GoldLinks>, AlignmentError> {
        let mut sentences: Vec<GoldLinks> = Vec::new();
        for (text, line) in lines.filter(|(text, _)| tokens(text).next().is_some()) {
            let (sentence, link, sure) =
                split_fields(text).ok_or_else(|| self.malformed(line, text, NAACL))?;
            if sentences.len() < sentence {
                sentences.resize_with(sentence, GoldLinks::default);
            }
            let link = self.rebased(line, text, link)?;
            if let Some(links) = sentences.get_mut(sentence - 1) {
                links.insert(link, sure);
            }
        }
        Ok(sentences)
    }

    fn rebased(
        &self,
        line: usize,
        found: &str,
        (source, target): (usize, usize),
    ) -> Result<(usize, usize), AlignmentError> {
        let link = source.checked_sub(self.base).zip(target.checked_sub(self.base));
        link.ok_or_else(|| AlignmentError::BelowBase {
            file: self.file.to_owned(),
            line,
            found: shown(found),
            base: self.base,
        })
    }

    fn malformed(&self, line: usize, found: &str, expected: &'static str) -> AlignmentError {
        AlignmentError::Malformed { file: self.file.to_owned(), line, found: shown(found), expected }
    }
}

fn tokens(line: &str) -> impl Iterator<Item = &str> {
    line.split([' ', '\t']).filter(|token| !token.is_empty())
}

/// A number of digits alone: no sign.
fn number(digits: &str) -> Option<usize> {
    digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Source, target, and whether the link is sure.
fn split_link(token: &str) -> Option<(usize, usize, bool)> {
    let sure = token.contains('-');
    let (source, target) = token.split_once(if sure { '-' } else { 'p' })?;
    Some((number(source)?, number(target)?, sure))
}

/// The sentence from 1, its link, and whether the link is sure.
fn split_fields(line: &str) -> Option<(usize, (usize, usize), bool)> {
    let fields: Vec<&str> = tokens(line).collect();
    let (&[sentence, source, target], kind) = fields.split_first_chunk()?;
    let sure = match kind {
        [] | ["S"] => true,
        ["P"] => false,
        _ => return None,
    };
    let sentence = number(sentence).filter(|sentence| (1..=MAX_SENTENCES).contains(sentence))?;
    Some((sentence, (number(source)?, number(target)?), sure))
}

fn shown(found: &str) -> String {
    match found.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &found[..end]),
        None => found.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(lines: &[&str], base: Option<usize>) -> String {
        AlignmentFile::parse("links", lines, base).unwrap_err().to_string()
    }

    #[test]
    fn sure_links_are_possible_too() {
        let file = AlignmentFile::parse("links", &["1-2  3p4\t1p2 ", "", "7p1"], None).unwrap();
        let (sure, possible) = (Links::from([(1, 2)]), Links::from([(1, 2), (3, 4)]));
        let expected = [
            GoldLinks::new(sure, possible.clone()),
            GoldLinks::default(),
            GoldLinks::new(Links::new(), [(7, 1)].into()),
        ];
        assert_eq!(file.sentences, expected);
        assert_eq!(file.links()[0], possible);
    }

    #[test]
    fn naacl_counts_sentences() {
        let lines = ["0003 2 5", "", "0001 1 1 P", "3 1 1 S", "0001 1 1 S"];
        let mut file = AlignmentFile::parse("links", &lines, None).unwrap();
        file.extend_to(4);
        let sure = |links: &[(usize, usize)]| GoldLinks::new(links.iter().copied().collect(), Links::new());
        assert_eq!(file.sentences, [sure(&[(0, 0)]), sure(&[]), sure(&[(1, 4), (0, 0)]), sure(&[])]);
        file.extend_to(2);
        assert_eq!(file.sentences.len(), 4);
        let from_zero = AlignmentFile::parse("links", &lines, Some(0)).unwrap();
        assert_eq!(from_zero.sentences[2], sure(&[(2, 5), (1, 1)]));
        let mut pharaoh = AlignmentFile::parse("links", &[""; 3], None).unwrap();
        pharaoh.extend_to(4);
        assert_eq!(pharaoh.sentences.len(), 3);
    }

    #[test]
    fn what_is_no_link_is_named() {
        for token in
            ["-1-0", "1-", "1--2", "p1", "1p2-3", "+1-2", "1-2-3", "1:2", "0-99999999999999999999", "\u{a0}"]
        {
            let expected = format!("links:2: {token:?} is no link: expected `source-target` or, ");
            assert!(message(&["0-0", &format!("0-1 {token}")], None).starts_with(&expected), "{token}");
        }
        for line in ["1 2", "1 2 3 X", "1 2 3 S 4", "0 1 1", "1000001 1 1", "1 -2 3", "a 1 1"] {
            let expected = format!("links:3: {line:?} is no link: expected `sentence source target`");
            assert!(message(&["1 1 1", "", line], None).starts_with(&expected), "{line}");
        }
        assert!(
            message(&["x".repeat(1000).as_str()], None)
                .starts_with(&format!("links:1: \"{}…\" is", "x".repeat(40)))
        );
    }

    #[test]
    fn positions_below_the_base_are_named() {
        let below = "\"0-1\" has a position below 1, where positions count from 1: name another base";
        assert!(message(&["1-1 0-1"], Some(1)).starts_with(&format!("links:1: {below}")));
        assert!(
            message(&["1 1 1", "2 3 0 P"], None).starts_with("links:2: \"2 3 0 P\" has a position below 1")
        );
    }
}
