//! What a head is worth: BLEU without it.

use regard_decode::{Controls, SearchOptions, TranslateOptions, Translation, Translator};
use regard_eval::BleuOptions;
use regard_model::{AttentionSite, SiteKind};
use serde::Serialize;

use super::pairs::Pair;
use super::{Auditee, Watch};
use crate::error::{LookError, Result};
use crate::intervention::{Action, Heads, Intervention, Interventions, Reach};

/// BLEU of the audited lines.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeadRecord {
    /// Which head is removed; the first record is of the whole model.
    pub site: String,
    /// BLEU of greedy translations.
    pub bleu: f64,
}

/// The whole model, then each head that looks at the source removed.
pub(super) fn records(
    auditee: &Auditee,
    pairs: &[Pair],
    lines: &[(String, String)],
    watch: &Watch,
    advance: &dyn Fn(),
) -> Result<Vec<HeadRecord>> {
    let sources: Vec<&str> = pairs.iter().map(|pair| lines[pair.line].0.as_str()).collect();
    let references: Vec<&str> = pairs.iter().map(|pair| lines[pair.line].1.as_str()).collect();
    let translator = auditee.translator;
    let sites = translator.model().cross_sites();
    let score = |interventions: Option<&Interventions>| {
        let bleu = bleu(translator, &sources, &references, interventions, watch);
        advance();
        bleu
    };
    let mut records = vec![HeadRecord { site: "none".to_owned(), bleu: score(None)? }];
    for &site in &sites {
        let AttentionSite { layer, head, .. } = site;
        let reach =
            Reach { site: SiteKind::Cross, heads: Heads::These(vec![(layer, head)]), ..Reach::default() };
        let removal = Intervention { action: Action::RemoveHead, reach };
        let interventions =
            Interventions::new(&[removal], translator, &sites, usize::MAX, &Controls::default())?;
        records.push(HeadRecord { site: format!("head {layer}.{head}"), bleu: score(Some(&interventions))? });
    }
    Ok(records)
}

fn bleu(
    translator: &Translator,
    sources: &[&str],
    references: &[&str],
    interventions: Option<&Interventions>,
    watch: &Watch,
) -> Result<f64> {
    if (watch.stop)() {
        return Err(LookError::Stopped);
    }
    let search = SearchOptions { beam_size: 1, n_best: 1, ..SearchOptions::default() };
    let options = TranslateOptions { search, ..TranslateOptions::default() };
    let hook = interventions.map(|interventions| interventions as &dyn regard_model::AttentionHook);
    let controls = Controls { hook, stop: Some(watch.stop), observer: None };
    let translations = translator.translate_with(sources, &[], &options, controls)?;
    let texts: Vec<&str> = translations.iter().map(Translation::text).collect();
    let score = BleuOptions::default().corpus(&texts, &[references]);
    score.map(|score| score.score).map_err(|error| LookError::Metric(error.to_string()))
}
