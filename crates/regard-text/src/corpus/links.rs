//! Links between the words of a parallel text, as word aligners write them.

use std::path::Path;

use super::reader::Lines;
use crate::batch::Pair;
use crate::error::TextError;

/// As much of what is no link as a message shows, in characters.
const SHOWN: usize = 40;

/// The links of each pair of a parallel text, from a file in Pharaoh's format: a line a pair, such as `0-0 1-2 2-1`, each
/// link a word of the source and one of the target, counted from 0. A blank line is a pair without links.
///
/// ```
/// use regard_text::LinkLines;
/// let mut lines = LinkLines::from_reader("links", "0-0 2-1\n\n1-x".as_bytes())?;
/// assert_eq!(lines.next().unwrap()?, [(0, 0), (2, 1)]);
/// assert!(lines.next().unwrap()?.is_empty());
/// let message = lines.next().unwrap().unwrap_err().to_string();
/// assert_eq!(message, "links:3: `1-x` is no link `source-target`, such as 0-0");
/// # Ok::<(), regard_text::TextError>(())
/// ```
pub struct LinkLines(Lines);

impl LinkLines {
    /// Opens a file, which may be gzip or zstandard.
    ///
    /// # Errors
    /// [`TextError::Read`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TextError> {
        Ok(Self(Lines::open(path)?))
    }

    /// Reads from anything; `name` stands for it in messages.
    ///
    /// # Errors
    /// [`TextError::Read`].
    pub fn from_reader(name: &str, input: impl std::io::Read + Send + 'static) -> Result<Self, TextError> {
        Ok(Self(Lines::from_reader(name, input)?))
    }

    /// An error of the line that was read last.
    #[must_use]
    pub fn bad(&self, problem: String) -> TextError {
        TextError::BadRecord { file: self.0.name().to_owned(), line: self.0.line(), problem }
    }
}

impl Iterator for LinkLines {
    type Item = Result<Vec<(usize, usize)>, TextError>;

    fn next(&mut self) -> Option<Self::Item> {
        let line = match self.0.next()? {
            Ok(line) => line,
            Err(error) => return Some(Err(error)),
        };
        let tokens = line.split([' ', '\t']).filter(|token| !token.is_empty());
        let link = |token: &str| {
            link(token).ok_or_else(|| {
                let shown: String = token.chars().take(SHOWN).collect();
                self.bad(format!("`{shown}` is no link `source-target`, such as 0-0"))
            })
        };
        Some(tokens.map(link).collect())
    }
}

/// A link without signs or spaces.
fn link(token: &str) -> Option<(usize, usize)> {
    let number =
        |digits: &str| digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let (source, target) = token.split_once('-')?;
    Some((number(source)?, number(target)?))
}

/// Links between tokens, made of links between words: two tokens are linked where their words are. The links of a pair
/// are a [`Pair`] too: `source` and `target` have the positions of one token each in turn, sorted by target, each link
/// once. `source_words` and `target_words` say which word each token belongs to, as [`Token::word`](crate::Token) does.
///
/// # Errors
/// With what is wrong, where a link names a word that is not there.
///
/// ```
/// use regard_text::token_links;
/// // A tag, then a word of two tokens and one of one; two words of one token.
/// let (source, target) = ([None, Some(0), Some(0), Some(1)], [Some(0), Some(1)]);
/// let links = token_links(&[(0, 1), (1, 0)], &source, &target)?;
/// assert_eq!((links.source, links.target), (vec![3, 1, 2], vec![0, 1, 1]));
/// assert_eq!(token_links(&[(2, 0)], &source, &target).unwrap_err(), "link 2-0: the source line has 2 words");
/// # Ok::<(), String>(())
/// ```
pub fn token_links(
    links: &[(usize, usize)],
    source_words: &[Option<usize>],
    target_words: &[Option<usize>],
) -> Result<Pair, String> {
    let tokens = |words: &[Option<usize>], word: usize| -> Vec<u32> {
        let places = words.iter().zip(0..).filter(|(of, _)| **of == Some(word));
        places.map(|(_, place)| place).collect()
    };
    let mut found = Vec::new();
    for &(source, target) in links {
        let sides = [(source, source_words, "source"), (target, target_words, "target")];
        for (word, words, side) in sides {
            let count = words.iter().flatten().max().map_or(0, |last| last + 1);
            if word >= count {
                let plural = if count == 1 { "" } else { "s" };
                return Err(format!("link {source}-{target}: the {side} line has {count} word{plural}"));
            }
        }
        for target in tokens(target_words, target) {
            found.extend(tokens(source_words, source).into_iter().map(|source| (target, source)));
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(Pair {
        source: found.iter().map(|&(_, source)| source).collect(),
        target: found.iter().map(|&(target, _)| target).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_link_is_named() {
        for token in ["-1-0", "1-", "1--2", "p1", "1p2", "+1-2", "1-2-3", "1:2", "0-99999999999999999999"] {
            let text = format!("0-0\n0-1 {token}\n");
            let mut lines = LinkLines::from_reader("links", std::io::Cursor::new(text)).unwrap();
            assert_eq!(lines.next().unwrap().unwrap(), [(0, 0)]);
            let message = lines.next().unwrap().unwrap_err().to_string();
            assert!(message.starts_with(&format!("links:2: `{token}` is no link")), "{message}");
        }
    }

    #[test]
    fn links_are_sorted_and_single() {
        let words = [Some(0), Some(1), Some(1), Some(2)];
        let links = token_links(&[(2, 2), (1, 0), (1, 0), (0, 2)], &words, &words).unwrap();
        assert_eq!(links.target, [0, 0, 3, 3]);
        assert_eq!(links.source, [1, 2, 0, 3]);
        let empty = token_links(&[], &words, &[]).unwrap();
        assert_eq!(empty, Pair { source: vec![], target: vec![] });
        assert_eq!(token_links(&[(0, 0)], &words, &[]).unwrap_err(), "link 0-0: the target line has 0 words");
    }
}
