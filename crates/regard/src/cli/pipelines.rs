//! The tokenizers and vocabularies of a training run.

use std::path::Path;

use anyhow::Result;
use regard_text::{
    Bpe, Moses, MosesLanguage, Pipeline, Preparation, SentencePiece, SentencePieceConfig,
    SentencePieceNormalization, Tokenizer, Vocabulary,
};
use regard_train::{MosesUse, Recipe, TokenizerKind, TokenizerRecipe};

use super::failure::WrongCall;
use super::progress_bar::ProgressBar;
use super::settings::Settings;

/// A pair that is seen less often is not merged; subword-nmt's default.
const BPE_MIN_FREQUENCY: u64 = 2;
/// Pieces of a SentencePiece model whose size is not given; the package's default.
const DEFAULT_PIECES: usize = 8000;

/// What the pipelines are learned from.
pub(super) struct TrainingText<'a> {
    pub(super) sources: &'a [&'a str],
    pub(super) targets: &'a [&'a str],
    /// All tags that lines may have.
    pub(super) tags: &'a [String],
    /// Both sides have one vocabulary.
    pub(super) one_vocabulary: bool,
}

/// The pipelines of both sides, learned from the training text or read from files.
pub(super) fn pipelines(
    recipe: &Recipe,
    text: &TrainingText,
    settings: &Settings,
) -> Result<(Pipeline, Pipeline)> {
    let (source, target) = tokenizers(recipe, text, settings)?;
    let source = Pipeline::from_model(source.preparation, source.tokenizer)?;
    let target = Pipeline::from_model(target.preparation, target.tokenizer)?;
    let (source, target) = match source.tokenizer.own_tokens() {
        Some(_) => (source, target),
        None => counted(recipe, text, source, target),
    };
    if text.one_vocabulary && source.vocabulary != target.vocabulary {
        let message = "model.tied_embeddings = \"all\" needs one vocabulary, and tokenizer.source_model and \
                       tokenizer.target_model have different ones: name the same file";
        return Err(WrongCall(message.to_owned()).into());
    }
    let target_tags = if text.one_vocabulary { text.tags } else { &[] };
    Ok((source.with_tags(text.tags.to_vec())?, target.with_tags(target_tags.to_vec())?))
}

/// The pipelines with the vocabularies of their text.
fn counted(recipe: &Recipe, text: &TrainingText, source: Pipeline, target: Pipeline) -> (Pipeline, Pipeline) {
    let TokenizerRecipe { vocabulary_size, min_count, .. } = recipe.tokenizer;
    let vocabulary = |counts: Vec<(String, u64)>| Vocabulary::from_counts(counts, vocabulary_size, min_count);
    let count = |pipeline: &Pipeline, lines: &[&str]| -> Vec<(String, u64)> {
        let pipeline = training_side(recipe, pipeline);
        let drawn = (recipe.tokenizer.dropout > 0.0)
            .then(|| pipeline.count_drawn_tokens(lines, recipe.tokenizer.dropout));
        pipeline.count_tokens(lines).into_iter().chain(drawn.into_iter().flatten()).collect()
    };
    let (sources, targets) = (count(&source, text.sources), count(&target, text.targets));
    if text.one_vocabulary {
        let shared = vocabulary([sources, targets].concat());
        return (source.with_vocabulary(shared.clone()), target.with_vocabulary(shared));
    }
    (source.with_vocabulary(vocabulary(sources)), target.with_vocabulary(vocabulary(targets)))
}

/// A pipeline as the training and validation text needs it.
pub(super) fn training_side(recipe: &Recipe, pipeline: &Pipeline) -> Pipeline {
    if recipe.tokenizer.moses == MosesUse::Tokenized {
        pipeline.clone().pretokenized()
    } else {
        pipeline.clone()
    }
}

/// The tokenizer of a side, and what is done to its text before.
struct Side {
    preparation: Preparation,
    tokenizer: Tokenizer,
}

fn tokenizers(recipe: &Recipe, text: &TrainingText, settings: &Settings) -> Result<(Side, Side)> {
    let source = preparation(recipe, recipe.data.source_language.as_deref(), "data.source_language")?;
    let target = preparation(recipe, recipe.data.target_language.as_deref(), "data.target_language")?;
    let side = |preparation, tokenizer| Side { preparation, tokenizer };
    let tokenizer = &recipe.tokenizer;
    if let (Some(source_model), Some(target_model)) = (&tokenizer.source_model, &tokenizer.target_model) {
        let read = |path| read(tokenizer.kind, path);
        let first = read(source_model)?;
        let second = if target_model == source_model { first.clone() } else { read(target_model)? };
        return Ok((side(source, first), side(target, second)));
    }
    let prepare = |preparation: Preparation, lines: &[&str]| -> Vec<String> {
        lines.iter().map(|line| preparation.prepare(line).into_owned()).collect()
    };
    let sources = prepare(of_training(recipe, source), text.sources);
    let targets = prepare(of_training(recipe, target), text.targets);
    let (source_tokenizer, target_tokenizer) = if tokenizer.joint || text.one_vocabulary {
        let both: Vec<&str> = sources.iter().chain(&targets).map(String::as_str).collect();
        let learned = learn(tokenizer, &both, settings)?;
        (learned.clone(), learned)
    } else {
        (learn(tokenizer, &sources, settings)?, learn(tokenizer, &targets, settings)?)
    };
    let source = side(source, restrict(tokenizer, source_tokenizer, &sources));
    Ok((source, side(target, restrict(tokenizer, target_tokenizer, &targets))))
}

/// What is done to the lines of a side first; Moses' rules are those of its language.
fn preparation(recipe: &Recipe, language: Option<&str>, key: &str) -> Result<Preparation> {
    let moses = match (recipe.tokenizer.moses, language) {
        (MosesUse::Off, _) => None,
        (_, Some("en")) => Some(MosesLanguage::En),
        (_, Some("fr")) => Some(MosesLanguage::Fr),
        (_, Some("de")) => Some(MosesLanguage::De),
        (_, other) => {
            let found = other.map_or("not given".to_owned(), |code| format!("\"{code}\""));
            let message =
                format!("tokenizer.moses needs {key} to be \"en\", \"fr\" or \"de\"; it is {found}");
            return Err(WrongCall(message).into());
        }
    };
    let moses = moses.map(|language| Moses { language, escape: true });
    Ok(Preparation { normalizer: recipe.tokenizer.normalizer, moses, lowercase: recipe.tokenizer.lowercase })
}

/// The preparation of the training text itself.
fn of_training(recipe: &Recipe, preparation: Preparation) -> Preparation {
    if recipe.tokenizer.moses == MosesUse::Tokenized {
        Preparation { moses: None, ..preparation }
    } else {
        preparation
    }
}

/// A model that is there already.
fn read(kind: TokenizerKind, path: &Path) -> Result<Tokenizer> {
    if kind == TokenizerKind::HuggingFace {
        return hugging_face(path);
    }
    Ok(Tokenizer::SentencePiece(SentencePiece::read(path)?))
}

/// A `tokenizer.json` of Hugging Face.
pub(super) fn hugging_face(path: &Path) -> Result<Tokenizer> {
    #[cfg(feature = "huggingface")]
    return Ok(Tokenizer::HuggingFace(regard_text::HuggingFace::read(path)?));
    #[cfg(not(feature = "huggingface"))]
    anyhow::bail!("{}: this program was built without the feature `huggingface`", path.display());
}

fn learn(
    recipe: &TokenizerRecipe,
    lines: &[impl AsRef<str> + Sync],
    settings: &Settings,
) -> Result<Tokenizer> {
    let threads = settings.threads()?.count();
    Ok(match recipe.kind {
        TokenizerKind::Word => Tokenizer::Word,
        TokenizerKind::Character => Tokenizer::Character,
        TokenizerKind::Bpe => {
            let bar = ProgressBar::new("learning merges", settings.quiet);
            let report = &mut |merges| bar.set(merges, recipe.merges);
            let counts = Bpe::count_words(lines, threads);
            let bpe = Bpe::learn_from_counts(counts, recipe.merges, BPE_MIN_FREQUENCY, report);
            Tokenizer::Bpe(bpe.with_glossaries(recipe.glossaries.clone())?)
        }
        TokenizerKind::HuggingFace => {
            return Err(
                WrongCall("tokenizer.kind = \"huggingface\" learns nothing: give models".to_owned()).into()
            );
        }
        TokenizerKind::SentencePiece => {
            let config = SentencePieceConfig {
                algorithm: recipe.algorithm,
                vocabulary_size: recipe.vocabulary_size.unwrap_or(DEFAULT_PIECES),
                character_coverage: recipe.character_coverage,
                byte_fallback: recipe.byte_fallback,
                user_defined_symbols: Vec::new(),
                normalization: SentencePieceNormalization::NmtNfkc,
            };
            settings.say(format_args!("training a SentencePiece model of {} pieces", config.vocabulary_size));
            Tokenizer::SentencePiece(SentencePiece::train(lines, &config, threads, &mut |_| {})?)
        }
    })
}

/// Leaves a side of BPE only the pieces that are frequent in its own text, where the recipe asks for it.
fn restrict(recipe: &TokenizerRecipe, tokenizer: Tokenizer, lines: &[String]) -> Tokenizer {
    match (tokenizer, recipe.vocabulary_threshold) {
        (Tokenizer::Bpe(bpe), threshold) if threshold > 0 => {
            let counts = bpe.count_pieces(lines);
            let frequent = counts.into_iter().filter(|&(_, count)| count >= threshold);
            Tokenizer::Bpe(bpe.with_vocabulary(frequent.map(|(piece, _)| piece)))
        }
        (tokenizer, _) => tokenizer,
    }
}
