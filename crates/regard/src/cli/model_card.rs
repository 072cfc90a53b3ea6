//! `README.md` of a model that leaves: what it is and where it comes from, as far as its directory says.

use std::fmt::{self, Display, Formatter};
use std::fs;
use std::path::Path;

use regard_eval::{BleuOptions, BleuTokenizer};
use regard_model::{ModelConfig, ModelInfo, Parameters};
use regard_train::{LOG_FILE, checkpoints};
use serde_json::Value;

/// The file of a checkpoint that knows how many pairs there were.
const STATE_FILE: &str = "training_state.json";

/// What is known of a model.
pub(super) struct ModelCard<'a> {
    info: &'a ModelInfo,
    weights: usize,
    /// The records of the training log.
    log: Vec<Value>,
    /// Training pairs.
    pairs: Option<u64>,
    command: String,
}

impl<'a> ModelCard<'a> {
    /// The card of the model in `directory`, which is written to `out`.
    pub(super) fn new(directory: &Path, out: &Path, info: &'a ModelInfo, parameters: &Parameters) -> Self {
        let log = fs::read_to_string(directory.join(LOG_FILE)).unwrap_or_default();
        Self {
            info,
            weights: parameters.count(),
            log: log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(),
            pairs: training_pairs(directory),
            command: format!("regard export hf-marian {} --out {}", directory.display(), out.display()),
        }
    }

    /// The validation of the model that was kept.
    fn best_validation(&self) -> Option<&Value> {
        self.log.iter().rev().find(|record| record["valid"]["best"] == true)
    }
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
            codes.iter().try_for_each(|code| writeln!(f, "- {code}"))?;
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
        if self.pairs.is_none() && self.log.is_empty() {
            return writeln!(f, "The model's directory says nothing of them.\n");
        }
        if let Some(pairs) = self.pairs {
            writeln!(f, "- {pairs} training pairs")?;
        }
        if let Some(last) = self.log.last() {
            writeln!(
                f,
                "- {} updates, {} target tokens, pass {} over the text",
                last["step"], last["tokens"], last["epoch"]
            )?;
        }
        if let Some(best) = self.best_validation() {
            let valid = &best["valid"];
            let number = |key: &str| valid[key].as_f64().unwrap_or(f64::NAN);
            writeln!(f, "- validation after update {}:", best["step"])?;
            writeln!(
                f,
                "  - loss {:.4} a token (natural logarithm), perplexity {:.2}",
                number("loss"),
                number("perplexity")
            )?;
            if let Some(bleu) = valid["bleu"].as_f64() {
                let options = BleuOptions { tokenizer: BleuTokenizer::None, ..BleuOptions::default() };
                writeln!(f, "  - `BLEU|{} = {bleu:.1}`", options.signature(1))?;
            }
        }
        writeln!(f)
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
