//! The search for another attention that leaves the output alone (Jain & Wallace 2019).
//!
//! At one step, the weights of every layer and head that looks at the source are free, and all before is as it was. Several
//! attentions start at random and go, by Adam, where they differ most from the model's own and from each other, while the
//! distribution of the next token stays near.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use regard_model::{AttentionHook, AttentionSite, HookCall, ModelError, SiteKind};
use regard_tensor::{Gradients, Tape, Tensor, Var, ops, random};
use regard_text::Batch;

use super::step::AdversaryRecord;
use crate::attribution::Subject;
use crate::distance::{jensen_shannon, total_variation};
use crate::draws::normal;
use crate::error::Result;

/// Attentions that search together.
const SEARCHERS: usize = 5;

/// Distances Σ |Δp| above this are pushed down…
const HINGE: f64 = 0.01;

/// …so hard.
const PUSH: f64 = 500.0;

/// The total variation that an attention may cost to count.
pub(super) const ALLOWED: f64 = 0.05;

/// How the search is made, in words.
pub(super) const DEFINITION: &str = "5 attentions start at 3 normal draws each and minimise, by Adam (amsgrad), -JSD from the model's own \
     - mean JSD of each other + 500 (sum |dp| - 0.01)+; what counts is the largest JSD (mean over layers and heads) met with a total variation of at most 0.05";

/// How the search is made.
#[derive(Clone, Copy)]
pub(super) struct Search {
    pub(super) updates: usize,
    /// Of Adam.
    pub(super) rate: f64,
    pub(super) key: u64,
}

/// Weights of one step by layer and head.
type Attention = BTreeMap<AttentionSite, Vec<f32>>;

/// The attention that is farthest from the model's own among those whose distribution stays within [`ALLOWED`].
pub(super) fn adversary(subject: &Subject, position: usize, search: Search) -> Result<AdversaryRecord> {
    let before = Subject { target: &subject.target[..=position], ..*subject };
    let batch = before.copies(SEARCHERS);
    let watch = Free { position, set: None, seen: Mutex::default() };
    let original = log_probs(subject, &Tape::inference(subject.threads), &batch, &watch)?;
    let own = watch.first_copy();
    let mut searchers: Vec<Searcher> =
        (0..SEARCHERS).map(|index| Searcher::new(&own, random::mix(search.key, index as u64))).collect();
    let mut best = AdversaryRecord { jsd: None, tvd: None };
    for update in 1..=search.updates + 1 {
        let attentions: Vec<Attention> = searchers.iter().map(Searcher::attention).collect();
        let free = Free { position, set: Some(&attentions), seen: Mutex::default() };
        let tape = Tape::new(subject.threads);
        let found = log_probs(subject, &tape, &batch, &free)?;
        let distances: Vec<f64> = (0..SEARCHERS).map(|copy| moved(&found, &original, copy)).collect();
        for (attention, &tvd) in attentions.iter().zip(&distances) {
            let jsd = divergence(attention, &own);
            if tvd <= ALLOWED && best.jsd.is_none_or(|best| jsd > best) {
                best = AdversaryRecord { jsd: Some(jsd), tvd: Some(tvd) };
            }
        }
        if update > search.updates {
            break;
        }
        // Copies are apart, so that each has the slope of its own distance.
        let all = ops::total_variation(&tape, &found.rows, original.rows.value(), &found.counts, 2.0)?;
        let gradients = tape.backward(&all)?;
        for (copy, searcher) in searchers.iter_mut().enumerate() {
            let push = if 2.0 * distances[copy] > HINGE { PUSH } else { 0.0 };
            let slope = |site: AttentionSite| free.slope(&gradients, site, copy, push);
            searcher.update(&attentions, copy, &own, slope, (update, search.rate));
        }
    }
    Ok(best)
}

/// Log-probabilities of every place, and which rows are the last places of the copies.
struct Found {
    rows: Var,
    counts: Vec<bool>,
    /// The row of each copy's last place.
    last: Vec<usize>,
}

fn log_probs(subject: &Subject, tape: &Tape, batch: &Batch, hook: &dyn AttentionHook) -> Result<Found> {
    let found = subject.distributions(tape, batch, hook)?;
    let end = batch.target.width - 1;
    let counts: Vec<bool> = found.rows.iter().map(|row| row.position == end).collect();
    let mut last = vec![0; SEARCHERS];
    for (place, row) in found.rows.iter().enumerate().filter(|(_, row)| row.position == end) {
        last[row.sentence] = place;
    }
    Ok(Found { rows: found.log_probs, counts, last })
}

/// The total variation between two last places of a copy.
fn moved(found: &Found, original: &Found, copy: usize) -> f64 {
    let p = |found: &Found| -> Vec<f32> {
        found.rows.value().row(found.last[copy]).iter().map(|log_prob| log_prob.exp()).collect()
    };
    total_variation(&p(found), &p(original))
}

/// The mean Jensen-Shannon divergence over layers and heads.
fn divergence(a: &Attention, b: &Attention) -> f64 {
    let sum: f64 = a.iter().map(|(site, a)| b.get(site).map_or(0.0, |b| jensen_shannon(a, b))).sum();
    sum / a.len().max(1) as f64
}

/// Sets the weights of one step, a copy's attention in each sentence, as values whose slope is wanted; without any, it looks.
struct Free<'a> {
    position: usize,
    set: Option<&'a [Attention]>,
    seen: Mutex<BTreeMap<AttentionSite, Seen>>,
}

/// The weights of a head at the call with the step.
struct Seen {
    weights: Var,
    /// The row of each copy.
    rows: Vec<usize>,
}

impl Free<'_> {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<AttentionSite, Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the first copy looked at.
    fn first_copy(&self) -> Attention {
        let row = |seen: &Seen| seen.weights.value().row(seen.rows[0]).to_vec();
        self.lock().iter().map(|(&site, seen)| (site, row(seen))).collect()
    }

    /// The slope of a copy's distance by its weights, `push` times.
    fn slope(&self, gradients: &Gradients, site: AttentionSite, copy: usize, push: f64) -> Vec<f64> {
        let seen = self.lock();
        let gradient =
            seen.get(&site).and_then(|seen| Some((gradients.get(&seen.weights)?, seen.rows[copy])));
        gradient.map_or_else(Vec::new, |(gradient, row)| {
            gradient.row(row).iter().map(|&slope| push * f64::from(slope)).collect()
        })
    }
}

impl AttentionHook for Free<'_> {
    fn wants(&self, site: AttentionSite) -> bool {
        site.kind == SiteKind::Cross
    }

    fn weights(&self, call: &HookCall, weights: Var) -> Result<Var, ModelError> {
        let mut rows = vec![None; SEARCHERS];
        for (place, row) in call.rows.iter().enumerate().filter(|(_, row)| row.position == self.position) {
            rows[row.sentence] = Some(place);
        }
        // A recurrent decoder comes by step after step.
        let Some(rows) = rows.into_iter().collect::<Option<Vec<usize>>>() else { return Ok(weights) };
        let mut values: Tensor = weights.value().deep_copy();
        let width = values.shape().last();
        for (copy, attention) in self.set.unwrap_or_default().iter().enumerate() {
            if let Some(set) = attention.get(&call.site) {
                let place = rows[copy] * width;
                values.values_mut()[place..place + set.len()].copy_from_slice(set);
            }
        }
        let weights = call.tape.leaf(values);
        self.lock().insert(call.site, Seen { weights: weights.clone(), rows });
        Ok(weights)
    }
}

/// One attention on its way: the logarithm of its weights by layer and head, and Adam's moments (amsgrad, Reddi et al. 2018).
struct Searcher(BTreeMap<AttentionSite, Vec<Logit>>);

#[derive(Clone, Copy, Default)]
struct Logit {
    value: f64,
    mean: f64,
    square: f64,
    largest: f64,
}

impl Searcher {
    /// The logarithm of even weights and three times a normal draw.
    fn new(own: &Attention, key: u64) -> Self {
        let start = |(number, (&site, row)): (usize, (&AttentionSite, &Vec<f32>))| {
            let key = random::mix(key, number as u64);
            let logit = |place: usize| Logit { value: 3.0 * normal(key, place as u64), ..Logit::default() };
            (site, (0..row.len()).map(logit).collect())
        };
        Self(own.iter().enumerate().map(start).collect())
    }

    fn attention(&self) -> Attention {
        let softmax = |logits: &Vec<Logit>| {
            let largest = logits.iter().map(|logit| logit.value).fold(f64::MIN, f64::max);
            let terms: Vec<f64> = logits.iter().map(|logit| (logit.value - largest).exp()).collect();
            let sum: f64 = terms.iter().sum();
            terms.iter().map(|term| (term / sum) as f32).collect()
        };
        self.0.iter().map(|(&site, logits)| (site, softmax(logits))).collect()
    }

    /// A step down −JSD(own) − mean JSD(others) + the push of the distance.
    fn update(
        &mut self,
        attentions: &[Attention],
        copy: usize,
        own: &Attention,
        slope: impl Fn(AttentionSite) -> Vec<f64>,
        (update, rate): (usize, f64),
    ) {
        let sites = self.0.len().max(1) as f64;
        let pairs = (SEARCHERS * (SEARCHERS - 1) / 2) as f64;
        for (&site, logits) in &mut self.0 {
            let weights = &attentions[copy][&site];
            let mut slopes = slope(site);
            slopes.resize(weights.len(), 0.0);
            let others = attentions.iter().enumerate().filter(|(other, _)| *other != copy);
            let apart = others.map(|(_, other)| (&other[&site], 1.0 / pairs));
            for (from, weight) in std::iter::once((&own[&site], 1.0)).chain(apart) {
                for (slope, (&q, &p)) in slopes.iter_mut().zip(weights.iter().zip(from)) {
                    *slope -= weight / sites * divergence_slope(f64::from(q), f64::from(p));
                }
            }
            let mean: f64 =
                slopes.iter().zip(weights).map(|(slope, &weight)| slope * f64::from(weight)).sum();
            for (logit, (slope, &weight)) in logits.iter_mut().zip(slopes.iter().zip(weights)) {
                logit.step(f64::from(weight) * (slope - mean), update, rate);
            }
        }
    }
}

/// ∂ JSD / ∂q = ½ ln(q / m), m = ½ (p + q).
fn divergence_slope(q: f64, p: f64) -> f64 {
    if q > 0.0 { 0.5 * (2.0 * q / (p + q)).ln() } else { 0.0 }
}

impl Logit {
    fn step(&mut self, gradient: f64, update: usize, rate: f64) {
        let (first, second) = (0.9_f64, 0.999_f64);
        self.mean = first * self.mean + (1.0 - first) * gradient;
        self.square = second * self.square + (1.0 - second) * gradient * gradient;
        self.largest = self.largest.max(self.square);
        let corrected = (self.largest / (1.0 - second.powf(update as f64))).sqrt() + 1e-8;
        self.value -= rate * self.mean / (1.0 - first.powf(update as f64)) / corrected;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The slope of the divergence is that of finite differences.
    #[test]
    fn the_divergence_has_its_slope() {
        let (p, q) = ([0.5_f64, 0.25, 0.25], [0.125_f64, 0.5, 0.375]);
        let jsd = |q: &[f64]| -> f64 {
            let term = |x: f64, m: f64| x * (x / m).ln();
            p.iter()
                .zip(q)
                .map(|(&p, &q)| 0.5 * (term(p, f64::midpoint(p, q)) + term(q, f64::midpoint(p, q))))
                .sum()
        };
        for place in 0..3 {
            let moved = |step: f64| {
                let mut q = q;
                q[place] += step;
                jsd(&q)
            };
            let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            assert!((slope - divergence_slope(q[place], p[place])).abs() < 1e-8);
        }
    }
}
