//! A model, and the links that are read off it.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, bail};
use regard_decode::{DecodeError, Look, MAX_SOURCE_TOKENS, Translator};
use regard_eval::Links;
use regard_look::{Reading, word_links};
use regard_tensor::Precision;
use regard_text::{Token, is_blank};

use super::AlignArgs;
use crate::cli::settings::Settings;
use crate::cli::text_options::TextOptions;

/// The links of a pair.
#[derive(Default)]
pub(super) struct Aligned {
    pub(super) links: Links,
    /// The number of source tokens, where only the first ones were read.
    pub(super) cut_from: Option<usize>,
}

/// A model, and where its links are read.
pub(super) struct Aligner {
    pub(super) translator: Translator,
    pub(super) reading: Reading,
    pub(super) look: Look,
    pub(super) batch_size: usize,
}

impl Aligner {
    pub(super) fn load(args: &AlignArgs, model: &Path, text: &TextOptions) -> Result<Self> {
        let translator = args.settings.translator(model, text, Precision::F32)?;
        if !translator.model().has_attention() {
            return Err(DecodeError::NoAttention { wanted: "an alignment by attention" }.into());
        }
        let look = Look { layer: args.layer, head: args.head.0 };
        Ok(Self { translator, reading: args.method.reading(), look, batch_size: args.batch_size })
    }

    /// The links of pairs that come after so many others; says which were too long to be read whole.
    pub(super) fn links_from(
        &self,
        before: usize,
        (sources, targets): (&[&str], &[&str]),
        settings: &Settings,
    ) -> Result<Vec<Links>> {
        let aligned = self.aligned(sources, targets)?;
        for (line, aligned) in (before + 1..).zip(&aligned) {
            if let Some(tokens) = aligned.cut_from {
                settings.say_cut(line, tokens);
            }
        }
        Ok(aligned.into_iter().map(|aligned| aligned.links).collect())
    }

    /// The links of each pair; none where a side is blank.
    pub(super) fn aligned(&self, sources: &[&str], targets: &[&str]) -> Result<Vec<Aligned>> {
        let scores = self.translator.score(sources, targets, self.batch_size, Some(self.look))?;
        let pairs = sources.iter().zip(targets).zip(scores);
        let links = pairs.map(|((source, target), score)| {
            if is_blank(source) || is_blank(target) {
                return Aligned::default();
            }
            let (mut source, target) = (self.source_words(source), self.target_words(target));
            // What was not read has no column.
            source.truncate(MAX_SOURCE_TOKENS);
            let matrix = score.attention.unwrap_or_default();
            let links = word_links(self.reading.rows(&matrix, target.len()), &source, &target);
            Aligned { links, cut_from: score.cut_from }
        });
        Ok(links.collect())
    }

    fn source_words(&self, line: &str) -> Vec<Option<usize>> {
        words(&self.translator.tokenize(line))
    }

    fn target_words(&self, line: &str) -> Vec<Option<usize>> {
        words(&self.translator.target().tokenize_with_ranges(line))
    }

    /// Links of two models can be joined where both see the same words; `before` is the number of lines before these.
    pub(super) fn check_words(
        &self,
        reverse: &Self,
        (sources, targets): (&[&str], &[&str]),
        before: usize,
    ) -> Result<()> {
        let count = |words: Vec<Option<usize>>| words.iter().flatten().max().map_or(0, |last| last + 1);
        for (line, (source, target)) in (before + 1..).zip(sources.iter().zip(targets)) {
            let sides = [
                ("source", count(self.source_words(source)), count(reverse.target_words(source))),
                ("target", count(self.target_words(target)), count(reverse.source_words(target))),
            ];
            if let Some((side, own, other)) = sides.into_iter().find(|(_, own, other)| own != other) {
                bail!(
                    "line {line}: the model sees {own} words on the {side} side and --reverse {other}: both need the same \
                     words, as what is cut at white space has (--pretokenized)"
                );
            }
        }
        Ok(())
    }

    /// Every layer by every head, and by the mean of its heads where it has several.
    pub(super) fn looks(&self) -> Vec<Look> {
        let sites = self.translator.model().cross_sites();
        let layers: BTreeSet<usize> = sites.iter().map(|site| site.layer).collect();
        let of_layer = |layer| {
            let heads: Vec<usize> =
                sites.iter().filter(|site| site.layer == layer).map(|site| site.head).collect();
            let mean = (heads.len() > 1).then_some(None);
            let heads = heads.into_iter().map(Some).chain(mean);
            heads.map(move |head| Look { layer: Some(layer), head }).collect::<Vec<_>>()
        };
        layers.into_iter().flat_map(of_layer).collect()
    }
}

fn words(tokens: &[Token]) -> Vec<Option<usize>> {
    tokens.iter().map(|token| token.word).collect()
}
