//! SentencePiece against stored output of the package (`tests/goldens/make_sentencepiece.py`), and what must hold for any
//! text and any file.

#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::io::Read;
use std::path::Path;

use common::data;
use proptest::prelude::*;
use regard_text::special_tokens::{SPECIAL_TOKENS, UNK};
use regard_text::{
    Lines, Normalizer, PieceKind, Pipeline, SampleOptions, SentencePiece, SentencePieceAlgorithm,
    SentencePieceConfig, SentencePieceNormalization, TextError, Tokenizer,
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Goldens {
    lines: Vec<String>,
    models: Vec<ModelCases>,
}

#[derive(Deserialize)]
struct ModelCases {
    model: String,
    large_rules: bool,
    nbest: usize,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    ids: Vec<u32>,
    begin: Vec<usize>,
    end: Vec<usize>,
    decoded: String,
    joined: String,
    nbest: Vec<StoredPath>,
}

#[derive(Deserialize)]
struct StoredPath {
    ids: Vec<u32>,
    score: f32,
}

fn stored(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sentencepiece").join(name);
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(fs::File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes
}

/// A stored model; the rules of `nmt_nfkc` are a file of their own, which protocol buffers let one append.
fn model(name: &str, large_rules: bool) -> SentencePiece {
    let mut bytes = stored(&format!("{name}.model.gz"));
    if large_rules {
        bytes.extend(stored("nmt_nfkc.part.gz"));
    }
    SentencePiece::from_bytes(bytes, name).unwrap()
}

#[test]
fn as_the_package_does() {
    let goldens: Goldens = serde_json::from_slice(&stored("cases.json.gz")).unwrap();
    assert_eq!(goldens.models.len(), 8);
    for ModelCases { model: name, large_rules, nbest, cases } in &goldens.models {
        let model = model(name, *large_rules);
        assert_eq!(cases.len(), goldens.lines.len());
        for (line, case) in goldens.lines.iter().zip(cases) {
            let place = format!("{name}: {line:?}");
            let tokens = model.segment(line);
            assert_eq!(model.encode(line), case.ids, "{place}");
            assert_eq!(tokens.iter().map(|token| token.id).collect::<Vec<_>>(), case.ids, "{place}");
            let begin: Vec<usize> = tokens.iter().map(|token| token.range.start).collect();
            let end: Vec<usize> = tokens.iter().map(|token| token.range.end).collect();
            assert_eq!((&begin, &end), (&case.begin, &case.end), "{place}");
            assert_eq!(model.decode(&case.ids), case.decoded, "{place}");
            let pieces: Vec<&str> = tokens.iter().map(|token| token.piece.as_str()).collect();
            assert_eq!(model.join(&pieces), case.joined, "{place}");
            if !case.nbest.is_empty() {
                assert_nbest(&model, line, *nbest, &case.nbest);
            }
        }
    }
}

fn assert_nbest(model: &SentencePiece, line: &str, count: usize, expected: &[StoredPath]) {
    let paths = model.nbest(line, count).unwrap();
    assert_eq!(paths.len(), expected.len(), "{line:?}");
    for (path, expected) in paths.iter().zip(expected) {
        assert_eq!(path.tokens.iter().map(|token| token.id).collect::<Vec<_>>(), expected.ids, "{line:?}");
        let room = 1e-5 * expected.score.abs().max(1.0);
        assert!((path.score - expected.score).abs() <= room, "{line:?}: {} {}", path.score, expected.score);
    }
}

#[test]
fn only_unigram_has_several_segmentations() {
    assert!(matches!(model("bpe", true).nbest("a", 2), Err(TextError::NoNbest)));
}

#[test]
fn kinds_and_names() {
    let model = model("unigram_bytes", false);
    assert_eq!((model.piece(0), model.kind(0)), (Some("<unk>"), Some(PieceKind::Unknown)));
    assert_eq!((model.piece(1), model.kind(1)), (Some("<s>"), Some(PieceKind::Control)));
    assert_eq!((model.id("<sym>"), model.kind(3)), (Some(3), Some(PieceKind::UserDefined)));
    assert_eq!((model.id("<0x00>"), model.kind(6)), (Some(6), Some(PieceKind::Byte)));
    assert_eq!((model.piece(model.len() as u32), model.id("no piece")), (None, None));
    assert!(model.score(model.id("▁").unwrap()).unwrap() < 0.0);
}

#[test]
fn broken_files_are_refused_by_name() {
    let refused = |bytes: Vec<u8>| SentencePiece::from_bytes(bytes, "x.model").unwrap_err().to_string();
    let whole = stored("unigram_bytes.model.gz");
    for bytes in [Vec::new(), whole[..whole.len() / 2].to_vec(), b"#version: 0.2\na b\n".to_vec()] {
        let message = refused(bytes);
        assert!(message.starts_with("x.model: cannot be used as a SentencePiece model: "), "{message}");
    }
    // A second unknown piece, a doubled piece, an empty one, one without a finite score.
    let with = |piece: &[u8]| [whole.as_slice(), &[0x0a, piece.len() as u8], piece].concat();
    assert!(refused(with(b"\x0a\x01z\x18\x02")).contains("several pieces for what is unknown"));
    assert!(refused(with("\x0a\x03▁".as_bytes())).contains("`▁` is there twice"));
    assert!(refused(with(b"\x0a\x00")).contains("is empty"));
    assert!(refused(with(b"\x0a\x01z\x15\x00\x00\xc0\x7f")).contains("has the score NaN"));
    assert!(refused(with(b"\x0a\x03\0az")).contains("holds a zero byte"));
    assert!(refused(with(b"\x0a\x01z\x18\x06")).contains("is marked as a byte and is none"));
    // Rules whose trie is longer than the file.
    let rules = [whole.as_slice(), b"\x1a\x07\x12\x05\xff\xff\xff\x7f\0"].concat();
    assert!(refused(rules).contains("normalisation rules are cut or damaged"));
    let missing = SentencePiece::read("no such file.model").unwrap_err();
    assert!(matches!(missing, TextError::Read { .. }), "{missing}");
}

#[test]
fn a_model_directory_brings_it_back() {
    let model = model("unigram_bytes", false);
    let pipeline = Pipeline::from_model(Normalizer::None, Tokenizer::SentencePiece(model.clone())).unwrap();
    // The control and unknown pieces of the file are not in the vocabulary, its bytes are.
    assert_eq!(pipeline.vocabulary.len(), SPECIAL_TOKENS.len() + model.len() - 3);
    let dir = tempfile::tempdir().unwrap();
    let files = pipeline.save(dir.path(), "source").unwrap();
    assert_eq!(files, ["source.tokenizer.json", "source.vocab.txt", "source.spm"]);
    assert_eq!(fs::read(dir.path().join("source.spm")).unwrap(), stored("unigram_bytes.model.gz"));
    let loaded = Pipeline::load(dir.path(), "source").unwrap();
    for line in ["A dog </s> <pad> <unk> <0x41> ▁ runs.", "☃ <sym>", "日本語", "nul \0 byte"] {
        let ids = loaded.encode(line);
        assert_eq!(ids, pipeline.encode(line));
        assert!(ids.iter().all(|&id| id as usize >= SPECIAL_TOKENS.len()), "{line}");
        // A `▁` that is typed is the mark of a space, in the package too.
        let written = model.normalize(line).replace('▁', " ");
        assert_eq!(loaded.detokenize(&loaded.tokens_of(&ids)), written.trim_start());
    }
    assert!(loaded.encode(" \u{2028}").is_empty());
    // `<0x41>` that was typed is text, not the byte.
    let byte = loaded.vocabulary.id("<0x41>").unwrap();
    assert!(!loaded.encode("<0x41>").contains(&byte));
}

#[test]
fn without_bytes_the_unknown_is_unknown() {
    let model = model("bpe", true);
    let pipeline = Pipeline::from_model(Normalizer::None, Tokenizer::SentencePiece(model)).unwrap();
    let ids = pipeline.encode("a ☃☃ </s>");
    assert!(ids.contains(&UNK));
    assert!(ids.iter().all(|&id| id == UNK || id as usize >= SPECIAL_TOKENS.len()));
}

const TEXT: [&str; 6] = [
    "the black cat sat on the mat near the black hat",
    "the cat that sat there ran to the other cats",
    "what the hat has that the cat has not",
    "a cat and a hat and another mat",
    "that mat, that hat, that cat.",
    "when will the rain stop? the rain will stop when it stops.",
];

fn config(algorithm: SentencePieceAlgorithm, size: usize) -> SentencePieceConfig {
    SentencePieceConfig {
        algorithm,
        vocabulary_size: size,
        character_coverage: 1.0,
        ..SentencePieceConfig::default()
    }
}

fn train(config: &SentencePieceConfig, threads: usize) -> SentencePiece {
    SentencePiece::train(TEXT, config, threads, &mut |_| {}).unwrap()
}

#[test]
fn training_is_the_same_for_any_threads_and_order() {
    for (algorithm, size) in [(SentencePieceAlgorithm::Unigram, 45), (SentencePieceAlgorithm::Bpe, 60)] {
        let dir = tempfile::tempdir().unwrap();
        let written = |model: SentencePiece| {
            let path = dir.path().join("m.model");
            model.write(&path).unwrap();
            fs::read(path).unwrap()
        };
        let config = config(algorithm, size);
        let first = written(train(&config, 1));
        assert_eq!(written(train(&config, 3)), first);
        let reversed = TEXT.iter().rev();
        assert_eq!(written(SentencePiece::train(reversed, &config, 2, &mut |_| {}).unwrap()), first);
        let model = SentencePiece::from_bytes(first, "m").unwrap();
        assert_eq!(model.len(), size);
        for line in TEXT {
            assert_eq!(model.decode(&model.encode(line)), line);
            assert!(model.encode(line).len() < line.len());
        }
    }
}

#[test]
fn what_training_refuses() {
    let refused = |config: &SentencePieceConfig| {
        SentencePiece::train(TEXT, config, 1, &mut |_| {}).unwrap_err().to_string()
    };
    let unigram = SentencePieceAlgorithm::Unigram;
    assert!(refused(&config(unigram, 10)).contains("a vocabulary of 10 is too small"));
    assert!(
        refused(&config(SentencePieceAlgorithm::Bpe, 9000))
            .contains("is too large for this text: choose at most")
    );
    let coverage = SentencePieceConfig { character_coverage: f64::NAN, ..config(unigram, 60) };
    assert!(refused(&coverage).contains("a character coverage of NaN"));
    let symbols = |symbols: &[&str]| SentencePieceConfig {
        user_defined_symbols: symbols.iter().map(ToString::to_string).collect(),
        ..config(unigram, 60)
    };
    assert!(refused(&symbols(&["x", "x"])).contains("`x` is there already"));
    assert!(refused(&symbols(&["<s>"])).contains("`<s>` is there already"));
    assert!(refused(&symbols(&["a\0"])).contains("a zero byte"));
    // The size that a message names is possible.
    let message = refused(&config(unigram, 9000));
    let size: usize = message.rsplit(' ').next().unwrap().parse().unwrap();
    assert_eq!(train(&config(unigram, size), 1).len(), size);
}

#[test]
fn symbols_of_the_user_and_progress() {
    let config = SentencePieceConfig {
        user_defined_symbols: vec!["cat".to_owned(), "<sep>".to_owned()],
        byte_fallback: true,
        normalization: SentencePieceNormalization::Identity,
        ..config(SentencePieceAlgorithm::Unigram, 300)
    };
    let mut seen = Vec::new();
    let model = SentencePiece::train(TEXT, &config, 2, &mut |progress| seen.push(progress)).unwrap();
    assert!(seen.iter().all(|progress| progress.goal == 300 - 3 - 2 - 256) && !seen.is_empty());
    let pieces: Vec<String> = model.segment("cats<sep>cat").into_iter().map(|token| token.piece).collect();
    assert_eq!(pieces, ["▁", "cat", "s", "<sep>", "cat"]);
    assert_eq!((model.id("cat"), model.id("<sep>"), model.id("<0x00>")), (Some(3), Some(4), Some(5)));
}

/// Within 4.5 standard deviations of the expected count.
fn is_plausible(count: usize, probability: f64, draws: usize) -> bool {
    let expected = probability * draws as f64;
    (count as f64 - expected).abs() < 4.5 * (expected * (1.0 - probability)).sqrt()
}

#[test]
fn samples_have_their_probabilities() {
    let model = model("unigram_rules", false);
    let (line, alpha, draws) = ("the xyz", 0.5, 20_000);
    let all = model.nbest(line, 1024).unwrap();
    let drawn = |options| -> Vec<String> {
        (0..draws as u64).map(|key| format!("{:?}", model.sample(line, options, key))).collect()
    };
    for count in [1024, 3] {
        let options =
            if count == 3 { SampleOptions::Best { count, alpha } } else { SampleOptions::All { alpha } };
        let drawn = drawn(options);
        let paths = &all[..count.min(all.len())];
        let total: f64 = paths.iter().map(|path| f64::from(alpha * path.score).exp()).sum();
        let mut seen = 0;
        for path in paths {
            let probability = f64::from(alpha * path.score).exp() / total;
            let name = format!("{:?}", path.tokens);
            let found = drawn.iter().filter(|&other| *other == name).count();
            assert!(is_plausible(found, probability, draws), "{name}: {found}, {probability}");
            seen += found;
        }
        assert_eq!(seen, draws);
    }
    let best = model.segment(line);
    assert_eq!(model.sample(line, SampleOptions::Best { count: 1, alpha }, 7), best);
    assert_eq!(model.sample(line, SampleOptions::Dropout(0.5), 7), best);
    assert!(model.sample("", SampleOptions::All { alpha }, 7).is_empty());
}

#[test]
fn dropout_leaves_merges_out() {
    let model = train(&config(SentencePieceAlgorithm::Bpe, 60), 1);
    // A piece that is one merge.
    let is_one_merge = |piece: &&str| piece.starts_with('▁') && piece.chars().count() == 2;
    let short = (0..60).filter_map(|id| model.piece(id)).find(is_one_merge).unwrap().replace('▁', "");
    assert_eq!((model.segment(&short).len(), model.segment("the").len()), (1, 1));
    let draws = 9000;
    let whole = |line: &str, probability: f64| {
        let drawn = |&key: &u64| model.sample(line, SampleOptions::Dropout(probability), key).len() == 1;
        (0..draws as u64).filter(drawn).count()
    };
    assert_eq!((whole("the", 0.0), whole("the", 1.0)), (draws, 0));
    assert!(is_plausible(whole(&short, 0.3), 0.7, draws));
}

#[test]
fn close_to_the_package_in_size() {
    let Some(data) = data("close_to_the_package_in_size") else { return };
    let lines: Vec<String> =
        Lines::open(data.join("multi30k/raw/val.en.gz")).unwrap().collect::<Result<_, _>>().unwrap();
    // Tokens of the package's models, trained with vocab_size=600, character_coverage=0.9995 on the same lines.
    for (algorithm, package) in
        [(SentencePieceAlgorithm::Unigram, UNIGRAM_TOKENS), (SentencePieceAlgorithm::Bpe, BPE_TOKENS)]
    {
        let config = SentencePieceConfig { character_coverage: 0.9995, ..config(algorithm, 600) };
        let model = SentencePiece::train(&lines, &config, 2, &mut |_| {}).unwrap();
        let tokens: usize = lines.iter().map(|line| model.encode(line).len()).sum();
        let ratio = tokens as f64 / f64::from(package);
        assert!((0.98..1.02).contains(&ratio), "{algorithm:?}: {tokens} tokens, the package {package}");
    }
}

const UNIGRAM_TOKENS: u32 = 21_180;
const BPE_TOKENS: u32 = 20_792;

proptest! {
    #[test]
    fn decoding_gives_the_normalised_text_back(text in "\\PC{0,40}|[a ▁<0x41>\u{0}\u{301}\r\t☃]{0,30}") {
        for name in ["unigram_bytes", "bpe_bytes"] {
            let model = model(name, false);
            let normalised = model.normalize(&text).replace('▁', " ");
            // A `▁` that is typed is the mark of a space, and decoding drops all in front.
            let expected = normalised.trim_start_matches(' ');
            prop_assert_eq!(model.decode(&model.encode(&text)), expected);
            let pieces: Vec<String> = model.segment(&text).into_iter().map(|token| token.piece).collect();
            prop_assert_eq!(model.join(&pieces), expected);
        }
    }

    #[test]
    fn offsets_cover_the_text_in_order(text in "\\PC{0,40}|[a ▁ﬁ\u{301}\u{1100}\u{1161}]{0,30}") {
        let tokens = model("unigram", true).segment(&text);
        let mut end = 0;
        for token in tokens {
            prop_assert!(token.range.start >= end || token.range.is_empty());
            prop_assert!(text.get(token.range.clone()).is_some());
            end = token.range.end;
        }
    }

    #[test]
    fn no_file_panics(
        name in prop::sample::select(vec!["unigram_rules", "bpe_unused", "unigram_bytes"]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = stored(&format!("{name}.model.gz"));
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(model) = SentencePiece::from_bytes(bytes, "changed") {
            for text in ["the xyz A\u{ad}a\u{301} 😀 foobar<sym>", "\0▁☃ aaaa"] {
                let ids = model.encode(text);
                let _ = (model.decode(&ids), model.segment(text), model.nbest(text, 20));
                let _ = model.sample(text, SampleOptions::All { alpha: 0.3 }, 1);
                if let Ok(pipeline) = Pipeline::from_model(Normalizer::None, Tokenizer::SentencePiece(model.clone())) {
                    prop_assert!(matches!(pipeline.tokenizer, Tokenizer::SentencePiece(_)));
                    let _ = pipeline.encode(text);
                }
            }
        }
    }
}
