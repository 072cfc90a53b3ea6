//! From what was written down to the table.

use serde::Serialize;

use super::Records;
use super::interval::mean;
use super::step::{NamedAttribution, Rationale, StepRecord};
use super::walk::{PERCENTS, STATE_GRADIENT};
use crate::attribution::Method;

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measure {
    /// What is measured.
    pub name: String,
    /// Of which attention, or of which words.
    pub site: String,
    /// The mean over steps; none where no step has a value.
    pub value: Option<f64>,
    /// The lower end of its 95 % interval; none where fewer than two sentences have a value, and of BLEU.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The same for something that knows nothing.
    pub baseline: Option<f64>,
    /// How many steps have a value.
    pub steps: usize,
    /// What it is, in words.
    pub definition: String,
}

/// Whether a step belongs to a group.
type Belongs = fn(&StepRecord) -> bool;

/// A value of a step, where it has one.
pub(super) type Of<'a> = &'a dyn Fn(&StepRecord) -> Option<f64>;

/// The lines that are being made.
pub(super) struct Table<'a> {
    pub(super) records: &'a [StepRecord],
    sentences: usize,
    measures: Vec<Measure>,
}

/// The whole table.
pub(super) fn measures(records: &Records, sentences: usize) -> Vec<Measure> {
    let mut table = Table { records: &records.steps, sentences, measures: Vec::new() };
    table.agreement();
    table.interventions();
    table.rationales();
    table.adversary();
    table.rivals();
    let mut measures = table.measures;
    let Some((whole, heads)) = records.heads.translations.split_first() else { return measures };
    measures.extend(heads.iter().map(|head| Measure {
        name: "bleu-without-head".to_owned(),
        site: head.site.clone(),
        value: Some(head.bleu - whole.bleu),
        low: None,
        high: None,
        baseline: Some(whole.bleu),
        steps: 0,
        definition: "BLEU (13a) of greedy translations with the head's output set to zero, minus that of the whole model; \
                     the baseline is the whole model's"
            .to_owned(),
    }));
    measures
}

impl Table<'_> {
    pub(super) fn add(&mut self, name: &str, site: &str, definition: &str, value: Of, baseline: Option<Of>) {
        let values = |of: Of| -> Vec<(usize, f64)> {
            self.records.iter().filter_map(|step| Some((step.sentence, of(step)?))).collect()
        };
        let found = values(value);
        let mean_of = |values: &[(usize, f64)]| mean(values.iter().copied(), self.sentences);
        let value = mean_of(&found);
        let baseline = baseline.and_then(|baseline| mean_of(&values(baseline)));
        self.measures.push(Measure {
            name: name.to_owned(),
            site: site.to_owned(),
            value: value.map(|mean| mean.value),
            low: value.and_then(|mean| Some(mean.interval?.0)),
            high: value.and_then(|mean| Some(mean.interval?.1)),
            baseline: baseline.map(|mean| mean.value),
            steps: found.len(),
            definition: definition.to_owned(),
        });
    }

    /// Kendall's τ-b with every measure.
    fn agreement(&mut self) {
        let methods: Vec<String> = match self.records.first() {
            Some(step) => step.attributions.iter().map(|named| named.method.clone()).collect(),
            None => return,
        };
        for method in &methods {
            let name = format!("tau-{method}");
            let definition = format!(
                "Kendall's tau-b between the attention and {}, end symbol left out; the baseline is the attention shuffled",
                describe(method)
            );
            let groups: [(&str, Belongs); 3] = [
                ("all words", |_| true),
                ("content words", |step| step.content),
                ("function words", |step| !step.content),
            ];
            for (site, belongs) in groups {
                let of = |step: &StepRecord, tau: fn(&NamedAttribution) -> Option<f64>| {
                    step.attributions.iter().find(|named| named.method == *method).and_then(tau)
                };
                self.add(
                    &name,
                    site,
                    &definition,
                    &|step| of(step, |named| named.tau).filter(|_| belongs(step)),
                    Some(&|step| of(step, |named| named.tau_shuffled).filter(|_| belongs(step))),
                );
            }
        }
    }

    /// Changes of the attention and what they change.
    fn interventions(&mut self) {
        let tvd = "total variation between the next-token distributions before and after";
        let source: Of = &|step| Some(step.tvd.without_source);
        self.add("permutation", "all layers and heads", &format!("{tvd} shuffling the weights: the median of the shuffles of a step; the baseline is the whole source masked"), &|step| median(&step.tvd.permuted), Some(source));
        self.add(
            "uniform",
            "all layers and heads",
            &format!("{tvd} giving every position the same weight; the baseline is the whole source masked"),
            &|step| Some(step.tvd.uniform),
            Some(source),
        );
        self.add(
            "hard",
            "all layers and heads",
            &format!(
                "{tvd} giving the strongest position all weight; the baseline is the whole source masked"
            ),
            &|step| Some(step.tvd.hard),
            Some(source),
        );
        self.add(
            "strongest-removed",
            "all layers and heads",
            &format!("{tvd} masking the strongest column; the baseline is one of the others, drawn"),
            &|step| Some(step.tvd.without_strongest),
            Some(&|step| Some(step.tvd.without_random)),
        );
        self.add(
            "strongest-over-random",
            "all layers and heads",
            "the total variation of masking the strongest column minus that of one of the others, drawn",
            &|step| Some(step.tvd.without_strongest - step.tvd.without_random),
            None,
        );
        self.add(
            "source-removed",
            "all layers and heads",
            &format!("{tvd} masking the whole source: 1 minus this is what the words before decide alone"),
            source,
            None,
        );
        let share = "the share of steps whose likeliest token changes";
        let gone: Of = &|step| Some(step.flips.without_source);
        self.add(
            "flips-permutation",
            "all layers and heads",
            &format!("{share} when the weights are shuffled; the baseline is the whole source masked"),
            &|step| Some(step.flips.permuted),
            Some(gone),
        );
        self.add(
            "flips-uniform",
            "all layers and heads",
            &format!("{share} under the same weight everywhere; the baseline is the whole source masked"),
            &|step| Some(step.flips.uniform),
            Some(gone),
        );
        self.add(
            "flips-strongest-removed",
            "content words",
            &format!("{share} when the strongest column is masked; the baseline is one of the others, drawn"),
            &|step| Some(step.flips.without_strongest).filter(|_| step.content),
            Some(&|step| Some(step.flips.without_random).filter(|_| step.content)),
        );
        self.add(
            "flips-strongest-removed",
            "function words",
            &format!("{share} when the strongest column is masked; the baseline is one of the others, drawn"),
            &|step| Some(step.flips.without_strongest).filter(|_| !step.content),
            Some(&|step| Some(step.flips.without_random).filter(|_| !step.content)),
        );
    }

    /// ERASER's comprehensiveness and sufficiency.
    fn rationales(&mut self) {
        for percent in PERCENTS {
            let site = format!("{percent} % of the columns");
            let of = |step: &StepRecord, drop: fn(f64, &Rationale) -> f64| {
                let rationale = step.rationales.iter().find(|rationale| rationale.percent == percent)?;
                Some(drop(step.probability, rationale))
            };
            self.add("comprehensiveness", &site, "p of the token minus p without the strongest columns, k = max(1, ceil(p S)), masked; the baseline is random columns",
                &|step| of(step, |p, rationale| p - rationale.without),
                Some(&|step| of(step, |p, rationale| p - average(&rationale.without_random))));
            self.add("sufficiency", &site, "p of the token minus p with the strongest columns alone, the others masked: small is good; the baseline is random columns",
                &|step| of(step, |p, rationale| p - rationale.alone),
                Some(&|step| of(step, |p, rationale| p - average(&rationale.alone_random))));
        }
    }

    fn adversary(&mut self) {
        if self.records.iter().all(|step| step.adversary.is_none()) {
            return;
        }
        self.add(
            "adversary",
            "mean of layers and heads",
            "the largest Jensen-Shannon divergence in nats (ln 2 = 0.693 at most) of another attention whose total variation is at \
             most 0.05 (Jain & Wallace 2019), at the steps where one was found",
            &|step| step.adversary.as_ref().and_then(|found| found.jsd),
            None,
        );
        self.add(
            "adversary-found",
            "searched steps",
            "the share of searches that met another attention whose total variation is at most 0.05",
            &|step| step.adversary.as_ref().map(|found| f64::from(u8::from(found.jsd.is_some()))),
            None,
        );
    }
}

/// What a measure is, by its name.
fn describe(name: &str) -> String {
    if name == STATE_GRADIENT {
        return "|gradient of log p x encoder state|, attention weights constant".to_owned();
    }
    Method::named(name).map_or_else(|| name.to_owned(), |method| method.definition().to_owned())
}

fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The middle value, or the mean of the two in the middle.
fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    let upper = *sorted.get(half)?;
    Some(if sorted.len() % 2 == 1 { upper } else { f64::midpoint(sorted[half - 1], upper) })
}
