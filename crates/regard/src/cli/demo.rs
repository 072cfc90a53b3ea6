//! `regard demo`: the bottleneck and the look, learned before your eyes.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use regard_decode::Translator;
use regard_eval::LengthBucket;
use regard_look::{Colour, Heatmap, HeatmapOptions, TerminalOptions, heatmap_svg, heatmap_terminal};
use regard_model::{Predictor, checkpoint};
use regard_train::{LOG_FILE, Trainer};
use serde::Serialize;

use super::failure::WrongCall;
use super::output::{print, print_json, write};
use super::progress::Progress;
use super::settings::Settings;
use crate::demo::grammar::Sentence;
use crate::demo::{ContentHits, Contestant, DemoData, Kind, Measured, Sizes, Trained};
use crate::demo::{content_hits, grammar, heatmap, measure, report, source_line, target_line};

/// Train three models of about equal size on a small English-French grammar, and see what happens to long sentences.
///
/// They are one that hands over a fixed vector, one with attention, and a Transformer.
///
/// Example: regard demo --out demo
#[derive(Args)]
pub(super) struct DemoArgs {
    /// Leave models and report here
    #[arg(long, value_name = "DIR", default_value = "regard-demo")]
    out: PathBuf,
    /// Decides the sentences and the first weights
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// A short training, at most 45 seconds on two cores
    #[arg(long)]
    quick: bool,
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Serialize)]
struct Document {
    models: Vec<Measured>,
    heatmap: Heatmap,
    content_words: ContentHits,
    files: Vec<PathBuf>,
}

/// What a model's directory holds of its curve.
#[derive(Serialize)]
struct Curve<'a> {
    metric: &'a str,
    tokenize: &'a str,
    by_length: &'a [LengthBucket],
}

/// The file of it.
const LENGTH_CURVE: &str = "length_curve.json";

pub(super) fn run(args: &DemoArgs) -> Result<()> {
    let sizes = Sizes::new(args.quick);
    check_directories(&args.out)?;
    let say = |text: &str| args.settings.say(text);
    say("Three models learn to translate a small language, made by a grammar, from English to French.");
    say(
        "One reads the whole sentence into one vector and writes from it; one keeps a state for each word and looks",
    );
    say("at all of them again before every word it writes; one, the Transformer, does nothing but look.");
    say(&format!("About the same size, {} updates each.", sizes.updates));
    let data = DemoData::new(args.seed, sizes);
    let mut models = Vec::new();
    let mut attention = None;
    for contestant in Contestant::ALL {
        let trained = train(args, contestant, &data, sizes)?;
        models.push(measure(contestant, &trained, &data)?);
        if contestant.kind == Kind::Attention {
            attention = Some(trained.translator);
        }
    }
    let translator = attention.context("there is no attention model")?;
    let sentence = source_line(&grammar::the_black_cat());
    let heatmap = heatmap(&translator, &sentence)?;
    let hits = content_hits(&translator, &data)?;
    let files = leave(&args.out, &data, &models, &heatmap, hits)?;
    if args.json {
        return print_json(&Document { models, heatmap, content_words: hits, files });
    }
    show(&models, &heatmap, hits, &args.out)
}

/// Refuses to write where something else is than the models of a demonstration.
fn check_directories(out: &Path) -> Result<()> {
    for contestant in Contestant::ALL {
        let directory = out.join(contestant.name);
        let is_run = ["checkpoints", LOG_FILE].iter().any(|name| directory.join(name).exists());
        if directory.exists() && (is_run || !directory.join("config.json").exists()) {
            let message = format!(
                "{} is not of a demonstration; name another directory with --out",
                directory.display()
            );
            return Err(WrongCall(message).into());
        }
    }
    Ok(())
}

/// Trains one model and leaves it in its directory.
fn train(args: &DemoArgs, contestant: Contestant, data: &DemoData, sizes: Sizes) -> Result<Trained> {
    let threads = args.settings.threads()?;
    let info = data.info(contestant.config());
    let mut trainer = Trainer::new(info.build(args.seed)?, contestant.training(sizes), args.seed, &threads)?;
    let mut progress =
        Progress::new(&format!("{:<12}", contestant.name.replace('_', " ")), args.settings.quiet, None);
    let start = Instant::now();
    trainer.run(&data.pairs, None, &mut progress, &AtomicBool::new(false))?;
    let seconds = start.elapsed().as_secs_f64();
    progress.finish();
    let model = trainer.into_model();
    let directory = args.out.join(contestant.name);
    std::fs::create_dir_all(&args.out).with_context(|| format!("{}: cannot be made", args.out.display()))?;
    checkpoint::write_directory(&directory, |directory| {
        checkpoint::save(directory, &info, model.parameters())
    })?;
    let parameters = model.parameters().count();
    let model: Box<dyn Predictor> = model;
    let translator = Translator::new(Arc::from(model), info.source, info.target, threads)?;
    Ok(Trained { translator, parameters, seconds })
}

/// The report, the picture, the sentences of the test, and each model's curve beside it.
fn leave(
    out: &Path,
    data: &DemoData,
    models: &[Measured],
    heatmap: &Heatmap,
    hits: ContentHits,
) -> Result<Vec<PathBuf>> {
    let page = out.join("report.html");
    write(&page, report(models, heatmap, hits).html().as_bytes())?;
    let picture = out.join("heatmap.svg");
    let options = HeatmapOptions { gold: grammar::the_black_cat().links, ..HeatmapOptions::default() };
    write(&picture, heatmap_svg(heatmap, &options).as_bytes())?;
    let lines = |line: fn(&Sentence) -> String| {
        data.test.iter().map(|sentence| line(sentence) + "\n").collect::<String>()
    };
    let (source, target) = (out.join("test.en"), out.join("test.fr"));
    write(&source, lines(source_line).as_bytes())?;
    write(&target, lines(target_line).as_bytes())?;
    for model in models {
        let curve =
            serde_json::to_vec(&Curve { metric: "BLEU", tokenize: "none", by_length: &model.by_length })?;
        write(&out.join(&model.name).join(LENGTH_CURVE), &curve)?;
    }
    let models = models.iter().map(|model| out.join(&model.name));
    Ok([page, picture, source, target].into_iter().chain(models).collect())
}

fn show(models: &[Measured], heatmap: &Heatmap, hits: ContentHits, out: &Path) -> Result<()> {
    print("\nBLEU by the number of source words (cut at spaces; 100 is perfect)\n")?;
    let buckets = models.first().map(|model| model.by_length.as_slice()).unwrap_or_default();
    let header: Vec<String> = buckets.iter().map(|bucket| format!("{:>8}", bucket.range())).collect();
    print(&format!("{:<14}{}   weights", "words", header.concat()))?;
    for model in models {
        let scores: Vec<String> =
            model.by_length.iter().map(|b| format!("{:>8.1}", b.score.unwrap_or(0.0))).collect();
        print(&format!("{:<14}{}   {}", model.name.replace('_', " "), scores.concat(), model.parameters))?;
    }
    let colour = if std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none() {
        Colour::Ansi
    } else {
        Colour::Plain
    };
    print(&format!(
        "\nWhere the attention model looks (rows: what it writes, columns: what it reads)\n\n{}",
        heatmap_terminal(heatmap, TerminalOptions { width: 80, colour, sums: false })
    ))?;
    print(&format!(
        "{} of {} content words ({:.1} %) look hardest at the word that they translate.\n",
        hits.hits,
        hits.words,
        100.0 * hits.share()
    ))?;
    print(&format!(
        "The report is {0}/report.html. Try: regard look {0}/attention \"the black cat sleeps on the red chair\" \
         --temperature 4",
        out.display()
    ))
}
