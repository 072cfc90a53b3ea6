//! Requests against the limits, before anything is allocated.

use regard_decode::{LengthPenalty, Look, MAX_SOURCE_TOKENS, MaxLength, SearchOptions, Translator};
use regard_look::{Action, InspectOptions, Intervention};
use regard_model::{AttentionSite, SiteKind};

use crate::error::{ApiError, Result};
use crate::limits::Limits;
use crate::wire::{Penalty, SearchFields};

/// Translations that a request gets where it does not say how many.
const N_BEST: usize = 5;

/// Checks that a text is one sentence of a possible length.
pub(crate) fn sentence(field: &str, text: &str, limits: &Limits) -> Result<()> {
    if text.contains('\n') {
        return Err(ApiError::field(field, "it holds a line feed; send one line at a time"));
    }
    characters(field, [text], limits)
}

/// Checks the length of texts together.
pub(crate) fn characters<'a>(
    field: &str,
    texts: impl IntoIterator<Item = &'a str>,
    limits: &Limits,
) -> Result<()> {
    let count: usize = texts.into_iter().map(|text| text.chars().count()).sum();
    if count > limits.characters {
        let most = limits.characters;
        return Err(ApiError::field(field, format_args!("request ({count}) exceeds text limit ({most})")));
    }
    Ok(())
}

/// The options of a search that returns attention where the model has any.
pub(crate) fn search(fields: &SearchFields, has_attention: bool, limits: &Limits) -> Result<SearchOptions> {
    let range = |name: &str, value: usize, most: usize| {
        if (1..=most).contains(&value) {
            return Ok(value);
        }
        Err(ApiError::field(name, format_args!("it is {value}; it must be from 1 to {most}")))
    };
    let defaults = SearchOptions::default();
    let beam_size = range("beam_size", fields.beam_size.unwrap_or(defaults.beam_size), limits.beam_size)?;
    let n_best = range("n_best", fields.n_best.unwrap_or(N_BEST.min(beam_size)), limits.beam_size)?;
    if n_best > beam_size {
        return Err(ApiError::field(
            "n_best",
            format_args!("it is {n_best}, more than beam_size {beam_size}"),
        ));
    }
    let max_length = match fields.max_length {
        Some(length) => MaxLength::Fixed(range("max_length", length, limits.max_length)?),
        None => MaxLength::FromSource,
    };
    Ok(SearchOptions {
        beam_size,
        n_best,
        max_length,
        length_penalty: length_penalty(fields)?,
        attention: has_attention.then(Look::default),
        ..defaults
    })
}

fn length_penalty(fields: &SearchFields) -> Result<LengthPenalty> {
    let penalty = fields.length_penalty.unwrap_or(Penalty::Average);
    let alpha = fields.alpha.unwrap_or(if penalty == Penalty::Gnmt { 0.6 } else { 1.0 });
    if !(alpha >= 0.0 && alpha.is_finite()) {
        return Err(ApiError::field("alpha", format_args!("it is {alpha}; it must be 0 or more")));
    }
    Ok(match penalty {
        Penalty::None => LengthPenalty::None,
        Penalty::Average => LengthPenalty::Average { alpha },
        Penalty::Gnmt => LengthPenalty::Gnmt { alpha },
        Penalty::Marian => LengthPenalty::Marian { alpha, word_penalty: 0.0 },
    })
}

/// Reads interventions.
pub(crate) fn interventions(specs: &[String], limits: &Limits) -> Result<Vec<Intervention>> {
    let most = |what: &str, count: usize, most: usize| {
        let reason = format!("there are {count} {what}; the most is {most}");
        if count > most { Err(ApiError::field("interventions", reason)) } else { Ok(()) }
    };
    let characters = specs.iter().map(|spec| spec.chars().count()).sum();
    most("interventions", specs.len(), limits.interventions)?;
    most("characters", characters, limits.intervention_characters)?;
    let parse = |(index, spec): (usize, &String)| {
        spec.parse().map_err(|error| ApiError::field(&format!("interventions[{index}]"), error))
    };
    let list: Vec<Intervention> = specs.iter().enumerate().map(parse).collect::<Result<_>>()?;
    let reads_another = |intervention: &&Intervention| {
        matches!(intervention.action, Action::AttentionOf { .. } | Action::State { .. })
    };
    most("other sentences", list.iter().filter(reads_another).count(), limits.other_sentences)?;
    Ok(list)
}

/// Checks what a beam may have to keep: an attention row a token of every hypothesis.
pub(crate) fn beam_cells(source: usize, search: &SearchOptions, limits: &Limits) -> Result<()> {
    let cells = [search.beam_size, search.max_length.tokens(source), source + 1];
    cells_within(cells.into_iter().fold(1, usize::saturating_mul), limits)
}

/// Checks what looking at a sentence may have to keep: weights and scores of all attentions, with interventions twice, and
/// then the distributions too.
pub(crate) fn look_cells(
    translator: &Translator,
    sites: &[AttentionSite],
    text: &str,
    options: &InspectOptions,
    limits: &Limits,
) -> Result<()> {
    let source = translator.tokenize(text).len().min(MAX_SOURCE_TOKENS);
    let target = match &options.target {
        Some(target) => translator.target().tokenize(target).len() + 1,
        None => options.search.max_length.tokens(source),
    };
    let of_site = |site: &AttentionSite| match site.kind {
        SiteKind::Cross => target * (source + 1),
        SiteKind::EncoderSelf => (source + 1) * (source + 1),
        SiteKind::DecoderSelf => target * target,
    };
    let attention = 2 * sites.iter().map(of_site).sum::<usize>();
    let changed = !options.interventions.is_empty();
    let cells =
        if changed { 2 * (attention + target * translator.target().vocabulary.len()) } else { attention };
    cells_within(cells, limits)
}

fn cells_within(cells: usize, limits: &Limits) -> Result<()> {
    if cells <= limits.cells {
        return Ok(());
    }
    let most = limits.cells;
    Err(ApiError::field(
        "text",
        format_args!(
            "this may need {cells} numbers and the most is {most}: shorten it, or ask for a smaller beam"
        ),
    ))
}
