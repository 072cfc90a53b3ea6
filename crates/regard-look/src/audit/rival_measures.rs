//! What the table says of models that were trained to be held against the audited one.

use super::measures::{Of, Table};
use super::rivals::RivalKind;
use super::step::{RivalRecord, StepRecord};

/// The names of the measures.
pub(super) const JSD: &str = "rival-jsd";
pub(super) const JSD_OVER_SEED: &str = "rival-jsd-over-seed";
pub(super) const TVD: &str = "rival-tvd";
pub(super) const TVD_OVER_SEED: &str = "rival-tvd-over-seed";
pub(super) const LOG_PROBABILITY: &str = "rival-log-probability";

/// What a rival's step has.
type Value = fn(&RivalRecord) -> f64;

fn of(step: &StepRecord, kind: RivalKind, value: Value) -> Option<f64> {
    step.rivals.iter().find(|rival| rival.kind == kind).map(value)
}

impl Table<'_> {
    /// How far each rival looks and speaks from the audited model; another seed is the baseline of both.
    pub(super) fn rivals(&mut self) {
        let is_there = |kind: &RivalKind| self.records.iter().any(|step| of(step, *kind, |_| 0.0).is_some());
        let kinds: Vec<RivalKind> = RivalKind::ALL.into_iter().filter(is_there).collect();
        let jsd = "the Jensen-Shannon divergence in nats between the attention of a model of the same recipe and the audited one's, \
                   mean of the heads of the last layer, end symbol included";
        self.distance((JSD, JSD_OVER_SEED), jsd, &kinds, |rival| rival.jsd);
        let tvd = "total variation between the next-token distributions of a model of the same recipe and the audited one";
        self.distance((TVD, TVD_OVER_SEED), tvd, &kinds, |rival| rival.tvd);
        for kind in kinds {
            self.add(
                LOG_PROBABILITY,
                kind.name(),
                "log p of a token of the reference by a model of the same recipe, natural logarithm; the baseline is the audited \
                 model's",
                &|step| of(step, kind, |rival| rival.log_probability),
                Some(&|step| Some(step.log_probability)),
            );
        }
    }

    /// A distance of each rival, and that of the adversary beyond what another seed makes.
    fn distance(
        &mut self,
        (name, over_seed): (&str, &str),
        definition: &str,
        kinds: &[RivalKind],
        value: Value,
    ) {
        let seed: Of = &|step| of(step, RivalKind::Seed, value);
        for &kind in kinds {
            let baseline = (kind != RivalKind::Seed).then_some(seed);
            let definition = format!("{definition}; the baseline is another seed's");
            self.add(name, kind.name(), &definition, &|step| of(step, kind, value), baseline);
        }
        if kinds.contains(&RivalKind::Adversary) {
            let definition = format!("{definition}: the adversary's minus another seed's");
            let over: Of = &|step| Some(of(step, RivalKind::Adversary, value)? - seed(step)?);
            self.add(over_seed, RivalKind::Adversary.name(), &definition, over, None);
        }
    }
}
