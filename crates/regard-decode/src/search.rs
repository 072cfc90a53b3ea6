//! The search of a batch: one model step serves the beams of all its sentences.

use std::time::Instant;

use regard_model::{AttentionHook, Predictor, Row, Run, StepOutput};
use regard_tensor::{Precision, Tape, Threads};
use regard_text::special_tokens::{BOS, EOS, PAD, UNK};
use regard_text::{Padded, Shortlist};

use crate::beam::Beam;
use crate::draws::Draws;
use crate::error::{DecodeError, Result};
use crate::hypothesis::Hypothesis;
use crate::look::Look;
use crate::observer::{Considered, SearchObserver, SearchStep};
use crate::options::SearchOptions;
use crate::path::Path;
use crate::request::Request;

/// Who looks on, and who may interfere.
#[derive(Clone, Copy, Default)]
pub struct Controls<'a> {
    /// Sees and may replace what attention computes.
    pub hook: Option<&'a dyn AttentionHook>,
    /// Says whether the result is still wanted; asked before every step. A search that is stopped returns the best that it
    /// has so far.
    pub stop: Option<&'a (dyn Fn() -> bool + Sync)>,
    /// Is told of every step.
    pub observer: Option<&'a dyn SearchObserver>,
}

/// A model and what running it needs.
#[derive(Clone, Copy)]
pub struct Decoding<'a> {
    /// The model.
    pub model: &'a dyn Predictor,
    /// Computes.
    pub threads: &'a Threads,
    /// What products with weights are computed in.
    pub precision: Precision,
    /// What a search may write, by the words of the source; all words without it. Forced decoding does not heed it.
    pub shortlist: Option<&'a Shortlist>,
    /// Who looks on.
    pub controls: Controls<'a>,
}

/// The search of one sentence.
enum Search {
    Beam(Beam),
    Draws(Draws),
}

impl<'a> Decoding<'a> {
    /// In f32, without anybody who looks on.
    #[must_use]
    pub fn new(model: &'a dyn Predictor, threads: &'a Threads) -> Self {
        Self { model, threads, precision: Precision::F32, shortlist: None, controls: Controls::default() }
    }

    pub(crate) fn tape(&self) -> Tape {
        Tape::inference(self.threads).with_precision(self.precision)
    }

    /// [`search_with`](Self::search_with) no wishes.
    ///
    /// # Errors
    /// As there.
    pub fn search(&self, source: &Padded, options: &SearchOptions) -> Result<Vec<Vec<Hypothesis>>> {
        self.search_with(source, options, &vec![Request::default(); source.rows()])
    }

    /// The best translations of source rows `x1 … xn EOS`, best first: one list a row.
    ///
    /// A list holds at most `n_best` hypotheses, all different: what has ended and, by [`SearchOptions::cut`], what the
    /// maximum length has cut, marked by [`Hypothesis::finished`]. The search of a sentence ends when no living path can
    /// enter its list any more. Equal sums are decided by the rank of the parent, then by the id; equal
    /// scores by who ended first. With [`SearchOptions::sampling`] it holds `n_best` draws, which may be the same. What a
    /// row gives does not depend on the other rows.
    ///
    /// # Errors
    /// [`DecodeError::Options`], [`DecodeError::Unpaired`], [`DecodeError::UnknownId`] and [`DecodeError::NoAttention`]
    /// before any work, [`DecodeError::NotANumber`], and the model's own errors.
    pub fn search_with(
        &self,
        source: &Padded,
        options: &SearchOptions,
        requests: &[Request],
    ) -> Result<Vec<Vec<Hypothesis>>> {
        options.check()?;
        self.check_look(options.attention)?;
        if options.coverage_penalty > 0.0 && !self.model.has_attention() {
            return Err(DecodeError::NoAttention { wanted: "a coverage penalty" });
        }
        self.check_requests(source, options, requests)?;
        if source.rows() == 0 {
            return Ok(Vec::new());
        }
        let deadline = options.time_limit.and_then(|limit| Instant::now().checked_add(limit));
        let tape = self.tape();
        let run = Run { tape: &tape, hook: self.controls.hook, attention: options.watch().is_wanted() };
        let mut memory = self.model.encode(&run, source)?;
        if let Some(shortlist) = self.shortlist {
            let sentences = requests.iter().zip(&source.lengths).enumerate();
            let lists = sentences.map(|(sentence, (request, &length))| {
                writable(shortlist, &source.row(sentence)[..length], options, request)
            });
            let lists: Vec<Vec<u32>> = lists.collect();
            self.model.restrict(&run, &mut memory, &lists)?;
        }
        let numbered = requests.iter().enumerate();
        let mut searches: Vec<Search> =
            numbered.map(|(sentence, request)| Search::new(sentence, source, options, request)).collect();
        let (mut tokens, mut rows) = next_input(&searches, |_| 0);
        let sentences: Vec<usize> = rows.iter().map(|row| row.sentence).collect();
        let mut state = self.model.start(&run, &memory, &sentences)?;
        loop {
            if rows.is_empty() || self.is_stopped(deadline) {
                return Ok(searches.into_iter().map(Search::end).collect());
            }
            let output = self.model.step(&run, &memory, &state, &tokens, &rows)?;
            let parents = self.advance(&mut searches, &output)?;
            state = output.state.select(&parents)?;
            (tokens, rows) = next_input(&searches, |row| rows[parents[row]].hypothesis);
        }
    }

    /// Takes a step in every search that goes on; returns the row that each living path continues.
    fn advance(&self, searches: &mut [Search], output: &StepOutput) -> Result<Vec<usize>> {
        let mut parents = Vec::new();
        let mut first_row = 0;
        for (sentence, search) in searches.iter_mut().enumerate() {
            let Some(path) = search.living().first() else { continue };
            let position = path.tokens.len();
            let next_row = first_row + search.living().len();
            let mut considered = self.controls.observer.map(|_| Vec::new());
            parents.extend(search.advance(output, first_row, considered.as_mut())?);
            if let (Some(observer), Some(candidates)) = (self.controls.observer, considered) {
                let living = search.living().iter().map(|path| path.tokens.clone()).collect();
                observer.step(&SearchStep { sentence, position, candidates, living });
            }
            first_row = next_row;
        }
        Ok(parents)
    }

    fn check_requests(&self, source: &Padded, options: &SearchOptions, requests: &[Request]) -> Result<()> {
        if requests.len() != source.rows() {
            return Err(DecodeError::Unpaired { sources: source.rows(), targets: requests.len() });
        }
        for (sentence, request) in requests.iter().enumerate() {
            request.check(sentence, self.model.target_vocabulary())?;
            if [PAD, BOS, EOS].iter().any(|control| request.prefix.contains(control)) {
                return Err(DecodeError::Options(format!("sentence {sentence}: a prefix holds text only")));
            }
            if options.sampling.is_some() && !request.include.is_empty() {
                let reason = "phrases can be wished for in a beam search, not in draws";
                return Err(DecodeError::Options(reason.to_owned()));
            }
        }
        Ok(())
    }

    /// Says whether the model has the attention that is asked for.
    pub(crate) fn check_look(&self, look: Option<Look>) -> Result<()> {
        let Some(look) = look else { return Ok(()) };
        if !self.model.has_attention() {
            return Err(DecodeError::NoAttention { wanted: "an alignment or a picture of the attention" });
        }
        look.check(self.model)
    }

    pub(crate) fn is_stopped(&self, deadline: Option<Instant>) -> bool {
        self.controls.stop.is_some_and(|stop| stop())
            || deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

impl Search {
    fn new(sentence: usize, source: &Padded, options: &SearchOptions, request: &Request) -> Self {
        let length = source.lengths.get(sentence).copied().unwrap_or_default();
        match options.sampling {
            None => Self::Beam(Beam::new(sentence, length, options, request)),
            Some(sampling) => {
                let ids = source.row(sentence).get(..length).unwrap_or_default();
                Self::Draws(Draws::new(sentence, ids, sampling, options, request))
            }
        }
    }

    fn living(&self) -> &[Path] {
        match self {
            Self::Beam(beam) => beam.living(),
            Self::Draws(draws) => draws.living(),
        }
    }

    fn advance(
        &mut self,
        output: &StepOutput,
        first_row: usize,
        considered: Option<&mut Vec<Considered>>,
    ) -> Result<Vec<usize>> {
        match self {
            Self::Beam(beam) => beam.advance(output, first_row, considered),
            Self::Draws(draws) => draws.advance(output, first_row, considered),
        }
    }

    /// The result. What still lives is stopped, and the whole list says so.
    fn end(self) -> Vec<Hypothesis> {
        let stopped = !self.living().is_empty();
        let mut list = match self {
            Self::Beam(beam) => beam.into_hypotheses(),
            Self::Draws(draws) => draws.into_hypotheses(),
        };
        for hypothesis in &mut list {
            hypothesis.stopped = stopped;
        }
        list
    }
}

/// What a sentence may write by a shortlist: its words, what is wished for, and the symbols that no list has.
fn writable(shortlist: &Shortlist, source: &[u32], options: &SearchOptions, request: &Request) -> Vec<u32> {
    let mut ids = shortlist.words(source);
    ids.push(EOS);
    ids.extend(options.allow_unk.then_some(UNK));
    ids.extend(request.prefix.iter().chain(request.include.iter().flatten()));
    ids
}

/// The last token of every living path, sentence after sentence, and what each row is; `parent` says which hypothesis a row
/// continues.
fn next_input(searches: &[Search], parent: impl Fn(usize) -> usize) -> (Vec<u32>, Vec<Row>) {
    let paths = searches.iter().enumerate().flat_map(|(sentence, search)| {
        search.living().iter().enumerate().map(move |(hypothesis, path)| (sentence, hypothesis, path))
    });
    let input = |(row, (sentence, hypothesis, path)): (usize, (usize, usize, &Path))| {
        let row = Row { sentence, hypothesis, parent: parent(row), position: path.tokens.len() };
        (path.tokens.last().copied().unwrap_or(BOS), row)
    };
    paths.enumerate().map(input).unzip()
}
