//! Corpora as ids: in memory and in a file, filtered, with tags.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use regard_text::{
    Batch, BatchSize, Bpe, CacheWriter, CachedCorpus, Corpus, CorpusEncoder, CorpusFilters, CorpusReport,
    Normalizer, Pair, PairSource, Part, Pipeline, Sampler, TextError, Tokenizer,
};

const KEY: &str = "what it was made from";

/// Pairs of zero to six tokens a side.
fn pairs(count: u32) -> Vec<Pair> {
    let side = |index: u32, length: u32| (0..length).map(|place| index * 7 + place * 3 + 4).collect();
    (0..count).map(|index| Pair { source: side(index, index % 7), target: side(index, index % 5) }).collect()
}

fn reports(kept: &[usize]) -> Vec<CorpusReport> {
    kept.iter().map(|&kept| CorpusReport { lines: kept, kept, ..CorpusReport::default() }).collect()
}

fn write(path: &Path, pairs: &[Pair]) -> Result<CachedCorpus, TextError> {
    let mut writer = CacheWriter::create(path)?;
    pairs.iter().try_for_each(|pair| writer.push(pair))?;
    writer.finish(KEY, &reports(&[pairs.len() - 100, 100]))
}

#[test]
fn a_cache_gives_what_memory_gives() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("new/pairs.ids");
    let pairs = pairs(1000);
    let written = write(&path, &pairs).unwrap();
    let opened = CachedCorpus::open(&path, KEY).unwrap();
    for cached in [written, opened] {
        let weights = [0.5, 2.0];
        let cached = cached.with_weights(&weights);
        let parts =
            [900, 100].into_iter().zip(weights).map(|(pairs, weight)| Part { pairs, weight }).collect();
        let memory = Corpus { pairs: pairs.clone(), parts };
        assert_eq!((cached.len(), cached.parts()), (1000, memory.parts()));
        assert_eq!(cached.checksum().unwrap(), memory.checksum().unwrap());
        for (index, pair) in pairs.iter().enumerate() {
            assert_eq!(&cached.get(index).unwrap(), pair);
            assert_eq!(cached.lengths(index), pair.lengths());
        }
        let order = Sampler::new(&cached, BatchSize::Tokens(60), 1).epoch(3);
        assert_eq!(order, Sampler::new(&memory, BatchSize::Tokens(60), 1).epoch(3));
        let batch = Batch::read(&cached, order.batch(5)).unwrap();
        assert_eq!(batch, Batch::read(&memory, order.batch(5)).unwrap());
        let indices: Vec<usize> = order.batch(5).iter().map(|&index| index as usize).collect();
        assert_eq!(batch, Batch::collate(&pairs, &indices));
    }
    // Nothing unfinished is left.
    let names: Vec<_> =
        fs::read_dir(path.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["pairs.ids"]);
}

#[test]
fn an_unfinished_cache_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pairs.ids");
    let mut writer = CacheWriter::create(&path).unwrap();
    writer.push(&pairs(3)[2]).unwrap();
    drop(writer);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn what_is_damaged_or_foreign_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pairs.ids");
    write(&path, &pairs(130)).unwrap();
    let whole = fs::read(&path).unwrap();
    let refused = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let error = CachedCorpus::open(&path, KEY).unwrap_err();
        assert!(matches!(error, TextError::BadCache { .. }), "{error}");
        error.to_string()
    };
    for place in (0..whole.len()).step_by(5) {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x10;
        refused(&bytes);
        refused(&whole[..place]);
    }
    assert!(refused(&[whole.as_slice(), b"x"].concat()).contains("something was added"));
    assert!(
        refused("a text that is longer than the header of a cache ".repeat(9).as_bytes()).contains("else")
    );
    assert!(refused(&[&whole[..8], &[9], &whole[9..]].concat()).contains("another version"));
    fs::write(&path, &whole).unwrap();
    let error = CachedCorpus::open(&path, "another key").unwrap_err().to_string();
    assert!(error.contains("pairs.ids: cannot be used as a cache: it was made from other text"), "{error}");
    // A file that loses its end while it is in use.
    let cached = CachedCorpus::open(&path, KEY).unwrap();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(100).unwrap();
    assert!(matches!(cached.get(129), Err(TextError::Read { .. })));
}

fn encode(
    lines: &[(&str, &str)],
    filters: CorpusFilters,
    tags: &[&str],
    threads: usize,
) -> (Vec<Pair>, CorpusReport) {
    let pipeline = Pipeline::build(Normalizer::None, Tokenizer::Word, ["a b c d"], None, 1);
    let source = pipeline.clone().with_tags(["<2fr>".to_owned(), "<BT>".to_owned()]).unwrap();
    let mut encoder = CorpusEncoder::new(&source, &pipeline, filters, threads);
    let lines = lines.iter().map(|&(source, target)| Ok((source.to_owned(), target.to_owned())));
    let tags: Vec<String> = tags.iter().map(|&tag| tag.to_owned()).collect();
    let mut pairs = Vec::new();
    let keep = |pair, line: usize| {
        assert_eq!(pipeline.encode(LINES[line - 1].1), Pair::clone(&pair).target);
        pairs.push(pair);
        Ok::<_, TextError>(())
    };
    let report = encoder.encode(lines, &tags, keep).unwrap();
    (pairs, report)
}

const LINES: [(&str, &str); 9] = [
    ("a b", "c d"),
    ("a", " "),
    ("a b", "a b"),
    ("a b", "c d"),
    ("a b", "c"),
    ("c d", "a b"),
    ("a b c d a", "a b c d"),
    ("d", "a b c"),
    ("", "b"),
];

#[test]
fn filters_count_by_name_and_shift_nothing() {
    let (pairs, report) = encode(&LINES, CorpusFilters::default(), &[], 1);
    assert_eq!(report, CorpusReport { lines: 9, kept: 7, blank: 2, ..CorpusReport::default() });
    assert_eq!(pairs.len(), 7);
    let filters =
        CorpusFilters { max_length: Some(4), max_ratio: Some(2.0), duplicates: true, identical: true };
    let (pairs, report) = encode(&LINES, filters, &[], 1);
    let expected =
        CorpusReport { lines: 9, kept: 3, blank: 2, identical: 1, duplicates: 1, too_long: 1, unbalanced: 1 };
    assert_eq!(report, expected);
    let ids: Vec<_> = pairs.into_iter().map(|pair| (pair.source, pair.target)).collect();
    let (a, b, c, d) = (4, 5, 6, 7);
    // The source has two tags before its words.
    assert_eq!(
        ids,
        [(vec![a + 2, b + 2], vec![c, d]), (vec![a + 2, b + 2], vec![c]), (vec![c + 2, d + 2], vec![a, b])]
    );
}

#[test]
fn tags_come_first_and_do_not_count_as_length() {
    let filters = CorpusFilters { max_length: Some(2), max_ratio: Some(1.0), ..CorpusFilters::default() };
    let (pairs, report) = encode(&LINES, filters, &["<BT>", "<2fr>"], 1);
    assert_eq!((report.kept, report.too_long, report.unbalanced), (4, 2, 1));
    assert_eq!((pairs[0].source.as_slice(), pairs[0].target.as_slice()), (&[5, 4, 6, 7][..], &[6, 7][..]));
}

#[test]
fn duplicates_are_found_across_corpora() {
    let pipeline = Pipeline::build(Normalizer::None, Tokenizer::Word, ["a b"], None, 1);
    let filters = CorpusFilters { duplicates: true, ..CorpusFilters::default() };
    let mut encoder = CorpusEncoder::new(&pipeline, &pipeline, filters, 1);
    let mut encode = |pairs: &[(&str, &str)]| {
        let lines = pairs.iter().map(|&(a, b)| Ok((a.to_owned(), b.to_owned()))).collect::<Vec<_>>();
        encoder.encode::<_, TextError>(lines, &[], |_, _| Ok(())).unwrap()
    };
    assert_eq!(encode(&[("a", "b"), ("b", "a")]).duplicates, 0);
    let report = encode(&[("a", "a"), ("b", "a"), ("a", "b"), ("a b", "")]);
    assert_eq!((report.duplicates, report.kept, report.blank), (2, 1, 1));
}

#[test]
fn threads_change_nothing_and_errors_come_through() {
    let words = ["low", "lower", "newest", "wide", "x y"];
    let line = |n: usize| format!("{} {} {}", words[n % 5], words[n * n % 5], words[n / 7 % 5]);
    let lines: Vec<_> = (0..70_000).map(|n| (line(n), line(n + 3))).collect();
    let text = lines.iter().take(500).flat_map(|(source, target)| [source, target]);
    let bpe = Bpe::learn(text.clone().map(String::as_str), 20, 2);
    let pipeline = Pipeline::build(Normalizer::None, Tokenizer::Bpe(bpe), text, None, 1);
    let run = |threads| {
        let mut encoder = CorpusEncoder::new(&pipeline, &pipeline, CorpusFilters::default(), threads);
        let mut pairs = Vec::new();
        let keep = |pair, line| {
            pairs.push(pair);
            assert_eq!(line, pairs.len());
            Ok::<_, TextError>(())
        };
        encoder.encode(lines.iter().cloned().map(Ok), &[], keep).unwrap();
        pairs
    };
    let one = run(1);
    assert_eq!(one[69_999].source, pipeline.encode(&lines[69_999].0));
    assert!(one == run(3));

    let mut encoder = CorpusEncoder::new(&pipeline, &pipeline, CorpusFilters::default(), 2);
    let tags = ["<2fr>".to_owned()];
    let error =
        encoder.encode::<_, TextError>(lines.iter().cloned().map(Ok), &tags, |_, _| Ok(())).unwrap_err();
    assert!(error.to_string().contains("tag `<2fr>` is not one of the model's"), "{error}");
    let bad = TextError::InvalidUtf8 { file: "f".to_owned(), line: 40_000 };
    let lines = lines.iter().take(39_999).cloned().map(Ok).chain([Err(bad)]);
    let error = encoder.encode::<_, TextError>(lines, &[], |_, _| Ok(())).unwrap_err();
    assert!(error.to_string().starts_with("f:40000: not valid UTF-8"), "{error}");
}
