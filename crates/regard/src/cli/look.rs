//! `regard look`: where a model looks while it translates one sentence.

use std::io::IsTerminal;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use regard_decode::{Controls, Decoding, Look, SearchOptions, TranslateOptions, Translator};
use regard_look::{Block, Colour, Heatmap, HeatmapOptions, Report, Section};
use regard_look::{heatmap_png, heatmap_svg, heatmap_terminal};
use regard_model::{AttentionHook, SiteKind, Temperature};
use regard_tensor::Precision;
use regard_text::special_tokens::{EOS_TOKEN, UNK, UNK_TOKEN};
use regard_text::{Padded, Pipeline, is_blank};
use serde::Serialize;

use super::failure::WrongCall;
use super::look_args::WhichLook;
use super::output::{print, print_json, write};
use super::search_args::SearchArgs;
use super::settings::Settings;
use super::text_options::TextOptions;

/// Where a model looks while it translates one sentence: one row a target token, one column a source token.
///
/// Example: regard look model "the black cat sleeps" --svg look.svg
#[derive(Args)]
pub(super) struct LookArgs {
    /// The model's directory
    model: PathBuf,
    /// The source sentence
    text: String,
    /// Look while this translation is written, not the model's own
    #[arg(long, value_name = "TEXT")]
    tgt: Option<String>,
    /// Divide the attention's scores by T before the softmax: below 1 sharpens, above 1 flattens
    #[arg(long, value_name = "T", default_value_t = 1.0)]
    temperature: f32,
    /// Write the heatmap as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write the heatmap as PNG
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
    /// Write a page that needs nothing else
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// No colours in the terminal
    #[arg(long)]
    plain: bool,
    /// Columns of the terminal [default: its width, or 80]
    #[arg(long, value_name = "N")]
    width: Option<usize>,
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    look: WhichLook,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    options: TextOptions,
    #[command(flatten)]
    settings: Settings,
}

impl LookArgs {
    /// Whether the temperature changes nothing.
    fn is_as_trained(&self) -> bool {
        self.temperature.to_bits() == 1.0_f32.to_bits()
    }
}

/// What was seen.
struct Seen {
    source_tokens: Vec<String>,
    target_tokens: Vec<String>,
    /// The places of tokens that the model does not know: it has read `<unk>` there.
    source_unknown: Vec<usize>,
    target_unknown: Vec<usize>,
    text: String,
    weights: Vec<Vec<f32>>,
    scores: Vec<Vec<f32>>,
}

#[derive(Serialize)]
struct Document<'a> {
    source_tokens: &'a [String],
    target_tokens: &'a [String],
    source_unknown: &'a [usize],
    target_unknown: &'a [usize],
    text: &'a str,
    temperature: f32,
    sites: Vec<SiteRecord<'a>>,
}

#[derive(Serialize)]
struct SiteRecord<'a> {
    site: SiteKind,
    layer: usize,
    /// None where the weights are the mean of all heads of the layer.
    head: Option<usize>,
    weights: &'a [Vec<f32>],
    scores: &'a [Vec<f32>],
}

pub(super) fn run(args: &LookArgs) -> Result<()> {
    let hook = Temperature::new(args.temperature).ok_or_else(|| {
        WrongCall(format!("--temperature {}: it must be a number above 0, 1e-38 or more", args.temperature))
    })?;
    if is_blank(&args.text) {
        return Err(WrongCall("the sentence is blank: there is nothing to look at".to_owned()).into());
    }
    let translator = args.settings.translator(&args.model, &args.options, Precision::F32)?;
    if !translator.model().has_attention() {
        return without_attention(args, &translator);
    }
    let hook = (!args.is_as_trained()).then_some(hook);
    let hook = hook.as_ref().map(|hook| hook as &dyn AttentionHook);
    let seen = match &args.tgt {
        Some(target) => forced(args, &translator, target, hook)?,
        None => free(args, &translator, hook)?,
    };
    let (columns, rows) = (
        labels(&seen.source_tokens, &seen.source_unknown),
        labels(&seen.target_tokens, &seen.target_unknown),
    );
    let heatmap = Heatmap::new(columns, rows, seen.weights.clone())
        .context("there is nothing to look at; is the sentence empty?")?;
    pictures(args, &seen, &heatmap)?;
    if args.json {
        let cross = translator.model().cross_sites();
        let Look { layer, head } = args.look.look();
        let layer = layer.unwrap_or_else(|| cross.iter().map(|site| site.layer).max().unwrap_or(0));
        let heads = cross.iter().filter(|site| site.layer == layer).count();
        let (site, head) = (SiteKind::Cross, head.or((heads == 1).then_some(0)));
        let sites = vec![SiteRecord { site, layer, head, weights: &seen.weights, scores: &seen.scores }];
        return print_json(&Document {
            source_tokens: &seen.source_tokens,
            target_tokens: &seen.target_tokens,
            source_unknown: &seen.source_unknown,
            target_unknown: &seen.target_unknown,
            text: &seen.text,
            temperature: args.temperature,
            sites,
        });
    }
    let on_terminal = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let colour = if on_terminal && !args.plain { Colour::Ansi } else { Colour::Plain };
    let width = args.width.unwrap_or_else(|| match console::Term::stdout().size_checked() {
        Some((_, columns)) => usize::from(columns),
        None => 80,
    });
    print(&seen.text)?;
    print(heatmap_terminal(&heatmap, width, colour).trim_end_matches('\n'))
}

/// The model's own translation.
fn free(args: &LookArgs, translator: &Translator, hook: Option<&dyn AttentionHook>) -> Result<Seen> {
    let search =
        SearchOptions { attention: Some(args.look.look()), ..args.search.options(translator.target())? };
    let options = TranslateOptions { search, ..TranslateOptions::default() };
    let mut translations = translator.translate_with(&[args.text.as_str()], &[], &options, controls(hook))?;
    let translation = translations.pop().context("no translation")?;
    if let Some(tokens) = translation.cut_from {
        args.settings.say_cut(1, tokens);
    }
    if translation.is_stopped() {
        args.settings.say_stopped(&[1]);
    }
    let source_tokens = translation.source_tokens();
    let best = translation.candidates.first().context("no translation")?;
    Ok(Seen {
        source_unknown: unknown(
            translator.source(),
            source_tokens.split_last().map_or(&[], |(_end, rest)| rest),
        ),
        target_unknown: Vec::new(),
        target_tokens: best.row_labels(),
        text: best.text.clone(),
        weights: best.hypothesis.attention.clone().unwrap_or_default(),
        scores: best.hypothesis.attention_scores.clone().unwrap_or_default(),
        source_tokens,
    })
}

/// The places of tokens of a text that are not in the vocabulary.
fn unknown(pipeline: &Pipeline, tokens: &[String]) -> Vec<usize> {
    let ids = pipeline.ids(tokens);
    (0..ids.len()).filter(|&place| ids[place] == UNK).collect()
}

/// What a picture calls tokens: those that are unknown say that the model has read `<unk>`.
fn labels(tokens: &[String], unknown: &[usize]) -> Vec<String> {
    let label = |(place, token): (usize, &String)| {
        if unknown.contains(&place) { format!("{UNK_TOKEN} ({token})") } else { token.clone() }
    };
    tokens.iter().enumerate().map(label).collect()
}

fn controls(hook: Option<&dyn AttentionHook>) -> Controls<'_> {
    Controls { hook, ..Controls::default() }
}

/// A given translation.
fn forced(
    args: &LookArgs,
    translator: &Translator,
    target: &str,
    hook: Option<&dyn AttentionHook>,
) -> Result<Seen> {
    let (source, target_side) = (translator.source(), translator.target());
    let decoding = Decoding { controls: controls(hook), ..translator.decoding() };
    let rows = |ids: Vec<u32>| Padded::from_sentences(std::iter::once(ids.as_slice()));
    let source_tokens: Vec<String> =
        translator.tokenize(&args.text).into_iter().map(|token| token.text).collect();
    let scores = decoding.score(
        &rows(source.ids(&source_tokens)),
        &rows(target_side.encode(target)),
        Some(args.look.look()),
    )?;
    let target_tokens = target_side.tokenize(target);
    let with_end = |mut tokens: Vec<String>| {
        tokens.push(EOS_TOKEN.to_owned());
        tokens
    };
    let seen = scores.into_iter().next().context("no score")?;
    Ok(Seen {
        source_unknown: unknown(source, &source_tokens),
        target_unknown: unknown(target_side, &target_tokens),
        source_tokens: with_end(source_tokens),
        target_tokens: with_end(target_tokens),
        text: target.to_owned(),
        weights: seen.attention.unwrap_or_default(),
        scores: seen.attention_scores.unwrap_or_default(),
    })
}

fn without_attention(args: &LookArgs, translator: &Translator) -> Result<()> {
    let search = args.search.options(translator.target())?;
    let options = TranslateOptions { search, ..TranslateOptions::default() };
    let translations = translator.translate(&[args.text.as_str()], &options)?;
    let text = translations.first().map_or("", |translation| translation.text());
    args.settings.say("this model hands the source over as one vector: there is no attention to look at");
    if args.json {
        let source_tokens = translator.source().tokenize(&args.text);
        return print_json(&serde_json::json!({
            "source_unknown": unknown(translator.source(), &source_tokens),
            "target_unknown": [],
            "source_tokens": source_tokens,
            "target_tokens": translations.first().and_then(|t| t.candidates.first()).map(|best| &best.tokens),
            "text": text,
            "sites": [],
        }));
    }
    print(text)
}

fn pictures(args: &LookArgs, seen: &Seen, heatmap: &Heatmap) -> Result<()> {
    let title = if args.is_as_trained() {
        seen.text.clone()
    } else {
        format!("{} (temperature {})", seen.text, args.temperature)
    };
    let options = HeatmapOptions { title: Some(title.clone()), ..HeatmapOptions::default() };
    if let Some(path) = &args.svg {
        write(path, heatmap_svg(heatmap, &options).as_bytes())?;
    }
    if let Some(path) = &args.png {
        write(path, &heatmap_png(heatmap, &options)?)?;
    }
    if let Some(path) = &args.html {
        let picture = Block::Heatmap { heatmap: heatmap.clone(), options, caption: args.text.clone() };
        let section = Section { title: "Where the model looked".to_owned(), blocks: vec![picture] };
        write(path, Report { title, sections: vec![section] }.html().as_bytes())?;
    }
    Ok(())
}
