//! What a trained model can do: BLEU by sentence length, and where it looks.

use anyhow::{Context, Result};
use regard_decode::{Look, SearchOptions, TranslateOptions, Translator};
use regard_eval::{BleuOptions, BleuTokenizer, LengthBucket, LengthBuckets, bleu_by_length};
use regard_look::Heatmap;
use serde::Serialize;

use super::contestants::{Contestant, Kind};
use super::data::{BUCKETS, DemoData};
use super::grammar::Sentence;

/// What was measured of one model.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// Its name.
    pub name: String,
    /// How it comes to know the source.
    pub kind: Kind,
    /// Its weights.
    pub parameters: usize,
    /// Seconds of training.
    pub seconds: f64,
    /// BLEU over all test sentences, cut at spaces.
    pub bleu: f64,
    /// BLEU by the number of source words.
    pub by_length: Vec<LengthBucket>,
}

/// A model that has been trained.
pub struct Trained {
    /// Translates with it.
    pub translator: Translator,
    /// Its weights.
    pub parameters: usize,
    /// Seconds that the training took.
    pub seconds: f64,
}

/// The source words of a sentence as a line.
#[must_use]
pub fn source_line(sentence: &Sentence) -> String {
    sentence.source.join(" ")
}

/// The target words of a sentence as a line.
#[must_use]
pub fn target_line(sentence: &Sentence) -> String {
    sentence.target.join(" ")
}

/// Translates the test sentences and compares.
///
/// # Errors
/// Where the model cannot be run.
pub fn measure(contestant: Contestant, trained: &Trained, data: &DemoData) -> Result<Measured> {
    let Trained { translator, parameters, seconds } = trained;
    let sources: Vec<String> = data.test.iter().map(source_line).collect();
    let references = vec![data.test.iter().map(target_line).collect::<Vec<_>>()];
    let lines: Vec<&str> = sources.iter().map(String::as_str).collect();
    let options = TranslateOptions { batch_size: 64, ..TranslateOptions::default() };
    let hypotheses: Vec<String> = translator
        .translate(&lines, &options)?
        .iter()
        .map(|translation| translation.text().to_owned())
        .collect();
    let bleu = BleuOptions { tokenizer: BleuTokenizer::None, ..BleuOptions::default() };
    Ok(Measured {
        name: contestant.name.to_owned(),
        kind: contestant.kind,
        parameters: *parameters,
        seconds: *seconds,
        bleu: bleu.corpus(&hypotheses, &references)?.score,
        by_length: bleu_by_length(&sources, &hypotheses, &references, &LengthBuckets::new(&BUCKETS)?, &bleu)?,
    })
}

/// Where a model looks while it translates a sentence.
///
/// # Errors
/// Where the model cannot be run, or does not look.
pub fn heatmap(translator: &Translator, line: &str) -> Result<Heatmap> {
    let search = SearchOptions { attention: Some(Look::default()), ..SearchOptions::default() };
    let options = TranslateOptions { search, ..TranslateOptions::default() };
    let translation = translator.translate(&[line], &options)?.pop().context("no translation")?;
    let best = translation.candidates.first().context("no translation")?;
    let weights = best.hypothesis.attention.clone().unwrap_or_default();
    Ok(Heatmap::new(translation.source_tokens(), best.row_labels(), weights)?)
}
