//! What a head is worth: BLEU without it.

use regard_decode::{Controls, SearchOptions, TranslateOptions, Translation, Translator};
use regard_eval::BleuOptions;
use regard_model::{AttentionSite, SiteKind};
use serde::Serialize;

use super::pairs::Pair;
use super::{Auditee, Watch};
use crate::error::{LookError, Result};
use crate::intervention::{Action, Heads, Intervention, Interventions, Reach};

/// BLEU of the audited lines with and without heads, and what it is computed from.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HeadRecords {
    /// A line a sentence.
    pub references: Vec<String>,
    /// The whole model first, then each head removed.
    pub translations: Vec<HeadRecord>,
}

/// The translations with one head removed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeadRecord {
    /// Which head is removed; `none` of the whole model.
    pub site: String,
    /// Their BLEU (13a).
    pub bleu: f64,
    /// Greedy translations, a line a sentence.
    pub hypotheses: Vec<String>,
}

/// The whole model, then each head that looks at the source removed.
pub(super) fn records(
    auditee: &Auditee,
    pairs: &[Pair],
    lines: &[(String, String)],
    watch: &Watch,
    advance: &dyn Fn(),
) -> Result<HeadRecords> {
    let sources: Vec<&str> = pairs.iter().map(|pair| lines[pair.line].0.as_str()).collect();
    let references: Vec<&str> = pairs.iter().map(|pair| lines[pair.line].1.as_str()).collect();
    let translator = auditee.translator;
    let sites = translator.model().cross_sites();
    let record = |site: String, interventions: Option<&Interventions>| {
        let hypotheses = translations(translator, &sources, interventions, watch)?;
        let score = BleuOptions::default().corpus(&hypotheses, &[&references]);
        let bleu = score.map_err(|error| LookError::Metric(error.to_string()))?.score;
        advance();
        Ok::<_, LookError>(HeadRecord { site, bleu, hypotheses })
    };
    let mut translations = vec![record("none".to_owned(), None)?];
    for &site in &sites {
        let AttentionSite { layer, head, .. } = site;
        let reach =
            Reach { site: SiteKind::Cross, heads: Heads::These(vec![(layer, head)]), ..Reach::default() };
        let removal = Intervention { action: Action::RemoveHead, reach };
        let interventions =
            Interventions::new(&[removal], translator, &sites, usize::MAX, &Controls::default())?;
        translations.push(record(format!("head {layer}.{head}"), Some(&interventions))?);
    }
    let references = references.into_iter().map(str::to_owned).collect();
    Ok(HeadRecords { references, translations })
}

fn translations(
    translator: &Translator,
    sources: &[&str],
    interventions: Option<&Interventions>,
    watch: &Watch,
) -> Result<Vec<String>> {
    if (watch.stop)() {
        return Err(LookError::Stopped);
    }
    let search = SearchOptions { beam_size: 1, n_best: 1, ..SearchOptions::default() };
    let options = TranslateOptions { search, ..TranslateOptions::default() };
    let hook = interventions.map(|interventions| interventions as &dyn regard_model::AttentionHook);
    let controls = Controls { hook, stop: Some(watch.stop), observer: None };
    let found = translator.translate_with(sources, &[], &options, controls)?;
    Ok(found.iter().map(|found| Translation::text(found).to_owned()).collect())
}
