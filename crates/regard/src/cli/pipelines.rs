//! The tokenizers and vocabularies of a training run.

use anyhow::Result;
use regard_text::{
    Bpe, ParallelText, Pipeline, SentencePiece, SentencePieceConfig, SentencePieceNormalization, Tokenizer,
};
use regard_train::{TokenizerKind, TokenizerRecipe};

use super::failure::WrongCall;
use super::settings::Settings;

/// A pair that is seen less often is not merged; subword-nmt's default.
const BPE_MIN_FREQUENCY: u64 = 2;
/// Pieces of a SentencePiece model whose size is not given; the package's default.
const DEFAULT_PIECES: usize = 8000;

/// The pipelines of both sides, learned from the training text or read from files. Where there shall be one vocabulary,
/// both have the same.
pub(super) fn pipelines(
    recipe: &TokenizerRecipe,
    text: &ParallelText,
    one_vocabulary: bool,
    settings: &Settings,
) -> Result<(Pipeline, Pipeline)> {
    let sources = || text.sources().collect::<Vec<_>>();
    let targets = || text.targets().collect::<Vec<_>>();
    let both = || text.sources().chain(text.targets()).collect::<Vec<_>>();
    if let (Some(source), Some(target)) = (&recipe.source_model, &recipe.target_model) {
        let read = |path| Pipeline::from_sentencepiece(recipe.normalizer, SentencePiece::read(path)?);
        let (source, target) = (read(source)?, read(target)?);
        if one_vocabulary && source.vocabulary != target.vocabulary {
            let message = "model.tied_embeddings = \"all\" needs one vocabulary, and tokenizer.source_model and \
                           tokenizer.target_model have different ones: name the same file";
            return Err(WrongCall(message.to_owned()).into());
        }
        return Ok((source, target));
    }
    if one_vocabulary {
        let pipeline = build(recipe, learn(recipe, &both(), settings)?, &both())?;
        return Ok((pipeline.clone(), pipeline));
    }
    let (source, target) = if recipe.joint {
        let tokenizer = learn(recipe, &both(), settings)?;
        (tokenizer.clone(), tokenizer)
    } else {
        (learn(recipe, &sources(), settings)?, learn(recipe, &targets(), settings)?)
    };
    Ok((build(recipe, source, &sources())?, build(recipe, target, &targets())?))
}

fn build(recipe: &TokenizerRecipe, tokenizer: Tokenizer, lines: &[&str]) -> Result<Pipeline> {
    if let Tokenizer::SentencePiece(model) = tokenizer {
        return Ok(Pipeline::from_sentencepiece(recipe.normalizer, model)?);
    }
    Ok(Pipeline::build(recipe.normalizer, tokenizer, lines, recipe.vocabulary_size, recipe.min_count))
}

fn learn(recipe: &TokenizerRecipe, lines: &[&str], settings: &Settings) -> Result<Tokenizer> {
    let normalised = || lines.iter().map(|line| recipe.normalizer.normalize(line));
    Ok(match recipe.kind {
        TokenizerKind::Word => Tokenizer::Word,
        TokenizerKind::Character => Tokenizer::Character,
        TokenizerKind::Bpe => Tokenizer::Bpe(Bpe::learn(normalised(), recipe.merges, BPE_MIN_FREQUENCY)),
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
            let threads = settings.threads()?.count();
            Tokenizer::SentencePiece(SentencePiece::train(normalised(), &config, threads, &mut |_| {})?)
        }
    })
}
