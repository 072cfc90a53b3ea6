//! Is a model's attention load-bearing? One table, one verdict, and everything that they come from.

mod adversary;
mod heads;
mod interval;
mod kendall;
mod measures;
mod page;
mod pairs;
mod rival_measures;
mod rivals;
mod step;
mod variants;
mod verdict;
mod walk;
mod words;

use std::sync::atomic::{AtomicUsize, Ordering};

use regard_decode::Translator;
use regard_model::{ModelConfig, Seq2Seq};
use regard_tensor::Threads;
use serde::{Deserialize, Serialize};

pub use heads::{HeadRecord, HeadRecords};
pub use kendall::kendall_tau_b;
pub use measures::Measure;
pub use rivals::{Rival, RivalKind};
pub use step::{AdversaryRecord, Distances, Flips, NamedAttribution, Rationale, RivalRecord, StepRecord};

use crate::attribution::{Method, Subject};
use crate::error::{BLIND, LookError, Result};
use pairs::Pair;
use walk::Walk;

/// How an audit is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditOptions {
    /// Most sentence pairs: the first ones that are not blank and not too long.
    pub sentences: usize,
    /// Steps that are sampled of each pair; all where it has no more.
    pub steps_per_sentence: usize,
    /// Shuffles of the weights of each step.
    pub permutations: usize,
    /// Measures that the attention is compared with, beside the gradient at the encoder's states.
    pub methods: Vec<Method>,
    /// Steps at which another attention is searched for.
    pub adversary_steps: usize,
    /// Updates of each search, by Adam (amsgrad).
    pub adversary_updates: usize,
    /// Their rate.
    pub adversary_rate: f64,
    /// Whether the translation is scored without each head.
    pub heads: bool,
    /// Of all draws.
    pub seed: u64,
}

impl AuditOptions {
    /// What takes minutes, for a kind of model.
    #[must_use]
    pub fn quick(config: &ModelConfig) -> Self {
        let mut methods = vec![Method::GradientInput, Method::Occlusion, Method::ValueZeroing, Method::Norm];
        methods.extend(matches!(config, ModelConfig::Transformer(_)).then_some(Method::Alti));
        Self {
            sentences: 200,
            steps_per_sentence: 4,
            permutations: 100,
            methods,
            adversary_steps: 20,
            adversary_updates: 100,
            adversary_rate: 0.05,
            heads: true,
            seed: 1,
        }
    }

    /// The published settings: all steps, 500 updates of each search, and the slow measures.
    #[must_use]
    pub fn full(config: &ModelConfig) -> Self {
        let quick = Self::quick(config);
        let slow = [Method::IntegratedGradients, Method::SmoothGrad];
        let methods = quick.methods.iter().copied().chain(slow).collect();
        Self {
            steps_per_sentence: usize::MAX,
            methods,
            adversary_steps: 500,
            adversary_updates: 500,
            adversary_rate: 0.01,
            ..quick
        }
    }
}

/// The document of an audit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Audit {
    /// What the model is called.
    pub model: String,
    /// Sentence pairs that were audited.
    pub sentences: usize,
    /// Steps of them.
    pub steps: usize,
    /// How.
    pub settings: Settings,
    /// The results.
    pub tests: Vec<Measure>,
    /// What they say, in words.
    pub verdict: String,
    /// What they do not say.
    pub limits: Vec<String>,
    /// What the results were computed from.
    #[serde(skip)]
    pub records: Records,
}

/// The settings, with the choices behind them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// The options.
    #[serde(flatten)]
    pub options: AuditOptions,
    /// Which attention is compared.
    pub site: String,
    /// What a content word is.
    pub content_words: String,
    /// How intervals are made.
    pub intervals: String,
    /// Pairs that were left out.
    pub left_out: usize,
    /// The share of source tokens that the model does not know.
    pub unknown_source_tokens: f64,
    /// How another attention is searched for.
    pub adversary: String,
}

/// Everything that was written down.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Records {
    /// Each sampled step.
    pub steps: Vec<StepRecord>,
    /// The translations with and without each head.
    pub heads: HeadRecords,
}

/// A model to be audited.
#[derive(Clone, Copy)]
pub struct Auditee<'a> {
    /// What it is called.
    pub name: &'a str,
    /// The network.
    pub model: &'a dyn Seq2Seq,
    /// What it is made of.
    pub config: &'a ModelConfig,
    /// The same network with its text.
    pub translator: &'a Translator,
    /// Models of the same recipe to hold against it; none but where they were trained.
    pub rivals: &'a [Rival<'a>],
}

/// Who looks on.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Is told how much is done of how much.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
    /// Says whether the result is not wanted any more.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// Refuses a model without attention.
///
/// # Errors
/// [`LookError::Unfit`].
pub fn check_auditable(model: &dyn Seq2Seq) -> Result<()> {
    if model.has_attention() { Ok(()) } else { Err(LookError::Unfit { method: "audit", reason: BLIND }) }
}

/// Audits a model on sentence pairs.
///
/// # Errors
/// [`LookError::Unfit`] for a model without attention, [`LookError::NoPairs`] where no pair is left, [`LookError::Stopped`], and
/// what the model says.
pub fn audit(
    auditee: &Auditee,
    threads: &Threads,
    lines: &[(String, String)],
    options: &AuditOptions,
    watch: &Watch,
) -> Result<Audit> {
    check_auditable(auditee.model)?;
    let (mut pairs, left_out) = pairs::sample(auditee.translator, lines, options);
    pairs::choose_adversaries(&mut pairs, options);
    if pairs.is_empty() {
        return Err(LookError::NoPairs { most: pairs::MOST_TOKENS });
    }
    let sites = auditee.translator.model().cross_sites();
    let rounds = if options.heads { sites.len() + 1 } else { 0 };
    let (done, total) = (AtomicUsize::new(0), pairs.len() + rounds);
    let advance = || (watch.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, total);
    let steps = of_all(threads, &pairs, watch, |index, pair, threads| {
        let records = of_pair(auditee, threads, pair, index, options)?;
        advance();
        Ok(records)
    })?;
    let heads = if options.heads {
        heads::records(auditee, &pairs, lines, watch, &advance)?
    } else {
        HeadRecords::default()
    };
    let records = Records { steps: steps.into_iter().flatten().collect(), heads };
    let tests = measures::measures(&records, pairs.len());
    let unknown = pairs::unknown_share(&pairs);
    Ok(Audit {
        model: auditee.name.to_owned(),
        sentences: pairs.len(),
        steps: records.steps.len(),
        settings: Settings {
            options: options.clone(),
            site: "mean of the heads of the last layer's look at the source; changes act on all layers and heads".to_owned(),
            content_words: format!(
                "words with a letter or digit that are not among the most frequent ones making up {} % of the target words",
                words::FUNCTION_SHARE * 100.0
            ),
            intervals: interval::DEFINITION.to_owned(),
            left_out,
            unknown_source_tokens: unknown,
            adversary: adversary::DEFINITION.to_owned(),
        },
        verdict: verdict::verdict(&tests, pairs.len()),
        limits: verdict::limits(unknown, !auditee.rivals.is_empty()),
        tests,
        records,
    })
}

fn of_pair(
    auditee: &Auditee,
    threads: &Threads,
    pair: &Pair,
    index: usize,
    options: &AuditOptions,
) -> Result<Vec<StepRecord>> {
    let subject = Subject {
        model: auditee.model,
        config: auditee.config,
        threads,
        source: &pair.source,
        target: &pair.target,
        layer: None,
        stop: None,
    };
    Walk { subject, pair, options, index, rivals: auditee.rivals }.records()
}

/// Works on all pairs, each on one thread.
fn of_all<T: Send>(
    threads: &Threads,
    pairs: &[Pair],
    watch: &Watch,
    work: impl Fn(usize, &Pair, &Threads) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let mut results: Vec<Result<T>> = pairs.iter().map(|_| Err(LookError::Stopped)).collect();
    let single = Threads::single();
    threads.chunks_mut(&mut results, 1, |index, results| {
        for result in results {
            if !(watch.stop)() {
                *result = work(index, &pairs[index], &single);
            }
        }
    });
    results.into_iter().collect()
}
