//! The search of one sentence, a step at a time.
//!
//! At each step the continuations of all living paths are ranked by their raw sums. Of the `beam_size` best, those that end
//! leave the beam for the list; the best ones that do not end live on, as many as the beam holds: what ends leaves
//! its place to the next. A narrowing beam gives it to nobody, and a beam of one is greedy search: it is over with the first
//! end. No sentence knows of any other.

mod banks;
mod candidates;
mod finished;
mod wishes;

use regard_model::StepOutput;
use regard_text::special_tokens::EOS;

use crate::error::{DecodeError, Result};
use crate::hypothesis::Hypothesis;
use crate::observer::{Considered, Fate};
use crate::options::{BeamWidth, Cut, SearchOptions};
use crate::path::Path;
use crate::request::Request;
use crate::rules::Rules;
use crate::scoring::Scoring;
use candidates::{Candidate, Candidates};
use finished::Finished;
use wishes::{Fulfilled, Wishes};

/// The living and the finished hypotheses of a sentence.
#[derive(Debug)]
pub(crate) struct Beam {
    /// Which sentence of the batch.
    sentence: usize,
    /// The paths that go on, best first. None: the search of this sentence is over.
    living: Vec<Path>,
    /// How far each of them is with the wishes.
    fulfilled: Vec<Fulfilled>,
    rules: Rules,
    wishes: Wishes,
    /// The continuations that are taken at each step.
    width: usize,
    /// Whether a place is gone for good with each path that ends.
    narrows: bool,
    /// Whether the next best paths take the places of those that end.
    refills: bool,
    /// Whether what the limit cuts competes with what has ended.
    cut_competes: bool,
    /// Source positions, the end symbol included.
    positions: usize,
    max_length: usize,
    finished: Finished,
    /// What lived when the search was stopped or came to the limit, each with the tokens of the wishes that it has met.
    cut: Vec<(usize, Path)>,
}

/// Continuations in the order in which the beam takes them.
struct Ranked {
    candidates: Vec<Candidate>,
    /// How many of them it may take; the others are there for who looks on.
    eligible: usize,
}

impl Beam {
    /// The beam before the first step.
    pub(crate) fn new(sentence: usize, positions: usize, options: &SearchOptions, request: &Request) -> Self {
        Self {
            sentence,
            living: vec![Path::new(options.watch())],
            fulfilled: vec![Fulfilled::default()],
            rules: Rules::new(options, request),
            wishes: Wishes::new(&request.include),
            width: options.beam_size,
            narrows: options.beam_width == BeamWidth::Narrowing,
            cut_competes: options.cut == Cut::Competes,
            refills: options.beam_width == BeamWidth::Steady && options.beam_size > 1,
            positions,
            max_length: options.max_length.tokens(positions.saturating_sub(1)),
            finished: Finished::new(options.n_best, Scoring::new(options)),
            cut: Vec::new(),
        }
    }

    /// The paths that go on, best first; none where the search is over.
    pub(crate) fn living(&self) -> &[Path] {
        &self.living
    }

    /// Takes one step, of which this beam's rows begin at `first_row`, and returns the row that each living path
    /// continues. What was considered goes to `considered`, and as many candidates that come after them.
    pub(crate) fn advance(
        &mut self,
        output: &StepOutput,
        first_row: usize,
        mut considered: Option<&mut Vec<Considered>>,
    ) -> Result<Vec<usize>> {
        let Ranked { candidates, eligible } = self.candidates(output, first_row, considered.is_some())?;
        if candidates.is_empty() {
            self.stop();
            return Ok(Vec::new());
        }
        let width = self.width;
        let at_limit = self.length() + 1 >= self.max_length;
        let (mut living, mut fulfilled, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for (rank, candidate) in candidates.iter().enumerate() {
            let ends = candidate.token == EOS;
            let taken = if self.refills && !ends { living.len() < width } else { rank < width };
            let fate = match (taken && rank < eligible, ends, at_limit) {
                (false, _, _) => Fate::Dropped,
                (true, true, _) => Fate::Ended,
                (true, false, true) => Fate::Cut,
                (true, false, false) => Fate::Lives,
            };
            if let Some(considered) = &mut considered {
                considered.push(candidate.considered(fate));
            }
            if fate == Fate::Dropped {
                continue;
            }
            let row = first_row + candidate.parent;
            let mut path = self.living[candidate.parent].clone();
            path.push(candidate.token, candidate.log_prob, output, row, self.positions);
            if ends {
                self.width -= usize::from(self.narrows);
                self.finished.add(path);
            } else {
                living.push(path);
                fulfilled.push(self.wishes.after(&self.fulfilled[candidate.parent], candidate.token));
                rows.push(row);
            }
        }
        (self.living, self.fulfilled) = (living, fulfilled);
        if at_limit {
            self.come_to_the_limit();
            rows.clear();
        } else if self.finished.is_settled(&self.living, self.max_length) {
            self.living.clear();
            rows.clear();
        }
        Ok(rows)
    }

    /// The tokens of each living path.
    fn length(&self) -> usize {
        self.living.first().map_or(0, |path| path.tokens.len())
    }

    /// The best continuations, best first: as many as the beam holds, and as many again where they may be needed or `more`
    /// are wanted.
    fn candidates(&self, output: &StepOutput, first_row: usize, more: bool) -> Result<Ranked> {
        let twice = more || self.wishes.is_empty() && self.refills;
        let mut best = Candidates::new(if twice { 2 * self.width } else { self.width });
        let mut helpful = Vec::new();
        for (parent, path) in self.living.iter().enumerate() {
            let log_probs = output.log_probs.row(first_row + parent);
            if log_probs.is_nan() {
                return Err(DecodeError::NotANumber { sentence: self.sentence, position: path.tokens.len() });
            }
            if let Some(forced) = self.rules.forced(path.tokens.len()) {
                best.offer(parent, path.log_prob, log_probs, |token| token == forced);
                continue;
            }
            let fulfilled = &self.fulfilled[parent];
            let may_end = self.wishes.met(fulfilled) == self.wishes.tokens();
            let forbidden = self.rules.after(&path.tokens, may_end);
            best.offer(parent, path.log_prob, log_probs, |token| forbidden.allows(token));
            if self.wishes.is_empty() {
                continue;
            }
            // What has met much goes on too, however little it is worth beside the others.
            let mut own = Candidates::new(1);
            own.offer(parent, path.log_prob, log_probs, |token| forbidden.allows(token));
            helpful.extend(own.into_vec());
            for token in self.wishes.next(fulfilled).into_iter().filter(|&token| forbidden.allows(token)) {
                let log_prob = log_probs.get(token as usize);
                if log_prob > f32::NEG_INFINITY {
                    let sum = path.log_prob + f64::from(log_prob);
                    helpful.push(Candidate { sum, parent, token, log_prob });
                }
            }
        }
        let best = best.into_vec();
        if self.wishes.is_empty() {
            return Ok(Ranked { eligible: best.len(), candidates: best });
        }
        Ok(self.allotted(best, helpful, more))
    }

    /// Shares the beam out among what has met more and less of the wishes; where `more` are wanted, with the best of those
    /// that get no place behind.
    fn allotted(&self, mut best: Vec<Candidate>, helpful: Vec<Candidate>, more: bool) -> Ranked {
        let met = |candidate: &Candidate| {
            self.wishes.met(&self.wishes.after(&self.fulfilled[candidate.parent], candidate.token))
        };
        // Who looks on must not change what is chosen: it is chosen from the best of one beam.
        let rest = best.split_off(self.width.min(best.len()));
        let all: Vec<Candidate> = best.into_iter().chain(helpful).collect();
        let mut candidates = banks::allot(all.clone(), met, self.width, self.wishes.tokens());
        let eligible = candidates.len();
        if more {
            let mut left = banks::ranked(all.into_iter().chain(rest).collect());
            left.retain(|candidate| !candidates.contains(candidate));
            candidates.extend(left.into_iter().take(self.width));
        }
        Ranked { candidates, eligible }
    }

    /// Ends the search at the limit: what lives is cut, or competes with what has ended if it has met the wishes.
    fn come_to_the_limit(&mut self) {
        self.stop();
        if self.cut_competes {
            let all = self.wishes.tokens();
            for (_, path) in self.cut.extract_if(.., |&mut (met, _)| met == all) {
                self.finished.add(path);
            }
        }
    }

    /// Ends the search before its time: what lives is cut.
    pub(crate) fn stop(&mut self) {
        let met = self.fulfilled.iter().map(|fulfilled| self.wishes.met(fulfilled));
        self.cut = met.zip(std::mem::take(&mut self.living)).collect();
    }

    /// The result, best first.
    pub(crate) fn into_hypotheses(mut self) -> Vec<Hypothesis> {
        if !self.living.is_empty() {
            self.stop();
        }
        self.finished.or_cut(self.cut)
    }
}
