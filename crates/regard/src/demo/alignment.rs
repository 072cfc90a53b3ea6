//! Whether the strongest weights are where the words come from.

use anyhow::Result;
use regard_decode::{Look, Translator};
use regard_text::Padded;
use serde::Serialize;

use super::data::DemoData;

/// How many content words look hardest at the word that they translate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ContentHits {
    /// Content words of the right translations.
    pub words: usize,
    /// Those whose strongest weight is on a gold link.
    pub hits: usize,
}

impl ContentHits {
    /// The part of the words that are hits, from 0 to 1.
    #[must_use]
    pub fn share(self) -> f64 {
        self.hits as f64 / self.words.max(1) as f64
    }
}

/// Lets a model write the right translations and looks where it looks.
///
/// # Errors
/// Where the model cannot be run.
pub fn content_hits(translator: &Translator, data: &DemoData) -> Result<ContentHits> {
    let (source, target) = (translator.source(), translator.target());
    let mut hits = ContentHits { words: 0, hits: 0 };
    for batch in data.test.chunks(64) {
        let sources: Vec<Vec<u32>> = batch.iter().map(|sentence| source.ids(&sentence.source)).collect();
        let targets: Vec<Vec<u32>> = batch.iter().map(|sentence| target.ids(&sentence.target)).collect();
        let rows = |side: &[Vec<u32>]| Padded::from_sentences(side.iter().map(Vec::as_slice));
        let scores = translator.decoding().score(&rows(&sources), &rows(&targets), Some(Look::default()))?;
        for (sentence, score) in batch.iter().zip(scores) {
            let attention = score.attention.unwrap_or_default();
            for (position, row) in attention.iter().enumerate().take(sentence.target.len()) {
                if !sentence.content[position] {
                    continue;
                }
                hits.words += 1;
                let strongest =
                    (0..row.len()).reduce(|best, next| if row[next] > row[best] { next } else { best });
                let linked = strongest.is_some_and(|source| sentence.links.contains(&(source, position)));
                hits.hits += usize::from(linked);
            }
        }
    }
    Ok(hits)
}
