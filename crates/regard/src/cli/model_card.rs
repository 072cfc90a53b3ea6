//! `README.md` of a model that leaves: what it is and where it comes from, as far as its directory says.

use std::fmt::{self, Display, Formatter};
use std::fs;
use std::path::Path;

use regard_eval::{BleuOptions, BleuTokenizer};
use regard_model::{ModelConfig, ModelInfo, Parameters};
use regard_text::CorpusSource;
use regard_train::{LOG_FILE, RECIPE_FILE, Recipe, checkpoints};
use serde::Deserialize;
use serde_json::Value;

/// The file of a checkpoint that knows how many pairs there were.
const STATE_FILE: &str = "training_state.json";

/// What is known of a model.
pub(super) struct ModelCard<'a> {
    info: &'a ModelInfo,
    weights: usize,
    /// The records of the training log, or the line in which it is damaged.
    log: Result<Vec<LogRecord>, usize>,
    /// Training pairs.
    pairs: Option<u64>,
    /// What the model was trained by.
    recipe: Option<Recipe>,
    command: String,
}

/// What the card takes of a record of the log.
#[derive(Deserialize)]
struct LogRecord {
    step: u64,
    epoch: u64,
    tokens: u64,
    valid: Option<ValidRecord>,
}

/// A number that is not finite is null in a log.
#[derive(Deserialize)]
struct ValidRecord {
    loss: Option<f64>,
    perplexity: Option<f64>,
    bleu: Option<f64>,
    best: bool,
}

impl<'a> ModelCard<'a> {
    /// The card of the model in `directory`, which is written to `out`.
    pub(super) fn new(directory: &Path, out: &Path, info: &'a ModelInfo, parameters: &Parameters) -> Self {
        let recipe = fs::read_to_string(directory.join(RECIPE_FILE)).ok();
        Self {
            info,
            weights: parameters.count(),
            log: read_log(directory),
            pairs: training_pairs(directory),
            recipe: recipe.and_then(|text| toml::from_str(&text).ok()),
            command: format!("regard export hf-marian {} --out {}", quoted(directory), quoted(out)),
        }
    }
}

/// A path as a shell reads it.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain = path.chars().all(|c| c.is_alphanumeric() || "/._-+=:,@%".contains(c));
    if is_plain && !path.is_empty() { path } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// The complete records of a log.
fn read_log(directory: &Path) -> Result<Vec<LogRecord>, usize> {
    let log = fs::read(directory.join(LOG_FILE)).unwrap_or_default();
    let log = String::from_utf8_lossy(&log);
    // A run that was killed leaves a part of a line.
    let complete = log.rsplit_once('\n').map_or("", |(complete, _)| complete);
    let lines = (1..).zip(complete.lines());
    lines.map(|(number, line)| serde_json::from_str(line).map_err(|_| number)).collect()
}

/// The files of a text.
fn names(text: &CorpusSource) -> String {
    let names = text.paths().into_iter().map(|path| format!("`{}`", path.display()));
    names.collect::<Vec<_>>().join(", ")
}

fn title(codes: &[&str]) -> String {
    match codes {
        [source, target] => format!("Translation from {source} to {target}"),
        _ => "Translation".to_owned(),
    }
}

/// The pairs that a checkpoint, or the newest one of a run, was trained on.
fn training_pairs(directory: &Path) -> Option<u64> {
    let newest = checkpoints(directory).ok().and_then(|found| found.into_iter().next_back());
    let directory = newest.map_or(directory.to_owned(), |(_, path)| path);
    let state = fs::read_to_string(directory.join(STATE_FILE)).ok()?;
    let state: Value = serde_json::from_str(&state).ok()?;
    state["state"]["identity"]["pairs"].as_u64()
}

impl Display for ModelCard<'_> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let ModelInfo { source_language, target_language, .. } = self.info;
        let codes: Vec<&str> =
            [source_language.as_str(), target_language].into_iter().filter(|code| !code.is_empty()).collect();
        writeln!(
            f,
            "---\nlibrary_name: transformers\npipeline_tag: translation\ntags:\n- translation\n- marian"
        )?;
        if !codes.is_empty() {
            writeln!(f, "language:")?;
            // A plain `no` would be a truth value. What JSON quotes is a string in YAML too.
            codes.iter().try_for_each(|&code| writeln!(f, "- {}", Value::from(code)))?;
        }
        writeln!(f, "---\n\n# {}\n", title(&codes))?;
        writeln!(f, "Written by Regard {}:\n\n```sh\n{}\n```\n", env!("CARGO_PKG_VERSION"), self.command)?;
        self.model(f)?;
        self.training(f)?;
        self.use_of_it(f)
    }
}

impl ModelCard<'_> {
    fn model(&self, f: &mut Formatter) -> fmt::Result {
        writeln!(f, "## Model\n")?;
        if let ModelConfig::Transformer(config) = &self.info.config {
            let (encoder, decoder) = (config.encoder, config.decoder);
            writeln!(
                f,
                "A Transformer of {} + {} layers, width {}, feed-forward width {}, {} and {} heads: {} parameters in \
                 training.\n",
                encoder.layers,
                decoder.layers,
                config.d_model,
                config.d_ff,
                encoder.heads,
                decoder.heads,
                self.weights
            )?;
        }
        let ModelInfo { source, target, .. } = self.info;
        writeln!(
            f,
            "SentencePiece on raw text: {} source and {} target entries, special tokens included.",
            source.vocabulary.len(),
            target.vocabulary.len()
        )?;
        let tags = source.tags().iter().map(|tag| format!("`>>{}<<`", tag.trim_matches(['<', '>'])));
        let tags: Vec<String> = tags.collect();
        if !tags.is_empty() {
            writeln!(f, "\nA line may begin with one of {}.", tags.join(", "))?;
        }
        writeln!(f)
    }

    fn training(&self, f: &mut Formatter) -> fmt::Result {
        writeln!(f, "## Training and scores\n")?;
        let corpora = self.recipe.as_ref().map(|recipe| recipe.data.training_corpora()).unwrap_or_default();
        if self.pairs.is_none() && corpora.is_empty() && self.log.as_ref().is_ok_and(Vec::is_empty) {
            return writeln!(f, "The model's directory says nothing of them.\n");
        }
        if let Some(pairs) = self.pairs {
            writeln!(f, "- {pairs} training pairs")?;
        }
        for corpus in corpora {
            writeln!(f, "- training text: {}", names(&corpus.source))?;
        }
        match &self.log {
            Ok(log) => self.progress(log, f)?,
            Err(line) => writeln!(f, "- the scores are not known: `{LOG_FILE}` is damaged in line {line}")?,
        }
        writeln!(f)
    }

    fn progress(&self, log: &[LogRecord], f: &mut Formatter) -> fmt::Result {
        if let Some(LogRecord { step, epoch, tokens, .. }) = log.last() {
            writeln!(f, "- {step} updates, {tokens} target tokens, pass {epoch} over the text")?;
        }
        // The model that was kept.
        let mut validated = log.iter().rev().filter_map(|record| Some((record.step, record.valid.as_ref()?)));
        let Some((step, valid)) = validated.find(|(_, valid)| valid.best) else { return Ok(()) };
        writeln!(f, "- validation after update {step}{}:", self.validation_text())?;
        if let (Some(loss), Some(perplexity)) = (valid.loss, valid.perplexity) {
            writeln!(f, "  - loss {loss:.4} a token (natural logarithm), perplexity {perplexity:.2}")?;
        }
        if let Some(bleu) = valid.bleu {
            let options = BleuOptions { tokenizer: BleuTokenizer::None, ..BleuOptions::default() };
            writeln!(f, "  - `BLEU|{} = {bleu:.1}`", options.signature(1))?;
        }
        Ok(())
    }

    /// On what was validated, where that is known.
    fn validation_text(&self) -> String {
        let text = |recipe: &Recipe| {
            let lines = match recipe.validation.max_lines {
                Some(limit) => format!("the first {limit} lines"),
                None => "all lines".to_owned(),
            };
            Some(format!(" on {lines} of {}", names(&recipe.data.validation_text()?)))
        };
        self.recipe.as_ref().and_then(text).unwrap_or_default()
    }

    fn use_of_it(&self, f: &mut Formatter) -> fmt::Result {
        let line = if self.info.source.tags().is_empty() { "…" } else { ">>TAG<< …" };
        writeln!(
            f,
            "## Use\n\n```python\nfrom transformers import MarianMTModel, MarianTokenizer\n\n\
             tokenizer, model = MarianTokenizer.from_pretrained(\"DIR\"), MarianMTModel.from_pretrained(\"DIR\")\n\
             batch = tokenizer([\"{line}\"], return_tensors=\"pt\", padding=True)\n\
             print(tokenizer.batch_decode(model.generate(**batch), skip_special_tokens=True))\n```"
        )
    }
}
