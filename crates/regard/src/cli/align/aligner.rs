//! A model, and the links that are read off it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use regard_decode::{DecodeError, Look, MAX_SOURCE_TOKENS, Translator};
use regard_eval::Links;
use regard_look::{LookError, Method, Reading, Subject, attribute, word_links};
use regard_model::{ModelConfig, Seq2Seq};
use regard_tensor::{Precision, Threads};
use regard_text::special_tokens::EOS;
use regard_text::{Token, is_blank};

use super::AlignArgs;
use crate::cli::failure::WrongCall;
use crate::cli::settings::Settings;
use crate::cli::text_options::TextOptions;

/// The links of a pair.
#[derive(Default)]
pub(super) struct Aligned {
    pub(super) links: Links,
    /// The number of source tokens, where only the first ones were read.
    pub(super) cut_from: Option<usize>,
}

/// What links are read off.
#[derive(Clone)]
pub(super) enum Source {
    /// The attention of a step.
    Attention(Reading),
    /// What a word is owed to.
    Attribution { method: Method, config: Box<ModelConfig>, network: Arc<dyn Seq2Seq> },
}

/// A model, and where its links are read.
#[derive(Clone)]
pub(super) struct Aligner {
    pub(super) translator: Translator,
    pub(super) source: Source,
    pub(super) look: Look,
    /// What is not above it makes no link.
    pub(super) least: f32,
    pub(super) batch_size: usize,
    pub(super) threads: Threads,
}

impl Aligner {
    pub(super) fn load(args: &AlignArgs, model: &Path, text: &TextOptions) -> Result<Self> {
        let (source, translator) = if let Some(reading) = args.method.reading() {
            (Source::Attention(reading), args.settings.translator(model, text, Precision::F32)?)
        } else {
            let method = args.method.attribution();
            if args.head.0.is_some()
                || !has_layers(method) && (args.layer.is_some() || args.tune_gold.is_some())
            {
                let problem = "--head chooses an attention (--method attention or attention-next); --layer and --tune-gold, that or the \
                               layer of norm and value-zeroing";
                return Err(WrongCall(problem.to_owned()).into());
            }
            let (config, network, translator) = args.settings.explainer(model, text)?;
            (Source::Attribution { method, config: Box::new(config), network }, translator)
        };
        if !translator.model().has_attention() {
            return Err(DecodeError::NoAttention { wanted: "an alignment by attention" }.into());
        }
        let look = Look { layer: args.layer, head: args.head.0 };
        look.check(translator.model())?;
        let threads = args.settings.threads()?;
        Ok(Self { translator, source, look, least: args.above, batch_size: args.batch_size, threads })
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
        match &self.source {
            Source::Attention(reading) => self.by_attention(*reading, sources, targets),
            Source::Attribution { method, config, network } => {
                self.by_attribution(*method, (config, network.as_ref()), sources, targets)
            }
        }
    }

    /// Each pair on one thread.
    fn by_attribution(
        &self,
        method: Method,
        (config, model): (&ModelConfig, &dyn Seq2Seq),
        sources: &[&str],
        targets: &[&str],
    ) -> Result<Vec<Aligned>> {
        let mut results: Vec<Result<Aligned>> = sources.iter().map(|_| Ok(Aligned::default())).collect();
        let single = Threads::single();
        self.threads.chunks_mut(&mut results, 1, |line, result| {
            let (source, target) = (sources[line], targets[line]);
            if is_blank(source) || is_blank(target) {
                return;
            }
            let (source_ids, cut_from) = self.source_ids(source);
            let mut target_ids = self.translator.target().encode(target);
            target_ids.push(EOS);
            let subject = Subject {
                model,
                config,
                threads: &single,
                source: &source_ids,
                target: &target_ids,
                layer: self.look.layer,
                stop: None,
            };
            let found = attribute(&subject, method).map(|found| {
                let single = |row: &Vec<f64>| row.iter().map(|&value| value as f32).collect();
                let matrix: Vec<Vec<f32>> = found.source.iter().map(single).collect();
                self.linked(Reading::Current, &matrix, (source, target), cut_from)
            });
            result[0] = found.map_err(|error| match error {
                LookError::Unfit { .. } => WrongCall(format!("--method {error}")).into(),
                other => anyhow::Error::from(other),
            });
        });
        results.into_iter().collect()
    }

    /// Source ids as the model reads them, the end symbol included, and the number of tokens where not all were read.
    fn source_ids(&self, line: &str) -> (Vec<u32>, Option<usize>) {
        let mut tokens: Vec<String> =
            self.translator.tokenize(line).into_iter().map(|token| token.text).collect();
        let cut_from = (tokens.len() > MAX_SOURCE_TOKENS).then_some(tokens.len());
        tokens.truncate(MAX_SOURCE_TOKENS);
        let mut ids = self.translator.source().ids(&tokens);
        ids.push(EOS);
        (ids, cut_from)
    }

    fn linked(
        &self,
        reading: Reading,
        matrix: &[Vec<f32>],
        (source, target): (&str, &str),
        cut_from: Option<usize>,
    ) -> Aligned {
        let (mut source, target) = (self.source_words(source), self.target_words(target));
        // What was not read has no column.
        source.truncate(MAX_SOURCE_TOKENS);
        Aligned {
            links: word_links(reading.rows(matrix, target.len()), &source, &target, self.least),
            cut_from,
        }
    }

    fn by_attention(&self, reading: Reading, sources: &[&str], targets: &[&str]) -> Result<Vec<Aligned>> {
        let scores = self.translator.score(sources, targets, self.batch_size, Some(self.look))?;
        let pairs = sources.iter().zip(targets).zip(scores);
        let links = pairs.map(|((source, target), score)| {
            if is_blank(source) || is_blank(target) {
                return Aligned::default();
            }
            let matrix = score.attention.unwrap_or_default();
            self.linked(reading, &matrix, (source, target), score.cut_from)
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

    /// Every layer by every head, and by the mean of its heads where it has several; every layer where no attention is read.
    pub(super) fn looks(&self) -> Vec<Look> {
        let sites = self.translator.model().cross_sites();
        let layers: BTreeSet<usize> = sites.iter().map(|site| site.layer).collect();
        let by_head = matches!(self.source, Source::Attention(_));
        let of_layer = |layer| {
            let heads: Vec<usize> =
                sites.iter().filter(|site| site.layer == layer).map(|site| site.head).collect();
            let mean = (heads.len() > 1 || !by_head).then_some(None);
            let heads = heads.into_iter().filter(|_| by_head).map(Some).chain(mean);
            heads.map(move |head| Look { layer: Some(layer), head }).collect::<Vec<_>>()
        };
        layers.into_iter().flat_map(of_layer).collect()
    }
}

/// Whether an attribution is of one layer's look.
fn has_layers(method: Method) -> bool {
    matches!(method, Method::Norm | Method::ValueZeroing)
}

fn words(tokens: &[Token]) -> Vec<Option<usize>> {
    tokens.iter().map(|token| token.word).collect()
}
