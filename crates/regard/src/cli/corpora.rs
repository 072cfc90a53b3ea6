//! The text of a training run, from files to pairs of ids, in memory or in a cache.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use regard_text::{
    Corpus, CorpusEncoder, CorpusReport, EvenSample, Pair, PairSource, Part, Pipeline, TextError, is_blank,
};
use regard_train::{Recipe, TrainingCorpus};

use super::cache::{self, Cached, CachedText};
use super::guide::Guide;
use super::output::list;
use super::pipelines::{TrainingText, pipelines};
use super::settings::Settings;

/// How often is told how much has been tokenized.
const REPORT_EVERY: Duration = Duration::from_secs(10);

/// A pair as ids, and where it comes from.
pub(super) struct Encoded<'a> {
    pub(super) pair: Pair,
    /// The number of its corpus, from 0.
    corpus: usize,
    /// Its line there, from 1.
    line: usize,
    /// Its line in all corpora one after the other, from 1.
    pub(super) line_of_all: usize,
    /// The tags before its source.
    pub(super) tags: usize,
    pub(super) source: &'a str,
    pub(super) target: &'a str,
}

/// What a training reads.
pub(super) struct TrainingPairs {
    pub(super) pairs: Box<dyn PairSource>,
    /// The links between the tokens of each pair, where the training is guided.
    pub(super) links: Option<Box<dyn PairSource>>,
}

type Line<'a> = (Cow<'a, str>, Cow<'a, str>);

/// The corpora of a recipe. Without a cache their lines are in memory; with one they are read whenever they are needed.
pub(super) struct TrainingData<'a> {
    recipe: &'a Recipe,
    settings: &'a Settings,
    corpora: Vec<TrainingCorpus>,
    lines: Option<Vec<Vec<(String, String)>>>,
}

impl<'a> TrainingData<'a> {
    pub(super) fn open(recipe: &'a Recipe, settings: &'a Settings) -> Result<Self> {
        recipe.data.cache.as_deref().map_or(Ok(()), cache::check)?;
        let corpora = recipe.data.training_corpora();
        let all_lines =
            |corpus: &TrainingCorpus| corpus.source.open()?.collect::<Result<Vec<_>, TextError>>();
        let lines = match recipe.data.cache {
            None => Some(corpora.iter().map(all_lines).collect::<Result<_, _>>()?),
            Some(_) => None,
        };
        Ok(Self { recipe, settings, corpora, lines })
    }

    /// The lines of a corpus, blank ones too.
    fn lines(&self, place: usize) -> Result<Box<dyn Iterator<Item = Result<Line<'_>, TextError>> + '_>> {
        if let Some(lines) = &self.lines {
            let lines = lines[place].iter();
            return Ok(Box::new(lines.map(|(source, target)| Ok((source.into(), target.into())))));
        }
        let lines = self.corpora[place].source.open()?;
        Ok(Box::new(lines.map(|pair| pair.map(|(source, target)| (source.into(), target.into())))))
    }

    /// The pipelines of both sides: those that the cache has, or new ones, learned from the text.
    pub(super) fn pipelines(&self, one_vocabulary: bool) -> Result<(Pipeline, Pipeline)> {
        let learn = || {
            let sample = self.sample()?;
            let text = TrainingText {
                sources: &sample.iter().map(|pair| pair.0.as_ref()).collect::<Vec<_>>(),
                targets: &sample.iter().map(|pair| pair.1.as_ref()).collect::<Vec<_>>(),
                tags: &self.recipe.data.tags(),
                one_vocabulary,
            };
            pipelines(self.recipe, &text, self.settings)
        };
        let Some(directory) = &self.recipe.data.cache else { return learn() };
        let key = CachedText::of(&self.corpora)?.pipelines_key(self.recipe, one_vocabulary)?;
        cache::load_or_learn(directory, &key, learn, self.settings)
    }

    /// What is learned from: pairs with text on both sides, spread evenly over all corpora.
    fn sample(&self) -> Result<Vec<Line<'_>>> {
        let mut sample = EvenSample::new(self.recipe.sample_lines().unwrap_or(usize::MAX));
        for (place, corpus) in self.corpora.iter().enumerate() {
            let mut report = CorpusReport::default();
            for pair in self.lines(place)? {
                let pair = pair?;
                report.lines += 1;
                if is_blank(&pair.0) || is_blank(&pair.1) {
                    report.blank += 1;
                } else {
                    sample.push(pair);
                }
            }
            report.check(&corpus.source.name())?;
        }
        Ok(sample.into_items())
    }

    /// The pairs as ids, with the links that guide the training. Says what became of the lines of each corpus.
    pub(super) fn encode(
        &self,
        source: &Pipeline,
        target: &Pipeline,
        stop: &AtomicBool,
    ) -> Result<TrainingPairs> {
        if let Some(directory) = &self.recipe.data.cache {
            return self.cached(directory, source, target, stop);
        }
        let mut guide = self.guide(source, target)?;
        let (mut pairs, mut links) = (Vec::new(), Vec::new());
        let reports = self.encode_into(source, target, stop, |encoded| {
            if let Some(guide) = &mut guide {
                links.push(guide.links(&encoded)?);
            }
            pairs.push(encoded.pair);
            Ok(())
        })?;
        let links = match guide {
            Some(guide) => {
                guide.finish(lines_of(&reports))?;
                Some(Box::new(links) as Box<dyn PairSource>)
            }
            None => None,
        };
        let parts = reports.iter().zip(&self.corpora);
        let parts =
            parts.map(|(report, corpus)| Part { pairs: report.kept, weight: corpus.weight }).collect();
        self.say(&reports);
        Ok(TrainingPairs { pairs: Box::new(Corpus { pairs, parts }), links })
    }

    /// The file of links, where there is one.
    fn guide<'b>(&'b self, source: &'b Pipeline, target: &'b Pipeline) -> Result<Option<Guide<'b>>> {
        let guided = self.recipe.training.guided_alignment.as_ref();
        guided.map(|guided| Guide::open(&guided.file, source, target)).transpose()
    }

    fn cached(
        &self,
        directory: &Path,
        source: &Pipeline,
        target: &Pipeline,
        stop: &AtomicBool,
    ) -> Result<TrainingPairs> {
        let weights: Vec<f64> = self.corpora.iter().map(|corpus| corpus.weight).collect();
        let digest = cache::digest_of(directory, source, target)?;
        let text = CachedText::of(&self.corpora)?;
        let key = text.ids_key(self.recipe, &self.corpora, &digest);
        let mut pairs = Cached::open(directory, key.clone(), "ids", self.settings);
        let guided = self.recipe.training.guided_alignment.as_ref();
        let links_key = guided.map(|guided| text.links_key(&key, &guided.file)).transpose()?;
        let mut links = links_key.map(|key| Cached::open(directory, key, "links", self.settings));
        if pairs.found.is_none() || links.as_ref().is_some_and(|links| links.found.is_none()) {
            let mut guide = self.guide(source, target)?;
            pairs.begin()?;
            links.as_mut().map_or(Ok(()), Cached::begin)?;
            let reports = self.encode_into(source, target, stop, |encoded| {
                if let (Some(guide), Some(links)) = (&mut guide, &mut links) {
                    links.push(&guide.links(&encoded)?)?;
                }
                pairs.push(&encoded.pair)
            })?;
            guide.map_or(Ok(()), |guide| guide.finish(lines_of(&reports)))?;
            pairs.finish(&reports)?;
            links.as_mut().map_or(Ok(()), |links| links.finish(&reports))?;
        }
        let pairs = pairs.into_corpus()?.with_weights(&weights);
        self.say(pairs.reports());
        let links = links.map(Cached::into_corpus).transpose()?;
        let links = links.map(|links| Box::new(links) as Box<dyn PairSource>);
        Ok(TrainingPairs { pairs: Box::new(pairs), links })
    }

    fn encode_into(
        &self,
        source: &Pipeline,
        target: &Pipeline,
        stop: &AtomicBool,
        mut keep: impl FnMut(Encoded<'_>) -> Result<()>,
    ) -> Result<Vec<CorpusReport>> {
        let threads = self.settings.threads()?.count();
        let mut encoder = CorpusEncoder::new(source, target, self.recipe.data.filters(), threads);
        let (started, mut reported, mut done) = (Instant::now(), Duration::ZERO, 0_usize);
        let mut keep = |encoded: Encoded<'_>| {
            if stop.load(Ordering::Relaxed) {
                bail!("interrupted while the text was tokenized, before the training");
            }
            done += 1;
            if done.is_multiple_of(4096) && started.elapsed() > reported + REPORT_EVERY {
                reported = started.elapsed();
                let rate = done as f64 / reported.as_secs_f64();
                self.settings.say(format_args!("tokenized {done} pairs, {rate:.0} pairs/s"));
            }
            keep(encoded)
        };
        let mut reports = Vec::new();
        for (number, corpus) in self.corpora.iter().enumerate() {
            let before = lines_of(&reports);
            let keep = |pair, line, (source, target): &Line<'_>| {
                let (line_of_all, tags) = (before + line, corpus.tags.len());
                keep(Encoded { pair, corpus: number, line, line_of_all, tags, source, target })
            };
            let report = encoder.encode_with_text(self.lines(number)?, &corpus.tags, keep)?;
            report.check(&corpus.source.name())?;
            reports.push(report);
        }
        Ok(reports)
    }

    /// The lines of pairs, which are numbered from 1 as they are trained on. The text is read again.
    pub(super) fn places(&self, pairs: &[usize], source: &Pipeline, target: &Pipeline) -> Result<String> {
        let wanted: BTreeSet<usize> = pairs.iter().copied().collect();
        let (mut number, mut found) = (0, vec![Vec::new(); self.corpora.len()]);
        self.encode_into(source, target, &AtomicBool::new(false), |encoded| {
            number += 1;
            if wanted.contains(&number) {
                found[encoded.corpus].push(encoded.line);
            }
            Ok(())
        })?;
        let found = found.iter().zip(&self.corpora).filter(|(lines, _)| !lines.is_empty());
        let named = found.map(|(lines, corpus)| format!("{}, lines {}", corpus.source.name(), list(lines)));
        Ok(named.collect::<Vec<_>>().join("; "))
    }

    /// What became of the lines, a corpus a line, each filter that is on by its name.
    fn say(&self, reports: &[CorpusReport]) {
        let filters = self.recipe.data.filters();
        for (report, corpus) in reports.iter().zip(&self.corpora) {
            let mut left_out = vec![format!("{} with a blank side", report.blank)];
            if filters.identical {
                left_out.push(format!("{} identical", report.identical));
            }
            if filters.duplicates {
                left_out.push(format!("{} duplicates", report.duplicates));
            }
            if let Some(limit) = filters.max_length {
                left_out.push(format!("{} longer than {limit} tokens", report.too_long));
            }
            if let Some(ratio) = filters.max_ratio {
                left_out.push(format!("{} with a length ratio above {ratio}", report.unbalanced));
            }
            self.settings.say(format_args!(
                "{}: {} pairs of {} lines; left out: {}",
                corpus.source.name(),
                report.kept,
                report.lines,
                left_out.join(", ")
            ));
        }
    }
}

/// The lines of all corpora.
fn lines_of(reports: &[CorpusReport]) -> usize {
    reports.iter().map(|report| report.lines).sum()
}
