//! Words of the pieces that a model reads and writes.

use std::ops::Range;

use crate::heatmap::{Heatmap, HeatmapError};
use crate::inspection::{Inspection, unknown_label};

/// Marks before a word: SentencePiece's, and that of byte-level pieces.
const BEFORE: [char; 2] = ['▁', 'Ġ'];
/// The mark of BPE after a piece that the next one continues.
const INSIDE: &str = "@@";
/// The mark of `WordPiece` before a piece that continues a word.
const GOES_ON: &str = "##";
const END: &str = "</s>";

/// The tokens of each word, by the marks of the pieces: `▁` or `Ġ` before a word, `@@` or `##` inside one, whichever most tokens have.
/// Where no token has a mark, each is a word.
///
/// ```
/// let tokens = ["hil@@", "ls", "</s>"].map(String::from);
/// assert_eq!(regard_look::word_ranges(&tokens), [0..2, 2..3]);
/// ```
#[must_use]
pub fn word_ranges(tokens: &[String]) -> Vec<Range<usize>> {
    let count = |has: fn(&String) -> bool| tokens.iter().filter(|token| has(token)).count();
    let starts = count(|token| token.starts_with(BEFORE));
    let inside = count(|token| token.ends_with(INSIDE) || token.starts_with(GOES_ON));
    let continues = |place: usize| {
        let (token, Some(previous)) = (&tokens[place], place.checked_sub(1)) else { return false };
        if starts > inside {
            !token.starts_with(BEFORE) && token != END && tokens[previous] != END
        } else {
            tokens[previous].ends_with(INSIDE) || token.starts_with(GOES_ON)
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
    let bare = |piece: &String| {
        let piece = piece.trim_start_matches(BEFORE).trim_end_matches(INSIDE);
        piece.strip_prefix(GOES_ON).unwrap_or(piece).to_owned()
    };
    let word: String = pieces.iter().map(bare).collect();
    // A mark alone is white space that is a token.
    if word.is_empty() { pieces.concat() } else { word }
}

impl Inspection {
    /// A heatmap of its tokens between its words: the weights of a source word's pieces are added up, and a target word has the
    /// mean of its pieces' rows, so that a row that summed to 1 still does. A word with an unknown piece says so.
    ///
    /// # Errors
    /// Where the heatmap is of other tokens.
    pub fn by_words(&self, heatmap: &Heatmap) -> Result<Heatmap, HeatmapError> {
        let (source, target) = (word_ranges(&self.source_tokens), word_ranges(&self.target_tokens));
        let names = |tokens: &[String], unknown: &[usize], words: &[Range<usize>]| {
            let name = |word: &Range<usize>| {
                let name = join(&tokens[word.clone()]);
                if unknown.iter().any(|place| word.contains(place)) { unknown_label(&name) } else { name }
            };
            words.iter().map(name).collect()
        };
        let sum = |row: usize, columns: &Range<usize>| {
            heatmap.row(row).get(columns.clone()).map_or(0.0, |w| w.iter().sum::<f32>())
        };
        let row = |rows: &Range<usize>| {
            let weight = |columns: &Range<usize>| {
                rows.clone().map(|row| sum(row, columns)).sum::<f32>() / rows.len() as f32
            };
            source.iter().map(weight).collect()
        };
        Heatmap::new(
            names(&self.source_tokens, &self.source_unknown, &source),
            names(&self.target_tokens, &self.target_unknown, &target),
            target.iter().map(row).collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspection::tests::seen;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(String::from).collect()
    }

    #[test]
    fn marks_tell_where_words_are() {
        assert_eq!(word_ranges(&words("a@@ b@@ c d </s>")), [0..3, 3..4, 4..5]);
        assert_eq!(word_ranges(&words("▁the ▁c at s </s>")), [0..1, 1..4, 4..5]);
        assert_eq!(word_ranges(&words("x ▁y")), [0..1, 1..2], "a first piece without a mark");
        assert_eq!(word_ranges(&words("play ##ing Ġ")), [0..2, 2..3]);
        assert_eq!(word_ranges(&words("Ġa b Ġc")), [0..2, 2..3]);
        assert_eq!(word_ranges(&words("a@@ ▁ b@@ c")), [0..2, 2..4], "one that is written with a mark");
        assert_eq!(word_ranges(&words("plain words")), [0..1, 1..2]);
        assert!(word_ranges(&[]).is_empty());
        assert_eq!(word_ranges(&words("a@@ b cut@@")), [0..2, 2..3], "nothing follows");
    }

    #[test]
    fn columns_are_summed_and_rows_averaged() {
        let weights = vec![vec![0.5, 0.25, 0.25], vec![0.25, 0.25, 0.5], vec![0.0, 0.0, 1.0]];
        let (source, target) = (words("ca@@ ts </s>"), words("▁ch ats </s>"));
        let heatmap = Heatmap::new(source.clone(), target.clone(), weights).unwrap();
        let seen =
            Inspection { source_tokens: source, target_tokens: target, source_unknown: vec![1], ..seen() };
        let by_words = seen.by_words(&heatmap).unwrap();
        assert_eq!(by_words.source_tokens(), ["<unk> (cats)", "</s>"]);
        assert_eq!(by_words.target_tokens(), ["chats", "</s>"]);
        assert_eq!(by_words.weights(), [[0.625, 0.375], [0.0, 1.0]]);
    }
}
