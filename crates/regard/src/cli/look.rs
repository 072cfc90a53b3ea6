//! `regard look`: where a model looks while it translates one sentence.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::Args;
use regard_decode::{Controls, Look, SearchObserver, Trace, Translator};
use regard_look::{Action, Attribution, Intervention, Method, Reach, Site, Subject, attribute};
use regard_look::{Colour, Heatmap, TerminalOptions, heatmap_terminal};
use regard_look::{InspectOptions, Inspection, inspect, is_temperature};
use regard_model::{ModelConfig, Seq2Seq};
use regard_tensor::Precision;
use regard_text::is_blank;
use serde::Serialize;

use super::failure::WrongCall;
use super::look_args::WhichLook;
use super::look_effect;
use super::look_gold;
use super::look_pictures::{PictureArgs, Shown};
use super::output::{print, print_json};
use super::search_args::SearchArgs;
use super::settings::Settings;
use super::text_options::TextOptions;

/// Where a model looks while it translates one sentence: one row a target token, one column a source token.
///
/// Example: regard look model "the black cat sleeps" --intervene remove:src=1 --svg look.svg
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
    /// Change something inside the model, ACTION[:ARGUMENTS][@WHERE], and show what that changes; several apply in order
    ///
    /// Actions: temperature:T, remove:src=P, force:src=P, row:W,W, uniform, permute:seed=N, hard, previous, last,
    /// attention-of:text=SENTENCE, state:src=P,from=P,text=SENTENCE, remove-head, remove-layer, remove-attention,
    /// remove-feed-forward, remove-residual. Where: step=T, layer=L, head=L.H, site=cross (or `encoder_self`, `decoder_self`).
    /// Positions, steps, layers and heads count from 0 and may be lists: 1,3-5. See docs/interventions.md.
    #[arg(long, value_name = "SPEC")]
    intervene: Vec<String>,
    /// Show what each target word is owed to, in place of where the model looks: gradient-input, gradient-input-l2,
    /// integrated-gradients, smooth-grad, occlusion, value-zeroing, norm, alti, rollout
    #[arg(long, value_name = "METHOD", value_parser = method, conflicts_with_all = ["intervene", "layer", "head"])]
    attribute: Option<Method>,
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
    pictures: PictureArgs,
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

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    seen: &'a Inspection,
    temperature: f32,
    #[serde(skip_serializing_if = "Option::is_none")]
    attribution: Option<&'a Attribution>,
}

/// What is looked into.
struct Model {
    translator: Translator,
    /// Where it is also differentiated.
    network: Option<(ModelConfig, Arc<dyn Seq2Seq>)>,
}

impl Model {
    fn load(args: &LookArgs) -> Result<Self> {
        if args.attribute.is_none() {
            let translator = args.settings.translator(&args.model, &args.options, Precision::F32)?;
            return Ok(Self { translator, network: None });
        }
        let (config, network, translator) = args.settings.explainer(&args.model, &args.options)?;
        Ok(Self { translator, network: Some((config, network)) })
    }

    fn attribution(&self, args: &LookArgs, seen: &Inspection) -> Result<Option<Attribution>> {
        let (Some(method), Some((config, model))) = (args.attribute, &self.network) else { return Ok(None) };
        let threads = args.settings.threads()?;
        let subject = Subject {
            model: model.as_ref(),
            config,
            threads: &threads,
            source: &seen.source_ids,
            target: &seen.target_ids,
            layer: None,
            stop: None,
        };
        Ok(Some(attribute(&subject, method)?))
    }
}

pub(super) fn run(args: &LookArgs) -> Result<()> {
    if is_blank(&args.text) {
        return Err(WrongCall("the sentence is blank: there is nothing to look at".to_owned()).into());
    }
    let (base, interventions) = (base(args)?, interventions(args)?);
    args.pictures.check(args.tgt.is_some())?;
    let model = Model::load(args)?;
    let translator = &model.translator;
    let has_attention = translator.model().has_attention();
    if has_attention {
        args.look.look().check(translator.model())?;
    } else {
        if args.pictures.gold().is_some() {
            let problem = "--gold is drawn over attention, and this model has no attention";
            return Err(WrongCall(problem.to_owned()).into());
        }
        args.settings.say("this model hands the source over as one vector: there is no attention to look at");
    }
    let options = InspectOptions {
        target: args.tgt.clone(),
        search: args.search.options(translator.target())?,
        base: if has_attention { base } else { Vec::new() },
        interventions,
    };
    let trace = Trace::default();
    let observer = args.pictures.wants_steps().then_some(&trace as &dyn SearchObserver);
    let controls = Controls { observer, ..Controls::default() };
    let mut seen = inspect(translator, &args.text, &options, &controls)?;
    if let Some(tokens) = seen.cut_from {
        args.settings.say_cut(1, tokens);
    }
    if seen.stopped {
        args.settings.say_stopped(&[1]);
    }
    let attribution = model.attribution(args, &seen)?;
    let Look { layer, head } = args.look.look();
    let look = seen.look(layer, head);
    let table = match (&attribution, &look) {
        (Some(attribution), _) => Some(shares(attribution)),
        (None, look) => look.as_ref().map(|look| look.weights.clone()),
    };
    let by_words = args.pictures.by_words();
    let heatmap = table.map(|table| heatmap(&seen, table, by_words)).transpose()?;
    let gold = match (args.pictures.gold(), &args.tgt) {
        (Some(links), Some(target)) => {
            look_gold::cells(links, translator, (&args.text, target), &seen, by_words)?
        }
        _ => Vec::new(),
    };
    let shown = Shown {
        seen: &seen,
        heatmap: heatmap.as_ref(),
        gold,
        steps: trace.into_steps(),
        target: translator.target(),
        title: title(args, &seen, attribution.as_ref()),
        definition: attribution.as_ref().map(|attribution| attribution.definition),
        caption: &args.text,
    };
    args.pictures.write(&shown, &args.settings)?;
    if args.json {
        shown_first(&mut seen.sites, look);
        let attribution = attribution.as_ref();
        return print_json(&Document { seen: &seen, temperature: args.temperature, attribution });
    }
    print_text(args, &seen, attribution.as_ref(), heatmap.as_ref())
}

/// The translation, the heatmap and what an intervention changes.
fn print_text(
    args: &LookArgs,
    seen: &Inspection,
    attribution: Option<&Attribution>,
    heatmap: Option<&Heatmap>,
) -> Result<()> {
    print(&seen.text)?;
    if let Some(attribution) = attribution {
        print(&format!(
            "{}; the picture has each row as shares of the sum of its absolute values",
            attribution.definition
        ))?;
        if let Some(completeness) = &attribution.completeness {
            let (gap, steps) = (completeness.largest * 100.0, completeness.steps);
            print(&format!(
                "the sums of the rows miss what they explain by {gap:.2} % at most, after {steps} steps"
            ))?;
        }
    }
    if let Some(heatmap) = heatmap {
        let options =
            TerminalOptions { width: width(args), colour: colour(args), sums: args.pictures.sums() };
        print(heatmap_terminal(heatmap, options).trim_end_matches('\n'))?;
    }
    match &seen.intervention {
        Some(effect) => print(look_effect::table(seen, effect).trim_end_matches('\n')),
        None => Ok(()),
    }
}

/// What is changed in every run.
fn base(args: &LookArgs) -> Result<Vec<Intervention>> {
    if args.is_as_trained() {
        return Ok(Vec::new());
    }
    if args.attribute.is_some() {
        let problem = "--attribute explains the model as it is: leave --temperature out";
        return Err(WrongCall(problem.to_owned()).into());
    }
    let temperature = args.temperature;
    if !is_temperature(temperature) {
        let problem =
            format!("--temperature {temperature}: it must be a number above 0, from 0.001 to 1000000");
        return Err(WrongCall(problem).into());
    }
    Ok(vec![Intervention { action: Action::Temperature(temperature), reach: Reach::default() }])
}

fn interventions(args: &LookArgs) -> Result<Vec<Intervention>> {
    let parse = |spec: &String| spec.parse().map_err(|error| WrongCall(format!("--intervene: {error}")));
    Ok(args.intervene.iter().map(parse).collect::<Result<_, _>>()?)
}

/// A table whose rows sum to 1, for a picture: signs are lost.
fn shares(attribution: &Attribution) -> Vec<Vec<f32>> {
    let row = |row: &Vec<f64>| {
        let sum = row.iter().map(|value| value.abs()).sum::<f64>().max(f64::MIN_POSITIVE);
        row.iter().map(|value| (value.abs() / sum) as f32).collect()
    };
    attribution.source.iter().map(row).collect()
}

fn method(name: &str) -> Result<Method, String> {
    let names = || Method::ALL.map(Method::name).join(", ");
    Method::named(name).ok_or_else(|| format!("the methods are {}", names()))
}

fn heatmap(seen: &Inspection, table: Vec<Vec<f32>>, by_words: bool) -> Result<Heatmap> {
    let heatmap = Heatmap::new(seen.source_labels(), seen.target_labels(), table)
        .context("there is nothing to look at; is the sentence empty?")?;
    Ok(if by_words { seen.by_words(&heatmap)? } else { heatmap })
}

/// Puts the look that was asked for before all others.
fn shown_first(sites: &mut Vec<Site>, look: Option<Site>) {
    let Some(look) = look else { return };
    sites.retain(|site| (site.site, site.layer, site.head) != (look.site, look.layer, look.head));
    sites.insert(0, look);
}

fn colour(args: &LookArgs) -> Colour {
    let on_terminal = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    if on_terminal && !args.plain { Colour::Ansi } else { Colour::Plain }
}

fn width(args: &LookArgs) -> usize {
    args.width.unwrap_or_else(|| match console::Term::stdout().size_checked() {
        Some((_, columns)) => usize::from(columns),
        None => 80,
    })
}

/// What stands above a picture.
fn title(args: &LookArgs, seen: &Inspection, attribution: Option<&Attribution>) -> String {
    if let Some(attribution) = attribution {
        return format!("{} ({})", seen.text, attribution.definition);
    }
    if args.is_as_trained() {
        return seen.text.clone();
    }
    format!("{} (temperature {})", seen.text, args.temperature)
}
