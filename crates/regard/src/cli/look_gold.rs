//! Gold links of one sentence pair on a picture.

use anyhow::Result;
use regard_decode::Translator;
use regard_eval::{AlignmentFile, GoldLinks};
use regard_look::{Inspection, word_ranges};
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
    seen: &Inspection,
    by_words: bool,
) -> Result<Vec<(usize, usize)>> {
    let file =
        AlignmentFile::parse("--gold", &[links], Some(0)).map_err(|error| WrongCall(error.to_string()))?;
    let shown = |tokens: &[Token], labels: &[String]| {
        let word = |place: usize| tokens.get(place).and_then(|token| token.word);
        let words = word_ranges(labels).into_iter().map(|range| word(range.start));
        if by_words { words.collect() } else { (0..labels.len()).map(word).collect::<Vec<_>>() }
    };
    let columns = shown(&translator.tokenize(source), &seen.source_tokens);
    let rows = shown(&translator.target().tokenize_with_ranges(target), &seen.target_tokens);
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
    if cells.is_empty() {
        return Err(WrongCall("--gold: there is no link in it".to_owned()).into());
    }
    Ok(cells)
}
