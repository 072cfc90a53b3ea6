//! How fast a corpus becomes batches, on one thread: `cargo bench -p regard-text --bench corpus`. Tokens are those of both
//! sides, seconds those of the processor. Sentences are made up: 4 to 12 words a side of 5,000.

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::time::Instant;

use regard_text::{
    Batch, BatchSize, Bpe, CacheWriter, Corpus, CorpusEncoder, CorpusFilters, CorpusReport, CorpusSource,
    Normalizer, Pair, PairSource, ParallelText, Pipeline, Sampler, TextError, Tokenizer,
};

const PAIRS: u64 = 200_000;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("pairs.tsv");
    fs::write(&path, made_up(PAIRS))?;
    let source = CorpusSource::tsv(&path);
    measure("lines alone", || Ok(words(&ParallelText::read(&source)?)))?;
    let text = ParallelText::read(&source)?;
    let bpe = Bpe::learn(text.sources().take(10_000), 2000, 2);
    for (name, tokenizer) in [("words", Tokenizer::Word), ("BPE, 2000 merges", Tokenizer::Bpe(bpe))] {
        let pipeline = Pipeline::build(Normalizer::None, tokenizer, text.sources(), None, 1);
        let pairs = encode(&source, &pipeline)?.pairs;
        measure(&format!("text to ids, {name}"), || Ok(tokens(&encode(&source, &pipeline)?.pairs)))?;
        measure(&format!("batches from memory, {name}"), || batches(&pairs))?;
        let cache = directory.path().join("pairs.ids");
        measure(&format!("ids to a cache, {name}"), || {
            Ok(write(&cache, &pairs)?.len().min(1) * tokens(&pairs))
        })?;
        let cached = write(&cache, &pairs)?;
        measure(&format!("batches from a cache, {name}"), || batches(&cached))?;
    }
    Ok(())
}

/// Prints the speed of the fastest of five runs, which return how many tokens they went through.
fn measure(name: &str, mut run: impl FnMut() -> Result<usize, TextError>) -> Result<(), TextError> {
    let mut best = 0.0_f64;
    for _ in 0..5 {
        let (start, before) = (Instant::now(), processor_seconds());
        let tokens = run()?;
        let used = processor_seconds().zip(before).map(|(after, before)| after - before);
        best = best.max(tokens as f64 / used.unwrap_or_else(|| start.elapsed().as_secs_f64()));
    }
    println!("{name:40} {:8.2} million tokens/s", best / 1e6);
    Ok(())
}

/// What Linux says that this thread has computed; elsewhere the clock must do.
fn processor_seconds() -> Option<f64> {
    let text = fs::read_to_string("/proc/self/schedstat").ok()?;
    let nanoseconds: f64 = text.split(' ').next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}

fn words(text: &ParallelText) -> usize {
    text.sources().chain(text.targets()).map(|line| 1 + line.matches(' ').count()).sum()
}

fn tokens(pairs: &[Pair]) -> usize {
    pairs.iter().map(|pair| pair.source.len() + pair.target.len()).sum()
}

fn encode(source: &CorpusSource, pipeline: &Pipeline) -> Result<Corpus, TextError> {
    let mut corpus = Corpus::default();
    let mut encoder = CorpusEncoder::new(pipeline, pipeline, CorpusFilters::default(), 1);
    encoder.encode(source.open()?, &[], |pair, _line| {
        corpus.pairs.push(pair);
        Ok::<_, TextError>(())
    })?;
    Ok(corpus)
}

fn write(path: &std::path::Path, pairs: &[Pair]) -> Result<regard_text::CachedCorpus, TextError> {
    let mut writer = CacheWriter::create(path)?;
    pairs.iter().try_for_each(|pair| writer.push(pair))?;
    writer
        .finish("bench", &[CorpusReport { lines: pairs.len(), kept: pairs.len(), ..CorpusReport::default() }])
}

/// An epoch, its order included.
fn batches(pairs: &(impl PairSource + ?Sized)) -> Result<usize, TextError> {
    let order = Sampler::new(pairs, BatchSize::Tokens(4096), 1).epoch(0);
    let mut tokens = 0;
    for indices in order.iter() {
        let batch = Batch::read(pairs, indices)?;
        tokens += batch.source.tokens() + batch.target.tokens() - 2 * batch.source.rows();
    }
    Ok(tokens)
}

fn made_up(count: u64) -> String {
    let mut state = 1_u64;
    let mut random = |limit: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    let mut text = String::new();
    for _ in 0..count {
        for end in ['\t', '\n'] {
            for place in 0..4 + random(9) {
                let space = if place == 0 { "" } else { " " };
                // Writing to a string cannot fail.
                let _ = write!(text, "{space}{:05x}", random(5000) * 209);
            }
            text.push(end);
        }
    }
    text
}
