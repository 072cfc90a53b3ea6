//! `regard translate`: lines in, lines out, in order.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use regard_decode::{
    Candidate, Combination, Controls, SearchObserver, SearchOptions, Trace, TranslateOptions, Translation,
    pharaoh, soft_alignment, word_alignment, word_attention,
};
use regard_text::Pipeline;
use serde::Serialize;

use super::failure::WrongCall;
use super::input::Windows;
use super::look_args::WhichLook;
use super::output::{Output, check_apart};
use super::search_args::SearchArgs;
use super::settings::{Settings, precision};
use super::shortlist::with_shortlist;
use super::text_options::TextOptions;
use super::translate_trace::{StepRecord, records};
use super::translate_wishes::Wishes;

/// Translate lines.
///
/// Example: regard translate model < input.en > output.fr
#[derive(Args)]
pub(super) struct TranslateArgs {
    /// The model's directory; several are models of the same vocabularies that translate together
    #[arg(required = true, value_name = "MODEL")]
    models: Vec<PathBuf>,
    /// With several models: how their probabilities become one
    #[arg(long, value_enum, default_value = "arithmetic", value_name = "HOW")]
    ensemble: Means,
    /// Read lines from here [default: standard input]
    #[arg(short, long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Write lines here [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    search: SearchArgs,
    /// Translations of each line, with their scores
    #[arg(long, default_value_t = 1, value_name = "N")]
    n_best: usize,
    /// Lines that are searched at a time: each thread takes its share, but 16 (or N, if less) at least; it changes speed and
    /// memory only
    #[arg(long, default_value_t = 16, value_name = "N")]
    batch_size: usize,
    /// Products with weights in 8 bits: faster, and slightly other scores
    #[arg(long)]
    int8: bool,
    /// Write only what this file of `regard shortlist` lists for the words of each line: faster, and probabilities sum to 1
    /// over the list
    #[arg(long, value_name = "FILE")]
    shortlist: Option<PathBuf>,
    /// Put the source word with the strongest weight in the place of each unknown word
    #[arg(long)]
    replace_unk: bool,
    /// Sort the list by the mean chrF of each translation with the others (minimum Bayes risk), and print it as the score
    #[arg(long)]
    minimum_bayes_risk: bool,
    /// A line for each input line: the translation begins with it
    #[arg(long, value_name = "FILE")]
    prefix: Option<PathBuf>,
    /// A JSON object for each input line, {"include": ["PHRASE", …], "exclude": ["PHRASE", …]}: what the translation must
    /// and must not hold
    #[arg(long, value_name = "FILE")]
    constraints: Option<PathBuf>,
    #[command(flatten)]
    shown: ShownArgs,
    #[command(flatten)]
    text: TextOptions,
    #[command(flatten)]
    settings: Settings,
}

/// What is written of a translation.
#[derive(Args)]
struct ShownArgs {
    /// How results are written [default: text, moses for several translations]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Links between source and target tokens: the strongest weight of each row, or all weights
    #[arg(long, value_enum, default_value = "none")]
    alignment: AlignmentKind,
    /// What the links are between: the model's tokens, or words, each having the links of its tokens
    #[arg(long, value_enum, default_value = "token")]
    alignment_unit: Unit,
    #[command(flatten)]
    look: WhichLook,
    /// With jsonl: all attention weights
    #[arg(long)]
    attention: bool,
    /// With jsonl: every step of the search, what was considered and what became of it
    #[arg(long)]
    trace: bool,
}

/// How the probabilities of several models become one.
#[derive(Clone, Copy, ValueEnum)]
enum Means {
    /// The mean of the probabilities
    Arithmetic,
    /// The mean of their logarithms
    Geometric,
}

impl From<Means> for Combination {
    fn from(means: Means) -> Self {
        match means {
            Means::Arithmetic => Self::Arithmetic,
            Means::Geometric => Self::Geometric,
        }
    }
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Format {
    Text,
    Moses,
    Jsonl,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Unit {
    Token,
    Word,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum AlignmentKind {
    None,
    Hard,
    Soft,
}

pub(super) fn run(args: &TranslateArgs) -> Result<()> {
    let format = args.format();
    args.check(format)?;
    check_apart(args.input.as_ref(), args.output.as_ref())?;
    let combination = args.ensemble.into();
    let translator = args.settings.ensemble(&args.models, combination, &args.text, precision(args.int8))?;
    let translator = with_shortlist(translator, args.shortlist.as_deref())?;
    let options = args.options(translator.target())?;
    let mut input = Windows::open(args.input.as_ref())?;
    let mut wishes = Wishes::open(args.prefix.as_ref(), args.constraints.as_ref())?;
    let mut output = Output::open(args.output.as_ref())?;
    let window = args.batch_size.saturating_mul(64).clamp(1, 1024);
    let (mut done, mut stopped) = (0, Vec::new());
    loop {
        let lines = input.next(window)?;
        let texts: Vec<&str> = lines.text.lines().collect();
        if texts.is_empty() {
            wishes.finish()?;
            output.finish()?;
            args.settings.say_stopped(&stopped);
            return Ok(());
        }
        let wished = wishes.next(texts.len())?;
        let trace = Trace::default();
        let observer = args.shown.trace.then_some(&trace as &dyn SearchObserver);
        let controls = Controls { observer, ..Controls::default() };
        let translations = translator.translate_with(&texts, &wished, &options, controls)?;
        let mut traces = records(trace, texts.len(), translator.target()).into_iter();
        for (index, translation) in translations.iter().enumerate() {
            let id = done + index;
            if let Some(tokens) = translation.cut_from {
                args.settings.say_cut(id + 1, tokens);
            }
            if translation.is_stopped() {
                stopped.push(id + 1);
            }
            let trace = traces.next().filter(|_| args.shown.trace);
            let target = translator.target();
            Shown { id, source: texts[index], translation, target, args }.write(
                format,
                trace,
                &mut output,
            )?;
        }
        output.flush()?;
        done += texts.len();
    }
}

impl TranslateArgs {
    fn format(&self) -> Format {
        self.shown.format.unwrap_or(if self.n_best > 1 { Format::Moses } else { Format::Text })
    }

    /// Whether attention is part of what is written.
    fn wants_attention(&self) -> bool {
        self.shown.attention || self.shown.alignment != AlignmentKind::None
    }

    /// Refuses options that have no meaning together.
    fn check(&self, format: Format) -> Result<()> {
        let ShownArgs { alignment, attention, trace, look, .. } = &self.shown;
        let jsonl = format == Format::Jsonl;
        let message = if format == Format::Text && self.n_best > 1 {
            "--format text has one line for each input line; use --format moses or jsonl with --n-best"
        } else if *attention && !jsonl {
            "--attention needs --format jsonl; --alignment soft writes weights as text"
        } else if jsonl && *alignment == AlignmentKind::Soft {
            "--alignment soft is for text; with --format jsonl use --attention"
        } else if *trace && !jsonl {
            "--trace needs --format jsonl"
        } else if look.is_named() && !self.wants_attention() {
            "--layer and --head need --alignment or --attention"
        } else {
            return Ok(());
        };
        Err(WrongCall(message.to_owned()).into())
    }

    /// The options, for models that write with this pipeline.
    fn options(&self, target: &Pipeline) -> Result<TranslateOptions> {
        let search = SearchOptions {
            n_best: self.n_best,
            attention: self.wants_attention().then(|| self.shown.look.look()),
            ..self.search.options(target)?
        };
        search.check()?;
        Ok(TranslateOptions {
            search,
            batch_size: self.batch_size,
            replace_unk: self.replace_unk,
            minimum_bayes_risk: self.minimum_bayes_risk,
        })
    }
}

/// One result, as it is written.
struct Shown<'a> {
    id: usize,
    source: &'a str,
    translation: &'a Translation,
    /// Wrote it.
    target: &'a Pipeline,
    args: &'a TranslateArgs,
}

/// A line of `--format jsonl`.
#[derive(Serialize)]
struct Record<'a> {
    id: usize,
    source: &'a str,
    translations: Vec<CandidateRecord<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<Vec<StepRecord>>,
}

#[derive(Serialize)]
struct CandidateRecord<'a> {
    text: &'a str,
    tokens: &'a [String],
    score: f64,
    log_prob: f64,
    length: usize,
    finished: bool,
    token_log_probs: &'a [f32],
    #[serde(skip_serializing_if = "Option::is_none")]
    alignment: Option<Vec<(usize, usize)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attention: Option<&'a [Vec<f32>]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_tokens: Option<Vec<&'a str>>,
    /// The bytes of `source` that each source token stands for.
    #[serde(skip_serializing_if = "Option::is_none")]
    source_ranges: Option<Vec<[usize; 2]>>,
}

impl Shown<'_> {
    fn write(&self, format: Format, trace: Option<Vec<StepRecord>>, output: &mut Output) -> Result<()> {
        match format {
            Format::Text => output.line(&self.text()),
            Format::Moses => self.moses(output),
            Format::Jsonl => output.line(&serde_json::to_string(&Record { trace, ..self.record() })?),
        }
    }

    fn text(&self) -> String {
        let mut text = self.translation.text().to_owned();
        if let Some(alignment) = self.translation.candidates.first().and_then(|best| self.alignment(best)) {
            text = format!("{text} ||| {alignment}");
        }
        text
    }

    fn moses(&self, output: &mut Output) -> Result<()> {
        for candidate in &self.translation.candidates {
            let alignment =
                self.alignment(candidate).map(|links| format!(" ||| {links}")).unwrap_or_default();
            let hypothesis = &candidate.hypothesis;
            output.line(&format!(
                "{} ||| {}{alignment} ||| F0= {:.6} ||| {:.6}",
                self.id, candidate.text, hypothesis.log_prob, hypothesis.score
            ))?;
        }
        Ok(())
    }

    fn alignment(&self, candidate: &Candidate) -> Option<String> {
        match self.args.shown.alignment {
            AlignmentKind::None => None,
            AlignmentKind::Hard => self.links(candidate).map(|links| pharaoh(&links)),
            AlignmentKind::Soft => {
                let attention = candidate.hypothesis.attention.as_deref()?;
                Some(match self.args.shown.alignment_unit {
                    Unit::Token => soft_alignment(attention),
                    Unit::Word => {
                        let target = self.target.words_of(&candidate.tokens);
                        soft_alignment(&word_attention(attention, &self.translation.source_words(), &target))
                    }
                })
            }
        }
    }

    fn links(&self, candidate: &Candidate) -> Option<Vec<(usize, usize)>> {
        let links = candidate.alignment.clone()?;
        Some(match self.args.shown.alignment_unit {
            Unit::Token => links,
            Unit::Word => {
                let target = self.target.words_of(&candidate.tokens);
                word_alignment(&links, &self.translation.source_words(), &target)
            }
        })
    }

    fn record(&self) -> Record<'_> {
        let source = &self.translation.source;
        let translations = self.translation.candidates.iter().map(|candidate| {
            let hypothesis = &candidate.hypothesis;
            let attention = hypothesis.attention.as_deref().filter(|_| self.args.shown.attention);
            CandidateRecord {
                text: &candidate.text,
                tokens: &candidate.tokens,
                score: hypothesis.score,
                log_prob: hypothesis.log_prob,
                length: hypothesis.length(),
                finished: hypothesis.finished,
                token_log_probs: &hypothesis.token_log_probs,
                alignment: self.links(candidate),
                attention,
                source_tokens: attention.map(|_| source.iter().map(|token| token.text.as_str()).collect()),
                source_ranges: attention
                    .map(|_| source.iter().map(|token| [token.range.start, token.range.end]).collect()),
            }
        });
        Record { id: self.id, source: self.source, translations: translations.collect(), trace: None }
    }
}
