//! The tokenizers and vocabularies of a training run.

use std::borrow::Cow;
use std::path::Path;

use anyhow::Result;
use regard_text::{
    Bpe, Pipeline, Preparation, SentencePiece, SentencePieceConfig, SentencePieceNormalization, Tokenizer,
    Vocabulary,
};
use regard_train::{Recipe, TokenizerKind, TokenizerRecipe};

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
    let vocabulary = |counts| {
        Vocabulary::from_counts(counts, recipe.tokenizer.vocabulary_size, recipe.tokenizer.min_count)
    };
    let sources = source.count_tokens(text.sources);
    let targets = target.count_tokens(text.targets);
    if text.one_vocabulary {
        let shared = vocabulary(sources.into_iter().chain(targets).collect::<Vec<_>>());
        return (source.with_vocabulary(shared.clone()), target.with_vocabulary(shared));
    }
    let sources = vocabulary(sources.into_iter().collect());
    (source.with_vocabulary(sources), target.with_vocabulary(vocabulary(targets.into_iter().collect())))
}

/// The tokenizer of a side, and what is done to its text before.
struct Side {
    preparation: Preparation,
    tokenizer: Tokenizer,
}

fn tokenizers(recipe: &Recipe, text: &TrainingText, settings: &Settings) -> Result<(Side, Side)> {
    let preparation =
        Preparation { normalizer: recipe.tokenizer.normalizer, lowercase: recipe.tokenizer.lowercase };
    let recipe = &recipe.tokenizer;
    let side = |tokenizer| Side { preparation, tokenizer };
    if let (Some(source), Some(target)) = (&recipe.source_model, &recipe.target_model) {
        return Ok((side(read(recipe.kind, source)?), side(read(recipe.kind, target)?)));
    }
    let prepare = |lines: &[&'_ str]| -> Vec<String> {
        lines.iter().map(|line| preparation.prepare(line)).map(Cow::into_owned).collect()
    };
    let (sources, targets) = (prepare(text.sources), prepare(text.targets));
    let together = recipe.joint || text.one_vocabulary;
    let (source, target) = if together {
        let both: Vec<&str> = sources.iter().chain(&targets).map(String::as_str).collect();
        let tokenizer = learn(recipe, &both, settings)?;
        (tokenizer.clone(), tokenizer)
    } else {
        (learn(recipe, &sources, settings)?, learn(recipe, &targets, settings)?)
    };
    Ok((side(restrict(recipe, source, &sources)), side(restrict(recipe, target, &targets))))
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
