//! Gold links of one sentence pair on a picture.

use anyhow::Result;
use regard_decode::Translator;
use regard_eval::{AlignmentFile, GoldLinks};
use regard_look::word_ranges;
use regard_text::Token;

use super::failure::WrongCall;

/// The links between words that were given, as cells of the picture: `(column, row)`.
///
/// # Errors
/// Where they are no links, or name a word that is not there.
pub(super) fn cells(
    links: &str,
    translator: &Translator,
    (source, target): (&str, &str),
    by_words: bool,
) -> Result<Vec<(usize, usize)>> {
    let file =
        AlignmentFile::parse("--gold", &[links], Some(0)).map_err(|error| WrongCall(error.to_string()))?;
    let columns = words(&translator.tokenize(source), by_words);
    let rows = words(&translator.target().tokenize_with_ranges(target), by_words);
    let places = |words: &[Option<usize>], word: usize, side: &str| {
        let places: Vec<usize> = (0..words.len()).filter(|&place| words[place] == Some(word)).collect();
        if places.is_empty() {
            let count = words.iter().flatten().max().map_or(0, |last| last + 1);
            let problem =
                format!("--gold {links}: there is no word {word}, the {side} has {count}, counted from 0");
            return Err(WrongCall(problem));
        }
        Ok(places)
    };
    let mut cells = Vec::new();
    for &(source, target) in file.sentences.iter().flat_map(GoldLinks::possible) {
        let (columns, rows) = (places(&columns, source, "source")?, places(&rows, target, "target")?);
        cells.extend(columns.iter().flat_map(|&column| rows.iter().map(move |&row| (column, row))));
    }
    Ok(cells)
}

/// The word of each token, or of each word of the picture.
fn words(tokens: &[Token], by_words: bool) -> Vec<Option<usize>> {
    if !by_words {
        return tokens.iter().map(|token| token.word).collect();
    }
    let texts: Vec<String> = tokens.iter().map(|token| token.text.clone()).collect();
    word_ranges(&texts).into_iter().map(|word| tokens[word.start].word).collect()
}
