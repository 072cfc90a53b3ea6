//! How `regard train` judges a model: by its loss, by BLEU of real beam output, by what it loses on its own words.

use std::sync::Arc;

use regard_decode::{Decoding, MaxLength, SearchOptions};
use regard_eval::{BleuOptions, BleuTokenizer};
use regard_model::Seq2Seq;
use regard_tensor::Threads;
use regard_text::{BatchSize, Padded, Pair, Pipeline};
use regard_train::{LossValidator, Metric, Result, Validation, ValidationRecipe, Validator};

type Verdict = std::result::Result<Validation, Box<dyn std::error::Error + Send + Sync>>;

/// Sentences that are translated together.
const BATCH: usize = 32;

/// Judges a model on validation lines.
pub(super) struct TextValidator {
    loss: LossValidator,
    metric: Metric,
    beam_size: usize,
    pairs: Arc<[Pair]>,
    references: Vec<String>,
    target: Pipeline,
    threads: Threads,
}

impl TextValidator {
    /// A validator on `pairs`, whose right translations are the lines `references`. Where Moses' tokenizer is around the
    /// model, BLEU compares its tokens on both sides.
    pub(super) fn new(
        pairs: Vec<Pair>,
        references: Vec<String>,
        target: &Pipeline,
        recipe: &ValidationRecipe,
        threads: &Threads,
    ) -> Result<Self> {
        let references = match target.preparation.moses {
            Some(moses) => references.iter().map(|line| moses.tokenize(line).join(" ")).collect(),
            None => references,
        };
        Ok(Self {
            loss: LossValidator::new(&pairs, BatchSize::Sentences(BATCH), threads)?,
            metric: recipe.metric,
            beam_size: recipe.beam_size,
            pairs: pairs.into(),
            references,
            target: target.clone().pretokenized(),
            threads: threads.clone(),
        })
    }

    /// BLEU of beam output on text as the network writes it, cut at spaces.
    fn bleu(
        &self,
        model: &dyn Seq2Seq,
    ) -> std::result::Result<f64, Box<dyn std::error::Error + Send + Sync>> {
        let options = SearchOptions { beam_size: self.beam_size, ..SearchOptions::default() };
        let hypotheses = self.search(model, &options)?;
        let lines: Vec<String> =
            hypotheses.iter().map(|ids| self.target.detokenize(&self.target.tokens_of(ids))).collect();
        let bleu = BleuOptions { tokenizer: BleuTokenizer::None, ..BleuOptions::default() };
        Ok(bleu.corpus(&lines, std::slice::from_ref(&self.references))?.score)
    }

    /// Token accuracy under teacher forcing minus that in free running, position by position of the references. A
    /// position that free running never reaches counts as wrong.
    fn exposure_gap(
        &self,
        model: &dyn Seq2Seq,
    ) -> std::result::Result<f64, Box<dyn std::error::Error + Send + Sync>> {
        let forced = self.loss.accuracy(model)?;
        let written = self
            .search(model, &SearchOptions { max_length: MaxLength::FromSource, ..SearchOptions::greedy() })?;
        let (mut right, mut total) = (0_usize, 0_usize);
        for (pair, ids) in self.pairs.iter().zip(&written) {
            // The end symbol is one more token on both sides.
            right += pair.target.iter().zip(ids).filter(|(wanted, found)| wanted == found).count();
            right += usize::from(pair.target.len() == ids.len());
            total += pair.target.len() + 1;
        }
        Ok(forced - right as f64 / total.max(1) as f64)
    }

    /// The best hypothesis of each pair's source.
    fn search(&self, model: &dyn Seq2Seq, options: &SearchOptions) -> regard_decode::Result<Vec<Vec<u32>>> {
        let decoding = Decoding::new(model, &self.threads);
        let mut order: Vec<usize> = (0..self.pairs.len()).collect();
        order.sort_by_key(|&pair| self.pairs[pair].source.len());
        let mut found = vec![Vec::new(); self.pairs.len()];
        for batch in order.chunks(BATCH) {
            let rows = Padded::from_sentences(batch.iter().map(|&pair| self.pairs[pair].source.as_slice()));
            for (&pair, list) in batch.iter().zip(decoding.search(&rows, options)?) {
                found[pair] = list.into_iter().next().map(|best| best.tokens).unwrap_or_default();
            }
        }
        Ok(found)
    }
}

impl Validator for TextValidator {
    fn validate(&mut self, model: &dyn Seq2Seq, _step: u64) -> Verdict {
        let verdict = Validation::by_loss(self.loss.loss(model)?);
        Ok(match self.metric {
            Metric::Loss => verdict,
            Metric::Bleu => verdict.with_bleu(self.bleu(model)?),
            Metric::ExposureGap => verdict.with_exposure_gap(self.exposure_gap(model)?),
        })
    }
}
