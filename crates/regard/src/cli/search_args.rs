//! Options of the search, shared by the commands that search.

use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum};
use regard_decode::{BeamWidth, Cut, LengthPenalty, MaxLength, Sampling, SearchOptions};
use regard_text::Pipeline;

use super::failure::WrongCall;

#[derive(Args, Clone)]
pub(super) struct SearchArgs {
    /// Hypotheses kept at each step; 1 is greedy search
    #[arg(long, default_value_t = 5, value_name = "N")]
    beam_size: usize,
    /// A translation that the length limit has cut competes with those that have ended, as in Marian, transformers and
    /// CTranslate2; else it is returned only where none has ended
    #[arg(long)]
    cut_competes: bool,
    /// The beam is narrower by one for each translation that has ended, as Marian's is
    #[arg(long)]
    narrowing_beam: bool,
    /// Target tokens after which a translation is cut [default: 2 × source + 20]
    #[arg(long, value_name = "N")]
    max_length: Option<usize>,
    /// The same as so many times the source tokens, end symbols counted on both sides
    #[arg(long, value_name = "N", conflicts_with = "max_length")]
    max_length_factor: Option<usize>,
    /// Target tokens, end symbol included, before which a translation does not end
    #[arg(long, default_value_t = 0, value_name = "N")]
    min_length: usize,
    /// How finished translations of n tokens (end symbol included) compare: none: Σ log p; average: Σ log p / n^α;
    /// gnmt: Σ log p / ((5+n)/6)^α; marian: Σ log p / n^α. A larger α favours longer translations, 0 is neutral.
    #[arg(long, value_enum, default_value = "average")]
    length_penalty: Penalty,
    /// α of the length penalty [default: 1, for gnmt 0.6]
    #[arg(long, value_name = "A")]
    alpha: Option<f64>,
    /// β of β · Σ log min(Σ attention, 1) over the source tokens, added to the score; 0 for none
    #[arg(long, default_value_t = 0.0, value_name = "B")]
    coverage_penalty: f64,
    /// Never write a sequence of N tokens twice; 0 for no such rule
    #[arg(long, default_value_t = 0, value_name = "N")]
    no_repeat_ngram: usize,
    /// Never write this token of the target vocabulary, such as <unk>; may be repeated
    #[arg(long, value_name = "TOKEN")]
    suppress: Vec<String>,
    /// Seconds after which the search of a batch ends with the best that it has so far; what comes out then depends on the
    /// machine
    #[arg(long, value_name = "SECONDS")]
    time_limit: Option<f64>,
    #[command(flatten)]
    sampling: SamplingArgs,
}

#[derive(Args, Clone)]
struct SamplingArgs {
    /// Draw translations by chance (as many as --n-best) in place of searching for the best
    #[arg(long)]
    sample: bool,
    /// With --sample: scores are divided by T; below 1 sharper, above 1 flatter
    #[arg(long, default_value_t = 1.0, value_name = "T", requires = "sample")]
    sample_temperature: f64,
    /// With --sample: only the N most probable tokens; 0 for all
    #[arg(long, default_value_t = 0, value_name = "N", requires = "sample")]
    top_k: usize,
    /// With --sample: only the most probable tokens that have the probability P together
    #[arg(long, default_value_t = 1.0, value_name = "P", requires = "sample")]
    top_p: f64,
    /// With --sample: only tokens with at least the share P of the largest probability
    #[arg(long, default_value_t = 0.0, value_name = "P", requires = "sample")]
    min_p: f64,
    /// With --sample: decides the draws
    #[arg(long, default_value_t = 1, value_name = "N", requires = "sample")]
    seed: u64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Penalty {
    None,
    Average,
    Gnmt,
    Marian,
}

impl SearchArgs {
    /// The options, for models that write with this pipeline.
    pub(super) fn options(&self, target: &Pipeline) -> Result<SearchOptions> {
        let usual = if matches!(self.length_penalty, Penalty::Gnmt) { 0.6 } else { 1.0 };
        let alpha = self.alpha.unwrap_or(usual);
        let suppressed = self.suppress.iter().map(|token| match target.vocabulary.id(token) {
            Some(id) => Ok(id),
            None => Err(WrongCall(format!("--suppress {token}: the target vocabulary has no such token"))),
        });
        let time_limit = self.time_limit.map(Duration::try_from_secs_f64).transpose();
        let time_limit = time_limit
            .map_err(|_| WrongCall("--time-limit: it must be a number of seconds, 0 or more".to_owned()))?;
        let SamplingArgs { sample, sample_temperature: temperature, top_k, top_p, min_p, seed } =
            self.sampling;
        Ok(SearchOptions {
            beam_size: self.beam_size,
            cut: if self.cut_competes { Cut::Competes } else { Cut::Last },
            beam_width: if self.narrowing_beam { BeamWidth::Narrowing } else { BeamWidth::Steady },
            max_length: match (self.max_length, self.max_length_factor) {
                (Some(tokens), _) => MaxLength::Fixed(tokens),
                (None, Some(factor)) => MaxLength::Times(factor),
                (None, None) => MaxLength::FromSource,
            },
            min_length: self.min_length,
            length_penalty: match self.length_penalty {
                Penalty::None => LengthPenalty::None,
                Penalty::Average => LengthPenalty::Average { alpha },
                Penalty::Gnmt => LengthPenalty::Gnmt { alpha },
                Penalty::Marian => LengthPenalty::Marian { alpha, word_penalty: 0.0 },
            },
            coverage_penalty: self.coverage_penalty,
            no_repeat_ngram: self.no_repeat_ngram,
            suppressed: suppressed.collect::<std::result::Result<_, _>>()?,
            sampling: sample.then_some(Sampling { temperature, top_k, top_p, min_p, seed }),
            time_limit,
            ..SearchOptions::default()
        })
    }
}
