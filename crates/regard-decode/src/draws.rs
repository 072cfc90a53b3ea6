//! Translations drawn by chance, a token at a time.

use regard_model::StepOutput;
use regard_text::special_tokens::EOS;

use crate::error::{DecodeError, Result};
use crate::hypothesis::Hypothesis;
use crate::observer::{Considered, Fate};
use crate::options::SearchOptions;
use crate::path::Path;
use crate::request::Request;
use crate::rules::Rules;
use crate::sampling::Sampling;
use crate::scoring::Scoring;

/// The draws of a sentence. They know nothing of each other; two of them may be the same translation.
#[derive(Debug)]
pub(crate) struct Draws {
    sentence: usize,
    /// The source ids: the same sentence has the same draws, wherever it stands.
    source: Vec<u32>,
    sampling: Sampling,
    rules: Rules,
    scoring: Scoring,
    max_length: usize,
    /// The paths that go on.
    living: Vec<Path>,
    /// The number of each of them.
    numbers: Vec<usize>,
    done: Vec<(usize, Path)>,
}

impl Draws {
    pub(crate) fn new(
        sentence: usize,
        source: &[u32],
        sampling: Sampling,
        options: &SearchOptions,
        request: &Request,
    ) -> Self {
        Self {
            sentence,
            source: source.to_vec(),
            sampling,
            rules: Rules::new(options, request),
            scoring: Scoring::new(options),
            max_length: options.max_length.tokens(source.len().saturating_sub(1)),
            living: vec![Path::new(options.watch()); options.n_best],
            numbers: (0..options.n_best).collect(),
            done: Vec::new(),
        }
    }

    pub(crate) fn living(&self) -> &[Path] {
        &self.living
    }

    /// Takes one step, as a beam does.
    pub(crate) fn advance(
        &mut self,
        output: &StepOutput,
        first_row: usize,
        mut considered: Option<&mut Vec<Considered>>,
    ) -> Result<Vec<usize>> {
        let before = std::mem::take(&mut self.living);
        let numbers = std::mem::take(&mut self.numbers);
        let mut rows = Vec::new();
        for (parent, (mut path, number)) in before.into_iter().zip(numbers).enumerate() {
            let row = first_row + parent;
            let log_probs = output.log_probs.row(row);
            let position = path.tokens.len();
            if log_probs.is_nan() {
                return Err(DecodeError::NotANumber { sentence: self.sentence, position });
            }
            let log_probs: Vec<f32> = log_probs.values().collect();
            let Some(token) = self.draw(&path, number, &log_probs) else {
                self.done.push((number, path));
                continue;
            };
            let log_prob = log_probs.get(token as usize).copied().unwrap_or(f32::NEG_INFINITY);
            path.push(token, log_prob, output, row, self.source.len());
            let fate = match path.tokens.len() {
                _ if token == EOS => Fate::Ended,
                length if length >= self.max_length => Fate::Cut,
                _ => Fate::Lives,
            };
            if let Some(considered) = &mut considered {
                considered.push(Considered { parent, token, log_prob, sum: path.log_prob, fate });
            }
            if fate == Fate::Lives {
                self.living.push(path);
                self.numbers.push(number);
                rows.push(row);
            } else {
                self.done.push((number, path));
            }
        }
        Ok(rows)
    }

    fn draw(&self, path: &Path, number: usize, log_probs: &[f32]) -> Option<u32> {
        let position = path.tokens.len();
        if let Some(forced) = self.rules.forced(position) {
            return Some(forced);
        }
        let forbidden = self.rules.after(&path.tokens, true);
        let chance = self.sampling.number(&self.source, number, position);
        self.sampling.draw(log_probs, |token| forbidden.allows(token), chance)
    }

    /// All draws, the best score first; of equal ones the earlier draw. What still lives is cut.
    pub(crate) fn into_hypotheses(mut self) -> Vec<Hypothesis> {
        self.done.extend(self.numbers.into_iter().zip(self.living));
        self.done.sort_by_key(|&(number, _)| number);
        let scored = self.done.into_iter().map(|(_, path)| Hypothesis::from_path(path, &self.scoring));
        let mut hypotheses: Vec<Hypothesis> = scored.collect();
        hypotheses.sort_by(|a, b| b.score.total_cmp(&a.score));
        hypotheses
    }
}
