//! One sentence looked into: its translation, where the model looked, and what an intervention changes.

use regard_decode::{Candidate, Controls, SearchOptions, TranslateOptions, Translator};
use regard_model::{AttentionHook, SiteKind};
use regard_text::special_tokens::{EOS, UNK_TOKEN};
use serde::Serialize;

use crate::distance::{jensen_shannon, total_variation};
use crate::error::{LookError, Result};
use crate::forced::{Site, Wanted, force, sites_of};
use crate::intervention::{Intervention, Interventions, check};
use crate::sentence::{Source, Target};

/// How a sentence is looked into.
#[derive(Clone, Debug, Default)]
pub struct InspectOptions {
    /// The translation to look at; the model's own where there is none.
    pub target: Option<String>,
    /// How the model's own is found.
    pub search: SearchOptions,
    /// What is changed in all runs, the original included.
    pub base: Vec<Intervention>,
    /// What is changed beside that, and compared with the original.
    pub interventions: Vec<Intervention>,
}

/// What was seen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// The source, its end symbol included: the columns of a look at the source.
    pub source_tokens: Vec<String>,
    /// The target, its end symbol included where it was written: the rows.
    pub target_tokens: Vec<String>,
    /// The places of source tokens that the model does not know: it has read `<unk>` there.
    pub source_unknown: Vec<usize>,
    /// The same for a given target.
    pub target_unknown: Vec<usize>,
    /// The translation.
    pub text: String,
    /// Σ log p of the target tokens, natural logarithm.
    pub log_prob: f64,
    /// log p of each.
    pub token_log_probs: Vec<f32>,
    /// Every attention of the model.
    pub sites: Vec<Site>,
    /// What the interventions have changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intervention: Option<Effect>,
    /// Source ids, the end symbol included.
    #[serde(skip)]
    pub source_ids: Vec<u32>,
    /// Target ids, the end symbol included where it was written.
    #[serde(skip)]
    pub target_ids: Vec<u32>,
    /// The number of source tokens, where not all were read.
    #[serde(skip)]
    pub cut_from: Option<usize>,
    /// Whether a time limit has ended the search.
    #[serde(skip)]
    pub stopped: bool,
}

/// What interventions change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// The interventions.
    pub spec: Vec<Intervention>,
    /// The translation that the model finds under them.
    pub text: String,
    /// Its tokens, the end symbol included where it was written.
    pub target_tokens: Vec<String>,
    /// The first position at which they differ from the original's.
    pub first_change: Option<usize>,
    /// The two next-token distributions at each step of the original, under teacher forcing.
    pub steps: Vec<StepEffect>,
    /// Every attention under the interventions, on the original.
    pub sites: Vec<Site>,
}

/// What interventions change at one step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepEffect {
    /// The original's token.
    pub token: String,
    /// Its log p in the original.
    pub log_prob: f32,
    /// Its log p under the interventions.
    pub log_prob_after: f32,
    /// [`total_variation`] of the two distributions.
    pub tvd: f64,
    /// [`jensen_shannon`] divergence of the two, in nats.
    pub jsd: f64,
}

/// Looks into a model while it translates a sentence. An observer is told of the search for the original translation.
///
/// # Errors
/// [`LookError::Nothing`] for a blank sentence, [`LookError::Impossible`] for what the model or the sentence does not have,
/// and what decoding says.
pub fn inspect(
    translator: &Translator,
    text: &str,
    options: &InspectOptions,
    controls: &Controls,
) -> Result<Inspection> {
    let source = Source::read(translator, text)?;
    let sites = if options.base.is_empty() && options.interventions.is_empty() {
        Vec::new()
    } else {
        sites_of(translator, &source)?
    };
    let prepare =
        |list: &[Intervention]| Interventions::new(list, translator, &sites, source.positions(), controls);
    let base = prepare(&options.base)?;
    let is_changed = !options.interventions.is_empty();
    let all = [options.base.as_slice(), &options.interventions].concat();
    let all = is_changed.then(|| prepare(&all)).transpose()?;
    let hook = (!options.base.is_empty()).then_some(&base as &dyn AttentionHook);
    let controls = Controls { hook, ..*controls };

    let (target, stopped) = match &options.target {
        Some(target) => (Target::given(translator.target(), target), false),
        None => translate(translator, text, options, controls)?,
    };
    check::within(&options.interventions, source.positions(), target.ids.len())?;
    let wanted = Wanted { sites: translator.model().has_attention(), distributions: is_changed };
    let original = force(translator, controls, &source, &target.ids, wanted)?;
    let intervention = match &all {
        Some(all) => {
            // Who watches the search watches that of the original.
            let changed = Controls { hook: Some(all), observer: None, ..controls };
            let (found, _) = translate(translator, text, options, changed)?;
            let forced = force(translator, changed, &source, &target.ids, wanted)?;
            Some(effect(options, &target, &original, &found, forced))
        }
        None => None,
    };
    Ok(Inspection {
        source_tokens: source.labels(),
        target_tokens: target.labels,
        source_unknown: source.unknown(),
        target_unknown: target.unknown,
        text: target.text,
        log_prob: original.log_probs.iter().map(|&log_prob| f64::from(log_prob)).sum(),
        token_log_probs: original.log_probs,
        sites: original.sites,
        intervention,
        source_ids: source.padded().ids,
        target_ids: target.ids,
        cut_from: source.cut_from,
        stopped,
    })
}

/// The model's own translation, and whether a time limit has ended the search.
fn translate(
    translator: &Translator,
    text: &str,
    options: &InspectOptions,
    controls: Controls,
) -> Result<(Target, bool)> {
    let search = SearchOptions { attention: None, ..options.search.clone() };
    let options = TranslateOptions { search, ..TranslateOptions::default() };
    let translations = translator.translate_with(&[text], &[], &options, controls)?;
    let translation = translations.into_iter().next().ok_or(LookError::Nothing)?;
    let stopped = translation.is_stopped();
    let best = translation.candidates.into_iter().next().ok_or(LookError::Nothing)?;
    Ok((Target::found(best), stopped))
}

impl Target {
    /// What a search has found.
    fn found(best: Candidate) -> Self {
        let labels = best.row_labels();
        let mut ids = best.hypothesis.tokens;
        if best.hypothesis.finished {
            ids.push(EOS);
        }
        Self { ids, labels, unknown: Vec::new(), text: best.text }
    }
}

fn effect(
    options: &InspectOptions,
    target: &Target,
    original: &crate::forced::Pass,
    found: &Target,
    forced: crate::forced::Pass,
) -> Effect {
    let step = |place: usize| {
        let (p, q) = (&original.distributions[place], &forced.distributions[place]);
        StepEffect {
            token: target.labels[place].clone(),
            log_prob: original.log_probs[place],
            log_prob_after: forced.log_probs[place],
            tvd: total_variation(p, q),
            jsd: jensen_shannon(p, q),
        }
    };
    let longest = target.ids.len().max(found.ids.len());
    Effect {
        spec: options.interventions.clone(),
        text: found.text.clone(),
        target_tokens: found.labels.clone(),
        first_change: (0..longest).find(|&place| target.ids.get(place) != found.ids.get(place)),
        steps: (0..target.ids.len()).map(step).collect(),
        sites: forced.sites,
    }
}

impl Inspection {
    /// The decoder's look at the source in a layer (the last where none is named), by a head or as the mean of all its heads,
    /// as the scores have it whose softmax the weights are; the logarithm of the weights for a mean. Nothing where there is none.
    #[must_use]
    pub fn look(&self, layer: Option<usize>, head: Option<usize>) -> Option<Site> {
        let cross = || self.sites.iter().filter(|site| site.site == SiteKind::Cross);
        let layer = layer.or_else(|| cross().map(|site| site.layer).max())?;
        let heads: Vec<&Site> = cross()
            .filter(|site| site.layer == layer && head.is_none_or(|head| site.head == Some(head)))
            .collect();
        let (first, rest) = heads.split_first()?;
        if rest.is_empty() {
            return Some((*first).clone());
        }
        let mut weights = first.weights.clone();
        for (row, values) in weights.iter_mut().enumerate() {
            for (place, value) in values.iter_mut().enumerate() {
                *value =
                    heads.iter().fold(0.0, |sum, site| sum + site.weights[row][place]) / heads.len() as f32;
            }
        }
        let scores = weights.iter().map(|row| row.iter().map(|weight| weight.ln()).collect()).collect();
        Some(Site { site: SiteKind::Cross, layer, head: None, weights, scores })
    }

    /// What pictures call the source tokens: those that are unknown say that the model has read `<unk>`.
    #[must_use]
    pub fn source_labels(&self) -> Vec<String> {
        labels(&self.source_tokens, &self.source_unknown)
    }

    /// The same for the target tokens.
    #[must_use]
    pub fn target_labels(&self) -> Vec<String> {
        labels(&self.target_tokens, &self.target_unknown)
    }
}

fn labels(tokens: &[String], unknown: &[usize]) -> Vec<String> {
    let label = |(place, token): (usize, &String)| {
        if unknown.contains(&place) { unknown_label(token) } else { token.clone() }
    };
    tokens.iter().enumerate().map(label).collect()
}

/// What pictures call a token that the model does not know.
pub(crate) fn unknown_label(token: &str) -> String {
    format!("{UNK_TOKEN} ({token})")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Two sites, one of three positions and one of two, made up.
    pub(crate) fn seen() -> Inspection {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<String>>();
        let cross = Site {
            site: SiteKind::Cross,
            layer: 0,
            head: Some(1),
            weights: vec![vec![0.25, 0.5, 0.25], vec![0.125, 0.5, 0.375]],
            scores: vec![vec![-1.5, 0.0, 2.0], vec![1.0, 0.0, 0.5]],
        };
        let own = Site {
            site: SiteKind::DecoderSelf,
            layer: 2,
            head: None,
            weights: vec![vec![1.0, 0.0], vec![0.5, 0.5]],
            scores: vec![vec![0.0, f32::NEG_INFINITY], vec![0.0, 0.0]],
        };
        Inspection {
            source_tokens: words(&["a,b", "say \"hi\"", "</s>"]),
            target_tokens: words(&["le", "</s>"]),
            source_unknown: Vec::new(),
            target_unknown: Vec::new(),
            text: "le".to_owned(),
            log_prob: -0.75,
            token_log_probs: vec![-0.5, -0.25],
            sites: vec![cross, own],
            intervention: None,
            source_ids: vec![4, 5, 3],
            target_ids: vec![6, 3],
            cut_from: None,
            stopped: false,
        }
    }
}
