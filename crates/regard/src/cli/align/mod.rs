//! `regard align`: links between the words of given translations.

mod aligner;
mod tune;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use regard_decode::pharaoh;
use regard_eval::transpose;
use regard_look::{self as look, Reading};

use self::aligner::Aligner;
use self::tune::{Gold, LineRange};
use super::evaluate_alignment::Method as Symmetrize;
use super::input::paired_lines;
use super::output::Output;
use super::settings::Settings;
use super::text_options::TextOptions;

/// Pairs whose attention is in memory at a time.
const WINDOW: usize = 1024;

/// Links between the words of each target line and its source line.
///
/// They are read off where the model looks while it writes the target: `source-target`, words counted from 0 (Pharaoh's
/// format), a line a pair. Words are what white space separates, after Moses' tokenizer where the model has it. Each token of the target belongs to
/// the source token with the largest weight; two words are linked where any of their tokens are.
///
/// Example: regard align model --src test.en --tgt test.fr --method attention-next --tune-gold gold.wa --tune-lines 1-100
#[derive(Args)]
pub(super) struct AlignArgs {
    /// The model's directory
    model: PathBuf,
    /// Source lines
    #[arg(long, value_name = "FILE")]
    src: PathBuf,
    /// Target lines
    #[arg(long, value_name = "FILE")]
    tgt: PathBuf,
    /// What the links are read off
    #[arg(long, value_enum, default_value = "attention", value_name = "METHOD")]
    method: Method,
    /// The layer of the decoder, from 0 [default: the last]
    #[arg(long, value_name = "L", conflicts_with = "tune_gold")]
    layer: Option<usize>,
    /// The head, from 0, or the mean of all
    #[arg(long, value_name = "H|mean", default_value = "mean", conflicts_with = "tune_gold")]
    head: Head,
    /// Take the layer and the head with the lowest AER against these links, in either format of `evaluate-alignment`
    #[arg(long, value_name = "FILE", requires = "tune_lines")]
    tune_gold: Option<PathBuf>,
    /// The lines of the input that --tune-gold is read for, from 1
    #[arg(long, value_name = "A-B", requires = "tune_gold")]
    tune_lines: Option<LineRange>,
    /// The position of a first word in --tune-gold [default: 0, in NAACL's format 1]
    #[arg(long, value_name = "0|1", value_parser = clap::value_parser!(u8).range(0..=1), requires = "tune_gold")]
    gold_base: Option<u8>,
    /// A model that translates the other way; what is written is what --symmetrize makes of both
    #[arg(long, value_name = "MODEL", requires = "symmetrize")]
    reverse: Option<PathBuf>,
    /// How two alignments become one
    #[arg(long, value_enum, value_name = "METHOD", requires = "reverse")]
    symmetrize: Option<Symmetrize>,
    /// A token whose largest weight is not above W has no link
    #[arg(long, value_name = "W", default_value_t = 0.0, value_parser = least)]
    above: f32,
    /// Write here instead of standard output
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Sentences that are read together; it changes the speed only
    #[arg(long, default_value_t = 32, value_name = "N")]
    batch_size: usize,
    #[command(flatten)]
    text: TextOptions,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Clone, Copy, ValueEnum)]
enum Method {
    /// Attention of the step that writes a token
    Attention,
    /// Attention of the step that reads it, the next one
    AttentionNext,
    /// |gradient of log p × word vector| (Ding et al. 2019)
    Saliency,
    /// Norms of weighted, transformed values in the last look at the source (Kobayashi et al. 2020)
    Norm,
    /// The turn of the last look's result without a position's value
    ValueZeroing,
    /// ALTI+, of Transformers (Ferrando et al. 2022)
    Alti,
}

impl Method {
    /// Which step's attention is read, where attention is.
    fn reading(self) -> Option<Reading> {
        match self {
            Self::Attention => Some(Reading::Current),
            Self::AttentionNext => Some(Reading::Next),
            _ => None,
        }
    }

    /// What is read in place of attention.
    fn attribution(self) -> look::Method {
        match self {
            Self::Norm => look::Method::Norm,
            Self::ValueZeroing => look::Method::ValueZeroing,
            Self::Alti => look::Method::Alti,
            _ => look::Method::GradientInput,
        }
    }
}

/// A head, or the mean of all.
#[derive(Clone, Copy)]
struct Head(Option<usize>);

impl std::str::FromStr for Head {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "mean" => Ok(Self(None)),
            number => {
                number.parse().map(|head| Self(Some(head))).map_err(|_| "give a number from 0, or mean")
            }
        }
    }
}

pub(super) fn run(args: &AlignArgs) -> Result<()> {
    let forward = Aligner::load(args, &args.model, &args.text)?;
    let text = TextOptions { tags: Vec::new(), ..args.text.clone() };
    let reverse = args.reverse.as_ref().map(|model| Aligner::load(args, model, &text)).transpose()?;
    let (sources, targets) = paired_lines(&args.src, &args.tgt)?;
    let (sources, targets) = (strs(&sources), strs(&targets));
    let gold = Gold::read(args, sources.len())?;
    let tuned = |aligner: Aligner, lines: (&[&str], &[&str]), is_reverse| -> Result<Aligner> {
        let Some(gold) = &gold else { return Ok(aligner) };
        let look = gold.best(&aligner, lines, is_reverse, &args.settings)?;
        Ok(Aligner { look, ..aligner })
    };
    let forward = tuned(forward, (&sources, &targets), false)?;
    let reverse = reverse.map(|reverse| tuned(reverse, (&targets, &sources), true)).transpose()?;
    let mut output = Output::open(args.output.as_ref())?;
    let mut line = 0;
    for (sources, targets) in sources.chunks(WINDOW).zip(targets.chunks(WINDOW)) {
        let mut links = forward.links_from(line, (sources, targets), &args.settings)?;
        if let (Some(reverse), Some(method)) = (&reverse, args.symmetrize) {
            forward.check_words(reverse, (sources, targets), line)?;
            for (links, back) in
                links.iter_mut().zip(reverse.links_from(line, (targets, sources), &args.settings)?)
            {
                *links = method.symmetrization().combine(links, &transpose(&back));
            }
        }
        for links in &links {
            output.line(&pharaoh(&links.iter().copied().collect::<Vec<_>>()))?;
        }
        line += sources.len();
    }
    output.finish()
}

fn least(text: &str) -> Result<f32, &'static str> {
    text.parse().ok().filter(|least: &f32| least.is_finite() && *least >= 0.0).ok_or("give a number from 0")
}

fn strs(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).collect()
}
