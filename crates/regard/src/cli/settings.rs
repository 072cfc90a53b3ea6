//! What every command takes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::Args;
use regard_decode::{Combination, Ensemble, MAX_SOURCE_TOKENS, Translator};
use regard_model::{ModelConfig, ModelInfo, Predictor, Seq2Seq, checkpoint};
use regard_tensor::{Precision, Threads};

use super::failure::WrongCall;
use super::output::{list, tell};
use super::text_options::TextOptions;

/// Options of every command.
#[derive(Args, Clone, Debug)]
pub(super) struct Settings {
    /// Threads that compute [default: all cores]
    #[arg(long, value_name = "N", global = true)]
    threads: Option<usize>,
    /// Print results and errors only
    #[arg(long, global = true)]
    pub(super) quiet: bool,
}

impl Settings {
    pub(super) fn threads(&self) -> Result<Threads> {
        match self.threads {
            None => Ok(Threads::all()),
            Some(n) if (1..=1024).contains(&n) => Ok(Threads::new(n)),
            Some(n) => Err(WrongCall(format!("--threads {n}: it must be from 1 to 1024")).into()),
        }
    }

    /// A message about the progress, unless it was asked to be quiet.
    pub(super) fn say(&self, message: impl std::fmt::Display) {
        if !self.quiet {
            tell(message);
        }
    }

    /// Says that a line, counted from 1, was too long to be read whole.
    pub(super) fn say_cut(&self, line: usize, tokens: usize) {
        self.say(format_args!("line {line}: {tokens} tokens, only the first {MAX_SOURCE_TOKENS} were read"));
    }

    /// Says which lines, counted from 1, the time limit has cut.
    pub(super) fn say_stopped(&self, lines: &[usize]) {
        if !lines.is_empty() {
            let (count, list) = (lines.len(), list(lines));
            let lines = if count == 1 { "line" } else { "lines" };
            self.say(format_args!(
                "--time-limit has ended the search of {count} {lines} with the best so far: {lines} {list}"
            ));
        }
    }

    /// A translator whose network may also be differentiated, with its description.
    pub(super) fn explainer(
        &self,
        model: &Path,
        text: &TextOptions,
    ) -> Result<(ModelConfig, Arc<dyn Seq2Seq>, Translator)> {
        let (info, network) = load(model)?;
        let (config, network) = (info.config.clone(), Arc::<dyn Seq2Seq>::from(network));
        let translator = with_text(info, network.clone(), self.threads()?, text, Precision::F32)?;
        Ok((config, network, translator))
    }

    pub(super) fn translator(
        &self,
        model: &Path,
        text: &TextOptions,
        precision: Precision,
    ) -> Result<Translator> {
        let threads = self.threads()?;
        let (info, network) = load_to_run(model, &threads, precision)?;
        with_text(info, network, threads, text, precision)
    }

    /// One model, or several that translate together.
    pub(super) fn ensemble(
        &self,
        models: &[PathBuf],
        combination: Combination,
        text: &TextOptions,
        precision: Precision,
    ) -> Result<Translator> {
        let (first, others) = models.split_first().context("no model")?;
        if others.is_empty() {
            return self.translator(first, text, precision);
        }
        let threads = self.threads()?;
        let (info, network) = load_to_run(first, &threads, precision)?;
        let mut members = vec![network];
        for other in others {
            members.push(load_to_run(other, &threads, precision)?.1);
            checkpoint::check_same_text(first, other)?;
        }
        with_text(info, Arc::new(Ensemble::new(members, combination)?), threads, text, precision)
    }
}

fn with_text(
    info: ModelInfo,
    model: Arc<dyn Predictor>,
    threads: Threads,
    text: &TextOptions,
    precision: Precision,
) -> Result<Translator> {
    let (mut source, mut target) = (info.source, info.target);
    if text.pretokenized {
        (source, target) = (source.pretokenized(), target.pretokenized());
    }
    let translator = Translator::new(model, source, target, threads)?.with_precision(precision);
    translator.with_tags(text.tags.clone()).map_err(|error| WrongCall(error.to_string()).into())
}

/// What a model is run in.
pub(super) fn precision(int8: bool) -> Precision {
    if int8 { Precision::Int8 } else { Precision::F32 }
}

/// Reads a model that will be run and not changed.
fn load_to_run(
    model: &Path,
    threads: &Threads,
    precision: Precision,
) -> Result<(ModelInfo, Arc<dyn Predictor>)> {
    let (info, network) = explained(model, checkpoint::load_to_run(model, threads, precision))?;
    Ok((info, Arc::from(network)))
}

/// Reads a model.
pub(super) fn load(model: &Path) -> Result<(ModelInfo, Box<dyn Seq2Seq>)> {
    explained(model, checkpoint::load(model))
}

/// Says what a model is where there is none.
pub(super) fn explained<T, E>(model: &Path, loaded: std::result::Result<T, E>) -> Result<T>
where
    E: std::error::Error + Send + Sync + 'static,
{
    loaded.with_context(|| {
        if model.join("config.json").exists() {
            format!("the model {} cannot be used", model.display())
        } else {
            format!(
                "{} is not a model directory (it has no config.json); `regard train` makes one",
                model.display()
            )
        }
    })
}
