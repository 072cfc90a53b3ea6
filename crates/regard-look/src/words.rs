//! Words of the pieces that a model reads and writes.

use std::ops::Range;

use crate::heatmap::Heatmap;

/// SentencePiece's mark before a word.
const BEFORE: char = '▁';
/// The mark of BPE after a piece that the next one continues.
const INSIDE: &str = "@@";
const END: &str = "</s>";

/// The tokens of each word, by the marks of the pieces: `▁` before a word or `@@` inside one. Where no token has a mark, each
/// is a word.
///
/// ```
/// let tokens = ["hil@@", "ls", "</s>"].map(String::from);
/// assert_eq!(regard_look::word_ranges(&tokens), [0..2, 2..3]);
/// ```
#[must_use]
pub fn word_ranges(tokens: &[String]) -> Vec<Range<usize>> {
    let before = tokens.iter().any(|token| token.starts_with(BEFORE));
    let continues = |place: usize| {
        let Some(previous) = place.checked_sub(1).map(|previous| &tokens[previous]) else { return false };
        if before {
            !tokens[place].starts_with(BEFORE) && tokens[place] != END
        } else {
            previous.ends_with(INSIDE)
        }
    };
    let mut words: Vec<Range<usize>> = Vec::new();
    for place in 0..tokens.len() {
        match words.last_mut() {
            Some(word) if continues(place) => word.end = place + 1,
            _ => words.push(place..place + 1),
        }
    }
    words
}

/// The word without the marks of its pieces.
fn join(pieces: &[String]) -> String {
    let bare = |piece: &String| piece.trim_start_matches(BEFORE).trim_end_matches(INSIDE).to_owned();
    let word: String = pieces.iter().map(bare).collect();
    // A mark alone is white space that is a token.
    if word.is_empty() { pieces.concat() } else { word }
}

impl Heatmap {
    /// The same between words: the weights of a source word's pieces are added up, and a target word has the mean of its
    /// pieces' rows, so that a row that summed to 1 still does.
    #[must_use]
    pub fn by_words(&self) -> Self {
        let (source, target) = (word_ranges(self.source_tokens()), word_ranges(self.target_tokens()));
        let names = |tokens: &[String], words: &[Range<usize>]| {
            words.iter().map(|word| join(&tokens[word.clone()])).collect()
        };
        let row = |rows: &Range<usize>| {
            let weight = |columns: &Range<usize>| {
                let sum: f32 =
                    rows.clone().map(|row| self.row(row)[columns.clone()].iter().sum::<f32>()).sum();
                sum / rows.len() as f32
            };
            source.iter().map(weight).collect()
        };
        let weights = target.iter().map(row).collect();
        Self::unchecked(names(self.source_tokens(), &source), names(self.target_tokens(), &target), weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(String::from).collect()
    }

    #[test]
    fn marks_tell_where_words_are() {
        assert_eq!(word_ranges(&words("a@@ b@@ c d </s>")), [0..3, 3..4, 4..5]);
        assert_eq!(word_ranges(&words("▁the ▁c at s </s>")), [0..1, 1..4, 4..5]);
        assert_eq!(word_ranges(&words("x ▁y")), [0..1, 1..2], "a first piece without a mark");
        assert_eq!(word_ranges(&words("plain words")), [0..1, 1..2]);
        assert!(word_ranges(&[]).is_empty());
        assert_eq!(word_ranges(&words("a@@ b cut@@")), [0..2, 2..3], "nothing follows");
    }

    #[test]
    fn columns_are_summed_and_rows_averaged() {
        let weights = vec![vec![0.5, 0.25, 0.25], vec![0.25, 0.25, 0.5], vec![0.0, 0.0, 1.0]];
        let heatmap = Heatmap::new(words("ca@@ ts </s>"), words("▁ch ats </s>"), weights).unwrap();
        let expected = vec![vec![0.625, 0.375], vec![0.0, 1.0]];
        assert_eq!(
            heatmap.by_words(),
            Heatmap::new(words("cats </s>"), words("chats </s>"), expected).unwrap()
        );
        let whole = Heatmap::new(words("▁ b"), words("x"), vec![vec![0.5, 0.5]]).unwrap();
        assert_eq!(whole.by_words().source_tokens(), ["b"]);
    }
}
