//! Which metrics, with which settings.

use anyhow::Result;
use clap::{Args, ValueEnum};
use regard_eval::{
    BleuOptions, BleuTokenizer, ChrfOptions, ErrorRateOptions, ErrorUnit, ExactMatch, Metric, Smoothing,
    TerOptions,
};

use crate::cli::failure::WrongCall;

/// The metrics and their settings on the command line.
#[derive(Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct MetricArgs {
    /// Metrics, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', default_value = "bleu")]
    metrics: Vec<MetricName>,
    /// How lines become the tokens of BLEU: 13a, none (at spaces), intl, char or zh
    #[arg(long, default_value = "13a", value_name = "NAME")]
    tokenize: BleuTokenizer,
    /// What stands for BLEU's precisions of zero: none, floor, add-k or exp
    #[arg(long, default_value = "exp", value_name = "METHOD")]
    smooth: String,
    /// The value of floor [default: 0.1] or add-k [default: 1]
    #[arg(long, value_name = "X")]
    smooth_value: Option<f64>,
    /// Ignore case, in all metrics (TER always does unless told otherwise)
    #[arg(long)]
    lowercase: bool,
    /// BLEU without the orders that the whole output is too short for
    #[arg(long)]
    effective_order: bool,
    /// Word n-grams in chrF up to this order; 2 is chrF++
    #[arg(long, default_value_t = 0, value_name = "N")]
    chrf_word_order: usize,
    /// How many times as much recall weighs in chrF as precision
    #[arg(long, default_value_t = 2, value_name = "B")]
    chrf_beta: u32,
    /// Set punctuation apart before TER
    #[arg(long)]
    ter_normalized: bool,
    /// Drop punctuation before TER
    #[arg(long)]
    ter_no_punct: bool,
    /// With the two above: cut Chinese and Japanese text into characters, and drop its punctuation
    #[arg(long)]
    ter_asian: bool,
    /// Case counts in TER
    #[arg(long)]
    ter_case_sensitive: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum MetricName {
    Bleu,
    Chrf,
    Ter,
    Wer,
    Cer,
    Exact,
}

/// A metric that was asked for.
pub(super) enum Chosen {
    /// BLEU, which reports what its score is made of.
    Bleu(BleuOptions),
    /// Any other.
    Other(Box<dyn Metric>),
}

impl Chosen {
    pub(super) fn metric(&self) -> &dyn Metric {
        match self {
            Self::Bleu(options) => options,
            Self::Other(metric) => metric.as_ref(),
        }
    }
}

impl MetricArgs {
    pub(super) fn build(&self) -> Result<Vec<Chosen>> {
        self.metrics.iter().map(|&name| self.metric(name)).collect()
    }

    /// The settings of BLEU, whether it was asked for or not: they say what a word is.
    pub(super) fn bleu(&self) -> Result<BleuOptions> {
        let smoothing = Smoothing::new(&self.smooth, self.smooth_value);
        let smoothing = smoothing.map_err(|error| WrongCall(format!("--smooth: {error}")))?;
        let (lowercase, effective_order) = (self.lowercase, self.effective_order);
        Ok(BleuOptions { tokenizer: self.tokenize, lowercase, effective_order, smoothing })
    }

    fn metric(&self, name: MetricName) -> Result<Chosen> {
        let lowercase = self.lowercase;
        let errors = |unit| Chosen::Other(Box::new(ErrorRateOptions { unit, lowercase }));
        Ok(match name {
            MetricName::Bleu => Chosen::Bleu(self.bleu()?),
            MetricName::Chrf => {
                let (word_order, beta) = (self.chrf_word_order, self.chrf_beta);
                let chrf = ChrfOptions { word_order, beta, lowercase, ..ChrfOptions::default() };
                chrf.check().map_err(|error| WrongCall(format!("--chrf-beta {beta}: {error}")))?;
                Chosen::Other(Box::new(chrf))
            }
            MetricName::Ter => Chosen::Other(Box::new(TerOptions {
                normalized: self.ter_normalized,
                no_punct: self.ter_no_punct,
                asian_support: self.ter_asian,
                case_sensitive: self.ter_case_sensitive,
            })),
            MetricName::Wer => errors(ErrorUnit::Word),
            MetricName::Cer => errors(ErrorUnit::Character),
            MetricName::Exact => Chosen::Other(Box::new(ExactMatch { lowercase })),
        })
    }
}
