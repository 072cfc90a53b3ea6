//! The way through one sentence pair, and what is asked at the sampled steps.

use regard_decode::Decoding;
use regard_model::{Row, Run};
use regard_tensor::{Tape, random};
use regard_text::Padded;
use regard_text::special_tokens::BOS;

use super::adversary::{Search, adversary};
use super::kendall::kendall_tau_b;
use super::rivals::{Rival, Seen};
use super::step::{AdversaryRecord, Distances, Flips, NamedAttribution, Rationale, StepRecord};
use super::variants::{Moment, Variant, take};
use super::{AuditOptions, Pair};
use crate::attribution::{Method, Subject, attribute, state_gradient};
use crate::distance::total_variation;
use crate::draws::{shuffle, strongest};
use crate::error::Result;

/// Shares of columns that are a rationale, in percent.
pub(super) const PERCENTS: [usize; 3] = [10, 20, 50];

/// Random rationales of each size.
const RANDOM_RATIONALES: usize = 5;

/// Columns that are a rationale: k = max(1, ⌈p · S⌉).
fn rationale_size(percent: usize, columns: usize) -> usize {
    (percent * columns).div_ceil(100).max(1).min(columns)
}

/// The name of the gradient at the encoder's states.
pub(super) const STATE_GRADIENT: &str = "gradient-states";

/// Everything that is asked of one pair.
pub(super) struct Walk<'a> {
    pub(super) subject: Subject<'a>,
    pub(super) pair: &'a Pair,
    pub(super) options: &'a AuditOptions,
    pub(super) index: usize,
    pub(super) rivals: &'a [Rival<'a>],
}

impl Walk<'_> {
    /// The records of the sampled steps.
    pub(super) fn records(&self) -> Result<Vec<StepRecord>> {
        let attributions = self.attributions()?;
        let rivals = self.rivals.iter().map(|rival| rival.seen(&self.subject, &self.pair.steps));
        let rivals: Vec<Vec<Seen>> = rivals.collect::<Result<_>>()?;
        let decoding = Decoding::new(self.subject.model, self.subject.threads);
        let tape = Tape::inference(self.subject.threads);
        let run = Run { tape: &tape, hook: None, attention: true };
        let source = Padded::from_rows(&[self.subject.source.to_vec()]);
        let memory = decoding.model.encode(&run, &source)?;
        let mut state = decoding.model.start(&run, &memory, &[0])?;
        let (mut token, mut records) = (BOS, Vec::new());
        for (position, &next) in self.subject.target.iter().enumerate() {
            let row = Row { sentence: 0, hypothesis: 0, parent: 0, position };
            let output = decoding.model.step(&run, &memory, &state, &[token], &[row])?;
            if self.pair.steps.contains(&position) {
                let positions = self.subject.source.len();
                let moment = Moment { memory: &memory, state: &state, token, position, positions };
                let own = Seen::new(&output, 0, positions);
                let mut record = self.record(&decoding, &tape, &moment, &own, &attributions)?;
                let beside = |(rival, seen): (&Rival, &Vec<Seen>)| {
                    seen[records.len()].beside(&own, rival.kind, next as usize)
                };
                record.rivals = self.rivals.iter().zip(&rivals).map(beside).collect();
                records.push(record);
            }
            (state, token) = (output.state, next);
        }
        Ok(records)
    }

    /// Source tables of all measures, by name.
    fn attributions(&self) -> Result<Vec<(String, Vec<Vec<f64>>)>> {
        let mut tables = vec![(STATE_GRADIENT.to_owned(), state_gradient(&self.subject)?)];
        for &method in &self.options.methods {
            let mut table = attribute(&self.subject, method)?.source;
            if matches!(method, Method::Occlusion | Method::IntegratedGradients) {
                // How much a word matters, whichever way.
                table.iter_mut().flatten().for_each(|value| *value = value.abs());
            }
            tables.push((method.name().to_owned(), table));
        }
        Ok(tables)
    }

    /// The search for another attention, where this step was chosen for it.
    fn adversary(&self, position: usize) -> Result<Option<AdversaryRecord>> {
        if !self.pair.adversaries.contains(&position) {
            return Ok(None);
        }
        let (updates, rate) = (self.options.adversary_updates, self.options.adversary_rate);
        let search = Search { updates, rate, key: self.key(position, 2) };
        adversary(&self.subject, position, search).map(Some)
    }

    /// A key of its own for every draw of the audit.
    fn key(&self, position: usize, draw: u64) -> u64 {
        let words = [self.index as u64, position as u64, draw];
        words.iter().fold(self.options.seed, |key, &word| random::mix(key, word))
    }

    fn record(
        &self,
        decoding: &Decoding,
        tape: &Tape,
        moment: &Moment,
        own: &Seen,
        attributions: &[(String, Vec<Vec<f64>>)],
    ) -> Result<StepRecord> {
        let position = moment.position;
        // The end symbol is no word to give weight to.
        let words = moment.positions - 1;
        let attention = own.attention[..words].to_vec();
        let questions = Questions::new(self, &attention, position);
        let output = take(decoding, tape, moment, &questions.variants)?;
        let distribution =
            |row: usize| -> Vec<f32> { output.log_probs.row(row).values().map(f32::exp).collect() };
        let distributions: Vec<Vec<f32>> = (0..questions.variants.len()).map(distribution).collect();
        let token = self.subject.target[position] as usize;
        let answers = Answers { distributions: &distributions, token };
        let mut order: Vec<usize> = (0..words).collect();
        shuffle(&mut order, self.key(position, 1));
        let shuffled: Vec<f64> = order.iter().map(|&column| attention[column]).collect();
        let named = |(method, table): &(String, Vec<Vec<f64>>)| {
            let values = table[position][..words].to_vec();
            let (tau, tau_shuffled) = (kendall_tau_b(&attention, &values), kendall_tau_b(&shuffled, &values));
            NamedAttribution { method: method.clone(), values, tau, tau_shuffled }
        };
        Ok(StepRecord {
            sentence: self.index,
            step: position,
            token: self.pair.labels[position].clone(),
            source: self.pair.source_labels.clone(),
            content: self.pair.content[position],
            probability: f64::from(distributions[0][token]),
            log_probability: f64::from(own.log_probs[token]),
            attributions: attributions.iter().map(named).collect(),
            attention,
            attention_on_end: own.attention[words],
            shuffled: order,
            tvd: questions.distances(&answers),
            flips: questions.flips(&answers),
            rationales: Questions::rationales(&answers),
            adversary: self.adversary(position)?,
            rivals: Vec::new(),
        })
    }
}

/// The variants of one step, in their order: the same, some fixed ones, rationales, shuffles.
struct Questions {
    variants: Vec<Variant>,
    shuffles: usize,
}

/// A column drawn from all but the strongest; the only one where there is no other.
fn other_column(attention: &[f64], key: u64) -> usize {
    let best = strongest(attention);
    let mut others: Vec<usize> = (0..attention.len()).filter(|&column| column != best).collect();
    shuffle(&mut others, key);
    others.first().copied().unwrap_or(best)
}

/// Where the fixed ones are.
const UNIFORM: usize = 1;
const HARD: usize = 2;
const WITHOUT_STRONGEST: usize = 3;
const WITHOUT_RANDOM: usize = 4;
const WITHOUT_SOURCE: usize = 5;
const RATIONALES: usize = 6;

/// Variants of one size of rationale: without and alone, of the strongest and of random ones.
const OF_A_SIZE: usize = 2 * (1 + RANDOM_RATIONALES);

impl Questions {
    fn new(walk: &Walk, attention: &[f64], position: usize) -> Self {
        let columns = attention.len();
        let mut order: Vec<usize> = (0..columns).collect();
        order.sort_by(|&a, &b| attention[b].total_cmp(&attention[a]));
        let drawn = |draw: u64, count: usize| {
            let mut drawn: Vec<usize> = (0..columns).collect();
            shuffle(&mut drawn, walk.key(position, draw));
            drawn.truncate(count);
            drawn
        };
        let mut variants = vec![
            Variant::Same,
            Variant::Uniform,
            Variant::Hard,
            Variant::Without(vec![strongest(attention)]),
            Variant::Without(vec![other_column(attention, walk.key(position, 2))]),
            Variant::Nothing,
        ];
        for (size, &percent) in PERCENTS.iter().enumerate() {
            let count = rationale_size(percent, columns);
            let random = |draw: usize| drawn(3 + (size * RANDOM_RATIONALES + draw) as u64, count);
            let chosen = std::iter::once(order[..count].to_vec()).chain((0..RANDOM_RATIONALES).map(random));
            for columns in chosen {
                variants.extend([Variant::Without(columns.clone()), Variant::Alone(columns)]);
            }
        }
        let shuffles = walk.options.permutations;
        variants.extend((0..shuffles as u64).map(|draw| Variant::Permuted(walk.key(position, 100 + draw))));
        Self { variants, shuffles }
    }

    fn shuffled(&self) -> std::ops::Range<usize> {
        self.variants.len() - self.shuffles..self.variants.len()
    }

    fn distances(&self, answers: &Answers) -> Distances {
        Distances {
            permuted: self.shuffled().map(|row| answers.distance(row)).collect(),
            uniform: answers.distance(UNIFORM),
            hard: answers.distance(HARD),
            without_strongest: answers.distance(WITHOUT_STRONGEST),
            without_random: answers.distance(WITHOUT_RANDOM),
            without_source: answers.distance(WITHOUT_SOURCE),
        }
    }

    fn flips(&self, answers: &Answers) -> Flips {
        let flipped: f64 = self.shuffled().map(|row| answers.flips(row)).sum();
        Flips {
            permuted: flipped / self.shuffles.max(1) as f64,
            uniform: answers.flips(UNIFORM),
            hard: answers.flips(HARD),
            without_strongest: answers.flips(WITHOUT_STRONGEST),
            without_random: answers.flips(WITHOUT_RANDOM),
            without_source: answers.flips(WITHOUT_SOURCE),
        }
    }

    fn rationales(answers: &Answers) -> Vec<Rationale> {
        let of_size = |(size, &percent): (usize, &usize)| {
            let first = RATIONALES + size * OF_A_SIZE;
            let random = |offset: usize| {
                let rows = (1..=RANDOM_RATIONALES).map(|draw| first + 2 * draw + offset);
                rows.map(|row| answers.probability(row)).collect()
            };
            Rationale {
                percent,
                without: answers.probability(first),
                alone: answers.probability(first + 1),
                without_random: random(0),
                alone_random: random(1),
            }
        };
        PERCENTS.iter().enumerate().map(of_size).collect()
    }
}

/// The distributions under the variants; the first is the original.
struct Answers<'a> {
    distributions: &'a [Vec<f32>],
    token: usize,
}

impl Answers<'_> {
    fn distance(&self, row: usize) -> f64 {
        total_variation(&self.distributions[0], &self.distributions[row])
    }

    /// 1 where the likeliest token is another.
    fn flips(&self, row: usize) -> f64 {
        f64::from(u8::from(strongest(&self.distributions[0]) != strongest(&self.distributions[row])))
    }

    fn probability(&self, row: usize) -> f64 {
        f64::from(self.distributions[row][self.token])
    }
}
