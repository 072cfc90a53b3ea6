//! Lines of a corpus → ids, on several threads.

use std::panic::resume_unwind;

use super::filters::{CorpusFilters, CorpusReport, TextFilters};
use crate::batch::Pair;
use crate::error::TextError;
use crate::pipeline::Pipeline;

/// Pairs that are in memory as text at a time, on their way.
const CHUNK: usize = 32_768;

/// Pairs of lines, and the number of each from 1.
type Chunk<S> = (Vec<(S, S)>, Vec<usize>);

/// Turns corpora into ids, the pairs in the order of the lines whatever the number of threads. Only a few thousand pairs
/// are held at a time.
///
/// ```
/// use regard_text::{CorpusEncoder, CorpusFilters, Normalizer, Pipeline, TextError, Tokenizer};
/// let pipeline = Pipeline::build(Normalizer::None, Tokenizer::Word, ["a b c"], None, 1);
/// let lines = [("a b", "c"), ("a", " "), ("a b", "c"), ("a b c", "a")];
/// let lines = lines.map(|(source, target)| Ok((source.to_owned(), target.to_owned())));
/// let filters = CorpusFilters { max_ratio: Some(2.0), duplicates: true, ..CorpusFilters::default() };
/// let mut pairs = Vec::new();
/// let report = CorpusEncoder::new(&pipeline, &pipeline, filters, 1).encode(lines, &[], |pair, _line| {
///     pairs.push(pair);
///     Ok::<(), TextError>(())
/// })?;
/// assert_eq!((report.lines, report.blank, report.duplicates, report.unbalanced), (4, 1, 1, 1));
/// assert_eq!((pairs.len(), report.kept), (1, 1));
/// # Ok::<(), TextError>(())
/// ```
pub struct CorpusEncoder {
    /// The two pipelines, once a thread: what a tokenizer remembers of words is not shared.
    workers: Vec<(Pipeline, Pipeline)>,
    filters: CorpusFilters,
    text_filters: TextFilters,
}

impl CorpusEncoder {
    /// An encoder for all corpora of a run.
    #[must_use]
    pub fn new(source: &Pipeline, target: &Pipeline, filters: CorpusFilters, threads: usize) -> Self {
        Self {
            workers: vec![(source.clone(), target.clone()); threads.max(1)],
            filters,
            text_filters: TextFilters::new(filters),
        }
    }

    /// Encodes one corpus, the tags before each source, and hands every pair that is left to `keep`, with the number of its
    /// line, from 1.
    ///
    /// # Errors
    /// Those of `lines` and of `keep`; where the source pipeline does not know a tag.
    pub fn encode<S: AsRef<str> + Sync, E: From<TextError>>(
        &mut self,
        lines: impl IntoIterator<Item = Result<(S, S), TextError>>,
        tags: &[String],
        mut keep: impl FnMut(Pair, usize) -> Result<(), E>,
    ) -> Result<CorpusReport, E> {
        self.encode_with_text(lines, tags, |pair, line, _text| keep(pair, line))
    }

    /// [`encode`](Self::encode), whose `keep` is given the text of the pair too.
    ///
    /// # Errors
    /// As there.
    pub fn encode_with_text<S: AsRef<str> + Sync, E: From<TextError>>(
        &mut self,
        lines: impl IntoIterator<Item = Result<(S, S), TextError>>,
        tags: &[String],
        mut keep: impl FnMut(Pair, usize, &(S, S)) -> Result<(), E>,
    ) -> Result<CorpusReport, E> {
        let mut lines = lines.into_iter();
        let mut report = CorpusReport::default();
        let Self { workers, filters, text_filters } = self;
        let mut read = |report: &mut CorpusReport| -> Result<Chunk<S>, TextError> {
            let (mut chunk, mut numbers) = (Vec::new(), Vec::new());
            while chunk.len() < CHUNK
                && let Some(pair) = lines.next().transpose()?
            {
                if text_filters.admit(pair.0.as_ref(), pair.1.as_ref(), report) {
                    chunk.push(pair);
                    numbers.push(report.lines);
                }
            }
            Ok((chunk, numbers))
        };
        let (mut chunk, mut numbers) = read(&mut report)?;
        while !chunk.is_empty() {
            let (encoded, next) = encode_chunk(workers, &chunk, tags, || read(&mut report));
            let (next_chunk, next_numbers) = next?;
            let text = std::mem::replace(&mut chunk, next_chunk);
            let lines = std::mem::replace(&mut numbers, next_numbers);
            for ((pair, line), text) in encoded.into_iter().zip(lines).zip(&text) {
                let pair = pair?;
                if filters.admit_lengths(
                    pair.source.len().saturating_sub(tags.len()),
                    pair.target.len(),
                    &mut report,
                ) {
                    keep(pair, line, text)?;
                }
            }
        }
        Ok(report)
    }
}

/// Encodes the pairs, and does something else meanwhile.
fn encode_chunk<S: AsRef<str> + Sync, T>(
    workers: &[(Pipeline, Pipeline)],
    chunk: &[(S, S)],
    tags: &[String],
    meanwhile: impl FnOnce() -> T,
) -> (Vec<Result<Pair, TextError>>, T) {
    let encode = |(source, target): &(Pipeline, Pipeline), part: &[(S, S)]| {
        let pair = |(source_line, target_line): &(S, S)| {
            let source = source.encode_tagged(tags, source_line.as_ref())?;
            Ok(Pair { source, target: target.encode(target_line.as_ref()) })
        };
        part.iter().map(pair).collect::<Vec<_>>()
    };
    if let [worker] = workers {
        return (encode(worker, chunk), meanwhile());
    }
    let parts = chunk.chunks(chunk.len().div_ceil(workers.len()).max(1));
    std::thread::scope(|scope| {
        let running: Vec<_> = workers
            .iter()
            .zip(parts)
            .map(|(worker, part)| scope.spawn(move || encode(worker, part)))
            .collect();
        let result = meanwhile();
        let encoded =
            running.into_iter().map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic)));
        (encoded.flatten().collect(), result)
    })
}
