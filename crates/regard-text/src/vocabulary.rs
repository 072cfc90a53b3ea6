//! Token ↔ id. One token a line on disk.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use crate::corpus::read_utf8;
use crate::error::TextError;
use crate::special_tokens::SPECIAL_TOKENS;

/// An ordered list of distinct tokens; the id of a token is its place. The four special tokens come first.
///
/// ```
/// use regard_text::Vocabulary;
/// let vocabulary = Vocabulary::from_counts([("dog", 2), ("cat", 2), ("the", 5), ("rare", 1)], None, 2);
/// let tokens: Vec<&str> = vocabulary.tokens().collect();
/// assert_eq!(tokens, ["<pad>", "<unk>", "<s>", "</s>", "the", "cat", "dog"]);
/// assert_eq!(vocabulary.id("cat"), Some(5));
/// assert_eq!(vocabulary.token(6), Some("dog"));
/// assert_eq!(vocabulary.id("rare"), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vocabulary {
    tokens: Vec<String>,
    ids: HashMap<String, u32>,
}

impl Vocabulary {
    /// The most frequent tokens: by count, largest first, ties by bytes, smallest first.
    ///
    /// `max_size` counts the four special tokens too; tokens rarer than `min_count` are left out. Counts of a token
    /// that comes twice are added. What is no token of a text is ignored: the four reserved names (they have their
    /// ids), the empty string, and strings with a line feed (the file format could not hold them).
    pub fn from_counts(
        counts: impl IntoIterator<Item = (impl Into<String>, u64)>,
        max_size: Option<usize>,
        min_count: u64,
    ) -> Self {
        let mut totals: BTreeMap<String, u64> = BTreeMap::new();
        for (token, count) in counts {
            let token = token.into();
            if !(token.is_empty() || token.contains('\n') || SPECIAL_TOKENS.contains(&token.as_str())) {
                let total = totals.entry(token).or_default();
                *total = total.saturating_add(count);
            }
        }
        let mut ranked: Vec<(String, u64)> = totals.into_iter().filter(|(_, n)| *n >= min_count).collect();
        // Stable, so equal counts keep the byte order of the map.
        ranked.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        let room = max_size.map_or(usize::MAX, |size| size.saturating_sub(SPECIAL_TOKENS.len()));
        let words = ranked.into_iter().take(room).map(|(token, _)| token);
        let tokens: Vec<String> = SPECIAL_TOKENS.iter().map(ToString::to_string).chain(words).collect();
        let ids = (0u32..).zip(&tokens).map(|(id, token)| (token.clone(), id)).collect();
        Self { tokens, ids }
    }

    /// The vocabulary whose entry `i` has id `i`; the first four must be the special tokens, in order.
    ///
    /// # Errors
    /// [`TextError::BadVocabulary`] for a doubled, empty or misplaced entry.
    pub fn from_tokens(tokens: Vec<String>) -> Result<Self, TextError> {
        Self::checked(tokens, "vocabulary")
    }

    /// Reads one token a line. Only LF ends a line: any other character, a carriage return or a no-break space too, is
    /// part of the token.
    ///
    /// # Errors
    /// [`TextError::Read`], [`TextError::InvalidUtf8`], and [`TextError::BadVocabulary`] with file, line and token.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, TextError> {
        let path = path.as_ref();
        let text = read_utf8(path)?;
        let body = text.strip_suffix('\n').unwrap_or(&text);
        Self::checked(body.split('\n').map(str::to_owned).collect(), &path.display().to_string())
    }

    /// Writes one token a line; reading that file and writing it again gives the same bytes.
    ///
    /// # Errors
    /// [`TextError::Write`].
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), TextError> {
        let path = path.as_ref();
        let mut text = self.tokens.join("\n");
        text.push('\n');
        fs::write(path, text).map_err(|source| TextError::Write { file: path.display().to_string(), source })
    }

    /// Number of entries, the special tokens included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Never true: the special tokens are always there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The id of a token. The reserved names have theirs; for text use [`Pipeline::ids`](crate::Pipeline::ids), which
    /// never gives a control id.
    #[must_use]
    pub fn id(&self, token: &str) -> Option<u32> {
        self.ids.get(token).copied()
    }

    /// The token of an id.
    #[must_use]
    pub fn token(&self, id: u32) -> Option<&str> {
        self.tokens.get(id as usize).map(String::as_str)
    }

    /// All tokens in the order of their ids.
    pub fn tokens(&self) -> impl ExactSizeIterator<Item = &str> {
        self.tokens.iter().map(String::as_str)
    }

    fn checked(tokens: Vec<String>, file: &str) -> Result<Self, TextError> {
        let bad = |place: usize, token: &str, problem: String| TextError::BadVocabulary {
            file: file.to_owned(),
            line: place + 1,
            token: token.to_owned(),
            problem,
        };
        let mut ids: HashMap<String, u32> = HashMap::with_capacity(tokens.len());
        for (place, token) in tokens.iter().enumerate() {
            match SPECIAL_TOKENS.get(place) {
                Some(name) if name != token => {
                    let problem = format!("stands where the reserved `{name}` must stand");
                    return Err(bad(place, token, problem));
                }
                None if SPECIAL_TOKENS.contains(&token.as_str()) => {
                    return Err(bad(
                        place,
                        token,
                        "is reserved: it has its place in the first four lines".into(),
                    ));
                }
                _ if token.is_empty() => return Err(bad(place, token, "is empty".into())),
                _ if token.contains('\n') => return Err(bad(place, token, "contains a line feed".into())),
                _ => {}
            }
            if let Some(first) = ids.insert(token.clone(), place as u32) {
                return Err(bad(place, token, format!("is doubled: line {} has it already", first + 1)));
            }
        }
        match SPECIAL_TOKENS.get(tokens.len()) {
            Some(name) => Err(bad(tokens.len(), name, "is missing: a vocabulary begins with it".into())),
            None => Ok(Self { tokens, ids }),
        }
    }
}
