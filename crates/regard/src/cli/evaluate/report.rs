//! What is said about each system under each metric.

use std::path::Path;

use anyhow::{Context, Result};
use regard_eval::{
    BleuOptions, BleuStatistics, Corpus, FrequencyBand, Interval, LengthBucket, LengthBuckets,
    MAX_NGRAM_ORDER, PairedTest, Resamples, Resampling, ResamplingKind, SegmentStatistics, Signature,
    WordFrequencies, score_by_length, word_f1_by_frequency,
};
use serde::Serialize;

use super::EvaluateArgs;
use super::metrics::Chosen;

/// All that is compared.
pub(super) struct Texts {
    pub(super) systems: Vec<Vec<String>>,
    pub(super) references: Vec<Vec<String>>,
    /// Where scores by source length are wanted.
    pub(super) source_lengths: Option<Vec<usize>>,
    /// Where scores by reference length are wanted.
    pub(super) target_lengths: Option<Vec<usize>>,
    /// Where scores by word frequency are wanted.
    pub(super) frequencies: Option<WordFrequencies>,
}

/// One system under one metric.
#[derive(Serialize)]
pub(super) struct Report {
    pub(super) system: String,
    pub(super) name: String,
    pub(super) score: f64,
    pub(super) signature: String,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(super) bleu: Option<BleuDetails>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(super) interval: Option<Interval>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) p_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sentences: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) by_length: Option<Vec<LengthBucket>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) by_target_length: Option<Vec<LengthBucket>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) by_frequency: Option<Vec<FrequencyBand>>,
    #[serde(skip)]
    pub(super) higher_is_better: bool,
}

/// What a BLEU score is made of.
#[derive(Serialize)]
pub(super) struct BleuDetails {
    precisions: [f64; MAX_NGRAM_ORDER],
    brevity_penalty: f64,
    ratio: f64,
    hyp_len: usize,
    ref_len: usize,
    /// The score and its parts as sacreBLEU prints them.
    #[serde(skip)]
    pub(super) verbose: String,
}

impl BleuDetails {
    fn new(options: &BleuOptions, sums: &[f64]) -> Self {
        let bleu = options.score(&BleuStatistics::from_row(sums));
        Self {
            precisions: bleu.precisions,
            brevity_penalty: bleu.brevity_penalty,
            ratio: bleu.ratio,
            hyp_len: bleu.hyp_len,
            ref_len: bleu.ref_len,
            verbose: bleu.to_string(),
        }
    }
}

/// A report for each system and metric, system after system. The cores share the work; each report depends on its
/// system and the baseline only.
pub(super) fn reports(args: &EvaluateArgs, metrics: &[Chosen], texts: &Texts) -> Result<Vec<Report>> {
    let threads = args.settings.threads()?;
    let corpora: Vec<Corpus<'_>> = args
        .hypotheses
        .iter()
        .zip(&texts.systems)
        .map(|(path, system)| {
            Corpus::new(system, &texts.references).with_context(|| path.display().to_string())
        })
        .collect::<Result<_>>()?;
    let mut counted: Vec<Option<SegmentStatistics>> = vec![None; corpora.len() * metrics.len()];
    threads.chunks_mut(&mut counted, 1, |job, slot| {
        let (system, metric) = (job / metrics.len(), job % metrics.len());
        slot[0] = Some(SegmentStatistics::new(metrics[metric].metric(), &corpora[system]));
    });
    let counted: Vec<SegmentStatistics> = counted.into_iter().flatten().collect();
    let mut reports: Vec<Option<Result<Report>>> = counted.iter().map(|_| None).collect();
    threads.chunks_mut(&mut reports, 1, |job, slot| {
        let (system, metric) = (job / metrics.len(), job % metrics.len());
        let path = &args.hypotheses[system];
        let job = Job {
            args,
            texts,
            chosen: &metrics[metric],
            statistics: &counted[job],
            baseline: (system > 0).then(|| &counted[metric]),
        };
        let words = if metric == 0 { Some(texts.systems[system].as_slice()) } else { None };
        slot[0] = Some(job.report(path, words).with_context(|| path.display().to_string()));
    });
    reports.into_iter().flatten().collect()
}

/// What goes into one report.
struct Job<'a> {
    args: &'a EvaluateArgs,
    texts: &'a Texts,
    chosen: &'a Chosen,
    statistics: &'a SegmentStatistics,
    /// The first system, for all others.
    baseline: Option<&'a SegmentStatistics>,
}

impl Job<'_> {
    /// `words` are the system's lines where this report has its words by frequency, which no metric changes.
    fn report(&self, path: &Path, words: Option<&[String]>) -> Result<Report> {
        let (metric, sums) = (self.chosen.metric(), self.statistics.sums());
        let sentences = self
            .args
            .sentence
            .then(|| self.statistics.rows().map(|row| metric.sentence_score_of(row)).collect());
        let (p_value, interval) = (self.p_value()?, self.interval());
        Ok(Report {
            system: path.display().to_string(),
            name: metric.name(),
            score: metric.score_of(&sums),
            signature: self.signature(),
            bleu: match self.chosen {
                Chosen::Bleu(options) => Some(BleuDetails::new(options, &sums)),
                Chosen::Other(_) => None,
            },
            interval,
            p_value,
            sentences,
            by_length: self.by_length(self.texts.source_lengths.as_deref())?,
            by_target_length: self.by_length(self.texts.target_lengths.as_deref())?,
            by_frequency: self.by_frequency(words)?,
            higher_is_better: metric.higher_is_better(),
        })
    }

    fn bootstrap(&self) -> Resampling {
        Resampling::BOOTSTRAP.with_seed(self.args.seed)
    }

    fn test(&self) -> Option<(PairedTest, Resampling)> {
        let test = self.args.paired?.test();
        Some((test, test.default_resampling().with_seed(self.args.seed)))
    }

    fn signature(&self) -> String {
        let resampling = match self.test() {
            Some((test, resampling)) => Some((test.kind(), resampling)),
            None => self.args.confidence.then(|| (ResamplingKind::Bootstrap, self.bootstrap())),
        };
        let references = Some(self.texts.references.len());
        Signature { references, resampling }.of(self.chosen.metric().settings())
    }

    fn p_value(&self) -> Result<Option<f64>> {
        let (Some((test, resampling)), Some(baseline)) = (self.test(), self.baseline) else {
            return Ok(None);
        };
        Ok(Some(test.p_value(self.chosen.metric(), baseline, self.statistics, resampling)?))
    }

    /// A paired bootstrap has drawn the samples anyway, so it comes with intervals.
    fn interval(&self) -> Option<Interval> {
        let draw = || Resamples::draw(self.chosen.metric(), self.statistics, self.bootstrap());
        match self.args.paired.map(super::Paired::test) {
            Some(PairedTest::Bootstrap) => Some(draw().interval()),
            _ => self.args.confidence.then(|| draw().interval_with_exact_mean()),
        }
    }

    fn by_length(&self, lengths: Option<&[usize]>) -> Result<Option<Vec<LengthBucket>>> {
        let Some(lengths) = lengths else { return Ok(None) };
        let (metric, buckets) = (self.chosen.metric(), LengthBuckets::default());
        Ok(Some(score_by_length(metric, self.statistics, lengths, &buckets, self.bootstrap())?))
    }

    fn by_frequency(&self, words: Option<&[String]>) -> Result<Option<Vec<FrequencyBand>>> {
        let (Some(frequencies), Some(words)) = (&self.texts.frequencies, words) else { return Ok(None) };
        let Some(reference) = self.texts.references.first() else { return Ok(None) };
        Ok(Some(word_f1_by_frequency(words, reference, frequencies, self.bootstrap())?))
    }
}
