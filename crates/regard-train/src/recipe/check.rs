//! What a recipe must not ask for.

use regard_model::ModelConfig;
use regard_text::SentencePieceAlgorithm;

use super::{Metric, Recipe, TokenizerKind, TokenizerRecipe, ValidationRecipe};
use crate::config::Problem;
use crate::sampling::SamplingConfig;
use crate::schedule::ScheduleConfig;

const NEEDS_VALIDATION: &str =
    "needs a validation set: give data.valid_source and data.valid_target, or data.valid_pairs";

impl Recipe {
    /// The table and the problem of the first impossible value.
    pub(super) fn check(&self) -> Result<(), (&'static str, Problem)> {
        self.data.check().map_err(|problem| ("data", problem))?;
        self.tokenizer.check().map_err(|problem| ("tokenizer", problem))?;
        self.training.check().map_err(|problem| ("training", problem))?;
        let cut_anew = self.training.guided_alignment.is_some() && self.tokenizer.resampling().is_some();
        Problem::unless(!cut_anew, "guided_alignment", || {
            "links are between tokens, and these are cut anew in each epoch: leave tokenizer.dropout and \
             tokenizer.sampling_alpha out"
                .to_owned()
        })
        .map_err(|problem| ("training", problem))?;
        let validated = self.data.validation_text().is_some();
        let plateau = matches!(self.training.schedule, ScheduleConfig::Plateau { .. });
        Problem::unless(validated || !plateau, "schedule.kind", || format!("\"plateau\" {NEEDS_VALIDATION}"))
            .map_err(|problem| ("training", problem))?;
        self.validation.check(validated).map_err(|problem| ("validation", problem))
    }

    /// A Transformer reads all target words at once, so that it cannot read its own.
    pub(super) fn check_sampling(&self, model: &ModelConfig) -> Result<(), Problem> {
        let can =
            matches!(model, ModelConfig::Recurrent(_)) || self.training.sampling == SamplingConfig::None;
        Problem::unless(can, "sampling.kind", || {
            "needs a recurrent model: a Transformer reads all target words at once".to_owned()
        })
    }
}

impl TokenizerRecipe {
    fn check(&self) -> Result<(), Problem> {
        Problem::unless(self.merges > 0, "merges", || "0 must be at least 1".to_owned())?;
        Problem::unless(self.min_count > 0, "min_count", || "0 must be at least 1".to_owned())?;
        Problem::unless(self.sample_lines != Some(0), "sample_lines", || "0 must be at least 1".to_owned())?;
        let size = self.vocabulary_size.unwrap_or(usize::MAX);
        Problem::unless(size > 4, "vocabulary_size", || {
            format!("{size} must be at least 5: four special tokens and a word")
        })?;
        let coverage = self.character_coverage;
        Problem::unless(coverage > 0.0 && coverage <= 1.0, "character_coverage", || {
            format!("{coverage} must be above 0 and at most 1")
        })?;
        let dropout = self.dropout;
        Problem::unless((0.0..1.0).contains(&dropout), "dropout", || {
            format!("{dropout} must be from 0 to below 1")
        })?;
        let alpha = self.sampling_alpha;
        Problem::unless(alpha >= 0.0 && alpha.is_finite(), "sampling_alpha", || {
            format!("{alpha} must be 0 or more")
        })?;
        // A model that is there already says itself how it cuts.
        let cuts = |algorithm| self.source_model.is_some() || self.algorithm == algorithm;
        let sentencepiece = self.kind == TokenizerKind::SentencePiece;
        let merges = self.kind == TokenizerKind::Bpe || sentencepiece && cuts(SentencePieceAlgorithm::Bpe);
        Problem::unless(merges || dropout <= 0.0, "dropout", || {
            "needs kind = \"bpe\", or \"sentencepiece\" with algorithm = \"bpe\"".to_owned()
        })?;
        let is_unigram = sentencepiece && cuts(SentencePieceAlgorithm::Unigram);
        Problem::unless(is_unigram && dropout <= 0.0 || alpha <= 0.0, "sampling_alpha", || {
            "needs kind = \"sentencepiece\" with algorithm = \"unigram\", and no dropout".to_owned()
        })?;
        let models = (self.source_model.is_some(), self.target_model.is_some());
        Problem::unless(models.0 == models.1, "source_model", || {
            "give source_model and target_model, or none of them".to_owned()
        })?;
        let is_bpe = self.kind == TokenizerKind::Bpe;
        let needs_bpe = || "needs kind = \"bpe\"".to_owned();
        Problem::unless(is_bpe || self.vocabulary_threshold == 0, "vocabulary_threshold", needs_bpe)?;
        Problem::unless(is_bpe || self.glossaries.is_empty(), "glossaries", needs_bpe)?;
        match self.kind {
            TokenizerKind::SentencePiece => Ok(()),
            TokenizerKind::HuggingFace => Problem::unless(models.0, "source_model", || {
                "kind = \"huggingface\" needs source_model and target_model: a tokenizer.json each".to_owned()
            }),
            _ => Problem::unless(!models.0, "source_model", || {
                "needs kind = \"sentencepiece\" or \"huggingface\"".to_owned()
            }),
        }
    }
}

impl ValidationRecipe {
    fn check(&self, validated: bool) -> Result<(), Problem> {
        Problem::unless(self.beam_size > 0, "beam_size", || "0 must be at least 1".to_owned())?;
        Problem::unless(self.max_lines != Some(0), "max_lines", || "0 must be at least 1".to_owned())?;
        let needed = self.metric != Metric::Loss || self.patience > 0;
        Problem::unless(validated || !needed, if self.patience > 0 { "patience" } else { "metric" }, || {
            NEEDS_VALIDATION.to_owned()
        })
    }
}
