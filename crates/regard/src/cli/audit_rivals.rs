//! `regard audit --adversary`: trains, by the recipe of the audited model, the models that it is held against.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail};
use regard_decode::Translator;
use regard_look::{RivalKind, check_auditable};
use regard_model::{CrossAttention, ModelConfig, Seq2Seq};
use regard_train::{
    Outcome, RECIPE_FILE, Recipe, RunDirectory, SamplingConfig, ScheduleConfig, ValidationRecipe,
};

use super::failure::WrongCall;
use super::settings::{Settings, load};
use super::training_run::TrainingRun;

/// Where they lie, in the directory of the audited model.
const DIRECTORY: &str = "adversary";

/// The model that is audited.
pub(super) struct Audited<'a> {
    pub(super) path: &'a Path,
    pub(super) config: &'a ModelConfig,
    pub(super) network: &'a dyn Seq2Seq,
    pub(super) translator: &'a Translator,
}

/// The rivals of a model: those that are there are used again, those that are unfinished go on, the others are trained.
pub(super) fn rivals(
    audited: &Audited,
    settings: &Settings,
    stop: &AtomicBool,
) -> Result<Vec<(RivalKind, Box<dyn Seq2Seq>)>> {
    check_auditable(audited.network)?;
    let path = audited.path;
    if audited.config.cross_attention() == CrossAttention::Uniform {
        let problem = "its attention is frozen uniform, there is nothing to look away from";
        return Err(WrongCall(format!("--adversary {}: {problem}", path.display())).into());
    }
    let base = recipe_of(path)?;
    // All are checked before the first is trained.
    let recipe = |kind| Ok((kind, recipe_for(kind, &base, path)?));
    let recipes = RivalKind::ALL.into_iter().map(recipe).collect::<Result<Vec<_>>>()?;
    let mut rivals = Vec::new();
    for (kind, recipe) in &recipes {
        let out = path.join(DIRECTORY).join(kind.name());
        let run = TrainingRun { name: kind.name(), recipe, out: &out, resume: true, settings };
        let goes_on = RunDirectory::holds_run(&out);
        let (outcome, step) = run.train(stop).with_context(|| {
            let advice = if goes_on {
                " (where it is of another model, text or recipe, remove it to train it anew)"
            } else {
                ""
            };
            format!("{}{advice}", out.display())
        })?;
        if outcome == Outcome::Interrupted {
            bail!("{} was interrupted after {step} updates: the same call goes on", out.display());
        }
        settings.say(format_args!("{}: trained, {step} updates, in {}", kind.name(), out.display()));
        rivals.push((*kind, trained(audited, &out)?));
    }
    Ok(rivals)
}

/// A rival, which must write and read the tokens of the audited model.
fn trained(audited: &Audited, out: &Path) -> Result<Box<dyn Seq2Seq>> {
    let (info, network) = load(out)?;
    let (source, target) = (audited.translator.source(), audited.translator.target());
    if (&info.source.vocabulary, &info.target.vocabulary) != (&source.vocabulary, &target.vocabulary) {
        bail!(
            "the vocabularies of {} are not those of {}: the text that the recipe names has changed since the model was trained",
            out.display(),
            audited.path.display()
        );
    }
    Ok(network)
}

/// The recipe that a model was trained by, whose text has to be there.
fn recipe_of(model: &Path) -> Result<Recipe> {
    let path = model.join(RECIPE_FILE);
    let text = fs::read_to_string(&path).with_context(|| {
        format!(
            "{}: --adversary trains by the recipe that `regard train` leaves with a model; imported models and those of the demo have none",
            path.display()
        )
    })?;
    let recipe = Recipe::parse(&text, &[]).with_context(|| path.display().to_string())?;
    let corpora = recipe.data.training_corpora().into_iter().map(|corpus| corpus.source);
    for text in corpora.chain(recipe.data.validation_text()) {
        for file in text.paths() {
            if file.as_os_str() == "-" {
                bail!(
                    "{}: the text came by standard input, which cannot be read again; write it to a file and name that in the \
                     recipe",
                    path.display()
                );
            }
            if !file.exists() {
                bail!(
                    "{}: the text {} is not there, and --adversary trains on it; call from the directory in which the model was \
                     trained, or correct the path in the recipe",
                    path.display(),
                    file.display()
                );
            }
        }
    }
    Ok(recipe)
}

/// What a rival is trained by: the recipe of the model, but for what makes it a rival.
fn recipe_for(kind: RivalKind, base: &Recipe, model: &Path) -> Result<Recipe> {
    let mut recipe = base.clone();
    match kind {
        RivalKind::Seed => recipe.seed = other_seed(base.seed),
        RivalKind::Uniform => {
            recipe.training.attention = Some(CrossAttention::Uniform);
            recipe.training.adversary_of = None;
            recipe.training.guided_alignment = None;
        }
        // Its seed is the other one's too, so that the two differ in what they learn alone.
        RivalKind::Adversary => {
            let path = model.canonicalize().with_context(|| model.display().to_string())?;
            recipe.seed = other_seed(base.seed);
            recipe.training.adversary_of = Some(path);
            recipe.training.guided_alignment = None;
            recipe.training.sampling = SamplingConfig::None;
            without_validation(&mut recipe);
        }
    }
    let checked = Recipe::parse(&recipe.to_toml()?, &[]);
    checked.with_context(|| format!("--adversary, the recipe of `{}`", kind.name()))
}

/// The neighbouring seed, which is within the numbers of TOML.
fn other_seed(seed: u64) -> u64 {
    seed ^ 1
}

/// The model that says a validation text best is not what an adversary looks for: its newest counts.
fn without_validation(recipe: &mut Recipe) {
    let data = &mut recipe.data;
    (data.valid_source, data.valid_target, data.valid_pairs) = (None, None, None);
    data.valid_tags.clear();
    recipe.validation = ValidationRecipe::default();
    // A plateau is seen in validations; without them its rate stays.
    if let ScheduleConfig::Plateau { learning_rate, warmup, .. } = recipe.training.schedule {
        recipe.training.schedule = ScheduleConfig::Constant { learning_rate, warmup };
    }
}
