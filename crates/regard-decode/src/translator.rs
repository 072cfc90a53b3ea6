//! Text → text.

use std::cmp::Reverse;
use std::sync::Arc;

use regard_model::Predictor;
use regard_tensor::{Precision, Threads};
use regard_text::special_tokens::{EOS, EOS_TOKEN};
use regard_text::{Padded, Pipeline, Shortlist, Token, is_blank};

use crate::alignment::hard_alignment;
use crate::error::{DecodeError, Result};
use crate::hypothesis::Hypothesis;
use crate::look::Look;
use crate::minimum_bayes_risk::sort_by_risk;
use crate::observer::{SearchObserver, SearchStep};
use crate::options::SearchOptions;
use crate::replace_unk::{Copied, replace_unknown};
use crate::request::{Request, Wish};
use crate::scorer::Score;
use crate::search::{Controls, Decoding};
use crate::translation::{Candidate, Translation};

/// Source tokens that are read of a line; the rest is cut off and [`Translation::cut_from`] says so.
pub const MAX_SOURCE_TOKENS: usize = 1000;

/// Lines that a thread takes at a time, where so many are asked for, even if they are more than its share: with fewer, products
/// are slower.
const SHARE: usize = 16;

/// A model with the pipelines of both its sides. It does not change when it works, and may be shared between threads.
#[derive(Clone)]
pub struct Translator {
    model: Arc<dyn Predictor>,
    source: Pipeline,
    target: Pipeline,
    threads: Threads,
    precision: Precision,
    shortlist: Option<Arc<Shortlist>>,
    tags: Vec<String>,
}

/// What a translation may be told.
#[derive(Clone, Debug, PartialEq)]
pub struct TranslateOptions {
    /// The search; its `attention` decides whether alignment and attention are returned.
    pub search: SearchOptions,
    /// Sentences that are searched at a time: each thread takes its share, but 16 (or all of these, if fewer) at least. It
    /// changes speed and memory and nothing else.
    pub batch_size: usize,
    /// Whether each `<unk>` becomes the source word with the largest weight.
    pub replace_unk: bool,
    /// Whether the list is sorted by minimum Bayes risk: by the mean chrF of each translation against all of the list. It
    /// then is the score of each.
    pub minimum_bayes_risk: bool,
}

impl Default for TranslateOptions {
    fn default() -> Self {
        Self {
            search: SearchOptions::default(),
            batch_size: 16,
            replace_unk: false,
            minimum_bayes_risk: false,
        }
    }
}

/// A line as the model reads it.
struct Source<'a> {
    line: &'a str,
    /// Tags, then the tokens of the text.
    tokens: Vec<Token>,
    ids: Vec<u32>,
    cut_from: Option<usize>,
}

impl Translator {
    /// A translator.
    ///
    /// # Errors
    /// [`DecodeError::Vocabulary`] where the target vocabulary has another size than the model's output.
    pub fn new(
        model: Arc<dyn Predictor>,
        source: Pipeline,
        target: Pipeline,
        threads: Threads,
    ) -> Result<Self> {
        let (writes, vocabulary) = (model.target_vocabulary(), target.vocabulary.len());
        if writes != vocabulary {
            return Err(DecodeError::Vocabulary { model: writes, vocabulary });
        }
        let (precision, tags) = (Precision::F32, Vec::new());
        Ok(Self { model, source, target, threads, precision, shortlist: None, tags })
    }

    /// The same translator, which puts tags before every source line: which language to translate into, for example.
    ///
    /// # Errors
    /// [`DecodeError::Text`] for a tag that the source pipeline does not have.
    pub fn with_tags(self, tags: Vec<String>) -> Result<Self> {
        self.source.check_tags(&tags)?;
        Ok(Self { tags, ..self })
    }

    /// The same translator, which computes products with weights in a precision.
    #[must_use]
    pub fn with_precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// The same translator, whose searches write the words of a shortlist of its vocabularies only: faster. Probabilities
    /// then sum to 1 over the list of each sentence. [`score`](Self::score) goes on to ask for those among all words.
    #[must_use]
    pub fn with_shortlist(self, shortlist: Arc<Shortlist>) -> Self {
        Self { shortlist: Some(shortlist), ..self }
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &dyn Predictor {
        self.model.as_ref()
    }

    /// The pipeline of the source side.
    #[must_use]
    pub fn source(&self) -> &Pipeline {
        &self.source
    }

    /// The pipeline of the target side.
    #[must_use]
    pub fn target(&self) -> &Pipeline {
        &self.target
    }

    /// The tokens of a source line: the tags, then the text's. A blank line has none of either.
    #[must_use]
    pub fn tokenize(&self, line: &str) -> Vec<Token> {
        let mut tokens = self.source.tokenize_with_ranges(line);
        if !tokens.is_empty() {
            tokens.splice(0..0, self.tags.iter().map(|tag| Token::control(tag, 0)));
        }
        tokens
    }

    /// What runs the model directly: searches and forced decoding of ids.
    #[must_use]
    pub fn decoding(&self) -> Decoding<'_> {
        let shortlist = self.shortlist.as_deref();
        let precision = self.precision;
        Decoding { precision, shortlist, ..Decoding::new(self.model.as_ref(), &self.threads) }
    }

    /// Translates lines, one result a line, in order.
    ///
    /// A blank line gives an empty text without a run of the model. Lines are searched in batches of similar length; what
    /// a line gives depends on the line alone.
    ///
    /// # Errors
    /// As [`Decoding::search`], with sentences counted in `lines`; [`DecodeError::NoAttention`] where words shall be
    /// copied and the model has no attention.
    pub fn translate(&self, lines: &[&str], options: &TranslateOptions) -> Result<Vec<Translation>> {
        self.translate_with(lines, &[], options, Controls::default())
    }

    /// As [`Translator::translate`], with wishes for the lines (none, or one a line) and who looks on: a hook counts
    /// sentences in its batch, an observer lines.
    ///
    /// # Errors
    /// As [`Translator::translate`], and [`DecodeError::Options`] for a wish with unknown words.
    pub fn translate_with(
        &self,
        lines: &[&str],
        wishes: &[Wish],
        options: &TranslateOptions,
        controls: Controls,
    ) -> Result<Vec<Translation>> {
        self.check(options)?;
        if !wishes.is_empty() && wishes.len() != lines.len() {
            return Err(DecodeError::Unpaired { sources: lines.len(), targets: wishes.len() });
        }
        let attention = options.search.attention.or(options.replace_unk.then(Look::default));
        let search = SearchOptions { attention, ..options.search.clone() };
        let mut requests =
            wishes.iter().map(|wish| wish.request(&self.target)).collect::<Result<Vec<_>>>()?;
        requests.resize(lines.len(), Request::default());
        let sources: Vec<Source<'_>> = lines.iter().map(|line| self.read(line)).collect();
        let mut order: Vec<usize> =
            (0..sources.len()).filter(|&line| !sources[line].ids.is_empty()).collect();
        order.sort_by_key(|&line| Reverse(sources[line].ids.len()));
        let mut found = vec![Vec::new(); sources.len()];
        let lists = self.in_batches(&order, options.batch_size, |batch, threads| {
            let rows = Padded::from_sentences(batch.iter().map(|&line| sources[line].ids.as_slice()));
            let wanted: Vec<Request> = batch.iter().map(|&line| requests[line].clone()).collect();
            let in_lines = controls.observer.map(|observer| InLines { observer, lines: batch });
            let observer = in_lines.as_ref().map(|observer| observer as &dyn SearchObserver);
            let controls = Controls { observer, ..controls };
            let decoding = Decoding { threads, controls, ..self.decoding() };
            decoding.search_with(&rows, &search, &wanted)
        })?;
        for (&line, list) in order.iter().zip(lists) {
            found[line] = list;
        }
        Ok(sources.into_iter().zip(found).map(|(source, list)| self.write(source, list, options)).collect())
    }

    /// The probability of each target line given its source line, one result a pair, in order. A blank line that stays
    /// blank has no tokens, as in a translation.
    ///
    /// # Errors
    /// As [`Translator::score_rows`].
    pub fn score(
        &self,
        sources: &[&str],
        targets: &[&str],
        batch_size: usize,
        look: Option<Look>,
    ) -> Result<Vec<Score>> {
        let row = |(source, target): (&&str, &&str)| {
            let mut ids = self.target.encode(target);
            if !(ids.is_empty() && is_blank(source)) {
                ids.push(EOS);
            }
            ids
        };
        if sources.len() != targets.len() {
            return Err(DecodeError::Unpaired { sources: sources.len(), targets: targets.len() });
        }
        let rows: Vec<Vec<u32>> = sources.iter().zip(targets).map(row).collect();
        self.score_rows(sources, &rows, batch_size, look)
    }

    /// The probability of each row of target ids given its source line: `y1 … ym EOS` of a whole translation, without EOS
    /// of one that was cut. A text may be cut into tokens in several ways; this scores the very tokens of a translation.
    ///
    /// # Errors
    /// As [`Decoding::score`], with sentences counted in `sources`; [`DecodeError::Options`] for batches of 0.
    pub fn score_rows(
        &self,
        sources: &[&str],
        targets: &[Vec<u32>],
        batch_size: usize,
        look: Option<Look>,
    ) -> Result<Vec<Score>> {
        if sources.len() != targets.len() {
            return Err(DecodeError::Unpaired { sources: sources.len(), targets: targets.len() });
        }
        check_batch_size(batch_size)?;
        let sources: Vec<Source<'_>> = sources.iter().map(|line| self.read(line)).collect();
        let mut order: Vec<usize> = (0..sources.len()).collect();
        order.sort_by_key(|&pair| Reverse((targets[pair].len(), sources[pair].ids.len())));
        let scores = self.in_batches(&order, batch_size, |batch, threads| {
            let source = Padded::from_sentences(batch.iter().map(|&pair| sources[pair].ids.as_slice()));
            let target: Vec<Vec<u32>> = batch.iter().map(|&pair| targets[pair].clone()).collect();
            Decoding { threads, ..self.decoding() }.score(&source, &Padded::from_rows(&target), look)
        })?;
        let mut found: Vec<(usize, Score)> = order.into_iter().zip(scores).collect();
        found.sort_by_key(|&(pair, _)| pair);
        let cut = |(pair, score): (usize, Score)| Score { cut_from: sources[pair].cut_from, ..score };
        Ok(found.into_iter().map(cut).collect())
    }

    /// Runs `work` on batches of the lines `order`, the longest first: the results in that order. Batches are shared out over
    /// the threads, so that a thread waits for another at the end alone; one batch has all threads. Each thread takes its share
    /// of `most` lines at a time, but [`SHARE`] (or `most`, if less) at least.
    fn in_batches<T: Send>(
        &self,
        order: &[usize],
        most: usize,
        work: impl Fn(&[usize], &Threads) -> Result<Vec<T>> + Sync,
    ) -> Result<Vec<T>> {
        let threads = self.threads.count();
        let least = order.len().div_ceil(most.min((most / threads).max(SHARE)));
        let count =
            if order.len() < threads { least } else { least.next_multiple_of(threads).min(order.len()) };
        let batch = |index: usize| &order[index * order.len() / count..(index + 1) * order.len() / count];
        // A product is cut into parts for the threads that it has.
        let each = if count > 1 { Threads::single() } else { self.threads.clone() };
        let mut results: Vec<Result<Vec<T>>> = (0..count).map(|_| Ok(Vec::new())).collect();
        self.threads.chunks_mut(&mut results, 1, |index, results| {
            for result in results {
                *result = work(batch(index), &each).map_err(|error| error.in_whole(batch(index)));
            }
        });
        let results = results.into_iter().collect::<Result<Vec<_>>>()?;
        Ok(results.into_iter().flatten().collect())
    }

    fn check(&self, options: &TranslateOptions) -> Result<()> {
        options.search.check()?;
        check_batch_size(options.batch_size)?;
        if options.replace_unk && !self.model.has_attention() {
            return Err(DecodeError::NoAttention { wanted: "copying unknown words from the source" });
        }
        self.decoding().check_look(options.search.attention)
    }

    fn read<'a>(&self, line: &'a str) -> Source<'a> {
        let mut tokens = self.tokenize(line);
        let cut_from = (tokens.len() > MAX_SOURCE_TOKENS).then_some(tokens.len());
        tokens.truncate(MAX_SOURCE_TOKENS);
        let texts: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
        let ids = self.source.ids(&texts);
        Source { line, tokens, ids, cut_from }
    }

    fn write(
        &self,
        mut source: Source<'_>,
        list: Vec<Hypothesis>,
        options: &TranslateOptions,
    ) -> Translation {
        if list.is_empty() {
            return Translation::blank(options.search.attention.is_some());
        }
        let mut candidates: Vec<Candidate> =
            list.into_iter().map(|hypothesis| self.candidate(&source, hypothesis, options)).collect();
        if options.minimum_bayes_risk {
            sort_by_risk(&mut candidates);
        }
        source.tokens.push(Token::control(EOS_TOKEN, source.line.len()));
        Translation { source: source.tokens, cut_from: source.cut_from, candidates }
    }

    fn candidate(
        &self,
        source: &Source<'_>,
        mut hypothesis: Hypothesis,
        options: &TranslateOptions,
    ) -> Candidate {
        let mut tokens = self.target.tokens_of(&hypothesis.tokens);
        let attention = hypothesis.attention.as_deref().unwrap_or_default();
        if options.replace_unk {
            let copied = Copied { line: source.line, tokens: &source.tokens, pipeline: &self.source };
            replace_unknown(&mut tokens, &hypothesis.tokens, attention, &copied);
        }
        let alignment = options.search.attention.map(|_| hard_alignment(attention, tokens.len()));
        if options.search.attention.is_none() {
            hypothesis.attention = None;
            hypothesis.attention_scores = None;
        }
        Candidate { text: self.target.detokenize(&tokens), tokens, alignment, hypothesis }
    }
}

/// Tells an observer the number of the line, not the one in the batch.
struct InLines<'a> {
    observer: &'a dyn SearchObserver,
    lines: &'a [usize],
}

impl SearchObserver for InLines<'_> {
    fn step(&self, step: &SearchStep) {
        let sentence = self.lines.get(step.sentence).copied().unwrap_or(step.sentence);
        self.observer.step(&SearchStep { sentence, ..step.clone() });
    }
}

fn check_batch_size(batch_size: usize) -> Result<()> {
    if batch_size == 0 {
        return Err(DecodeError::Options("the batch size is 0; the smallest is 1".into()));
    }
    Ok(())
}
