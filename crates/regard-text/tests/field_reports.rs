//! Faults seen in the field, by number.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use regard_text::special_tokens::{EOS, UNK};
use regard_text::{
    Bpe, CorpusSource, Lines, Normalizer, ParallelText, Pipeline, TextError, Tokenizer, Vocabulary,
};
use tempfile::TempDir;

const P01: &str = "one\u{2028}two\nthree\u{c}four\nfive\u{85}six\nseven\reight\n";
const P01_LINES: [&str; 4] = ["one\u{2028}two", "three\u{c}four", "five\u{85}six", "seven\reight"];

struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

fn lines(path: &Path) -> Vec<String> {
    Lines::open(path).unwrap().collect::<Result<_, _>>().unwrap()
}

fn word_pipeline(lines: &[impl AsRef<str>]) -> Pipeline {
    Pipeline::build(Normalizer::None, Tokenizer::Word, lines, None, 1)
}

#[test]
fn p01_only_lf_ends_a_line() {
    let files = Files::new();
    assert_eq!(lines(&files.write("a", P01)), P01_LINES);
    assert_eq!(lines(&files.write("b", P01.trim_end())), P01_LINES);
    assert_eq!(lines(&files.write("c", "")), [""; 0]);
    assert_eq!(lines(&files.write("d", "\n\n")), ["", ""]);

    // The same in vocabulary and merge files.
    let vocabulary = word_pipeline(&P01_LINES).vocabulary;
    let path = files.write("vocab", "");
    vocabulary.write(&path).unwrap();
    assert_eq!(vocabulary.len(), 4 + 4);
    assert_eq!(Vocabulary::read(&path).unwrap(), vocabulary);
    let bpe = Bpe::learn(P01_LINES, 100, 1);
    bpe.write(&path).unwrap();
    assert_eq!(Bpe::read(&path).unwrap().merges(), bpe.merges());
    for line in P01_LINES {
        assert_eq!(bpe.segment(line), [line]);
    }
}

#[test]
fn p01_compressed_files_read_the_same() {
    let files = Files::new();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(P01.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = zstd::encode_all(P01.as_bytes(), 0).unwrap();
    assert_eq!(lines(&files.write("a.gz", &gzip)), P01_LINES);
    assert_eq!(lines(&files.write("a.zst", &zstd)), P01_LINES);
    // By content, not by name; and two members in one file are one text.
    assert_eq!(
        lines(&files.write("b", [gzip.clone(), gzip.clone()].concat())),
        [P01_LINES, P01_LINES].concat()
    );
    assert_eq!(lines(&files.write("c", [zstd.clone(), zstd].concat())), [P01_LINES, P01_LINES].concat());
    // Damage is an error with the file's name, not a shorter text.
    let cut = files.write("cut.gz", &gzip[..gzip.len() - 9]);
    let error = Lines::open(&cut).unwrap().collect::<Result<Vec<_>, _>>().unwrap_err();
    assert!(error.to_string().contains("cut.gz"), "{error}");
    let missing = Lines::open(files.0.path().join("missing")).err().unwrap();
    assert!(matches!(missing, TextError::Read { line: 0, .. }));
}

#[test]
fn p02_blank_lines_keep_their_place() {
    let files = Files::new();
    let source = files.write("source", "\nhello\n   \n\t\n\u{a0}\nworld\nonly here\n");
    let target = files.write("target", "a\nbonjour\nb\nc\nd\nmonde\n\n");
    assert_eq!(lines(&source), ["", "hello", "   ", "\t", "\u{a0}", "world", "only here"]);
    let text = ParallelText::read(&CorpusSource::files(&source, &target)).unwrap();
    let pairs: Vec<_> = text.pairs.iter().map(|p| (p.source.as_str(), p.target.as_str(), p.line)).collect();
    assert_eq!(pairs, [("hello", "bonjour", 2), ("world", "monde", 6)]);
    assert_eq!((text.report.lines, text.report.kept, text.report.blank), (7, 2, 5));

    for tokenizer in [Tokenizer::Word, Tokenizer::Character, Tokenizer::Bpe(Bpe::learn(["hello"], 9, 1))] {
        let pipeline = Pipeline::build(Normalizer::None, tokenizer, ["hello \t\u{a0}"], None, 1);
        for blank in ["", "   ", "\t", "\u{a0}"] {
            assert!(pipeline.encode(blank).is_empty());
        }
        assert_eq!(pipeline.detokenize(&[""; 0]), "");
    }

    let blanks = files.write("blanks", "\n \n");
    let error = ParallelText::read(&CorpusSource::files(&blanks, &blanks)).unwrap_err();
    assert!(
        error.to_string().contains("blanks: no pair with text on both sides (2 lines, 2 with a blank side)")
    );
}

#[test]
fn p12_doubled_and_reserved_entries() {
    let files = Files::new();
    let good = "<pad>\n<unk>\n<s>\n</s>\ncat\ndog\n";
    let cases = [
        (
            "<unk>\n<s>\n</s>\ncat\ndog\ncat\n</s>\n",
            ":1: entry `<unk>` stands where the reserved `<pad>` must stand",
        ),
        (&format!("{good}cat\n"), ":7: entry `cat` is doubled: line 5 has it already"),
        (&format!("{good}</s>\n"), ":7: entry `</s>` is reserved"),
        (&format!("{good}\n"), ":7: entry `` is empty"),
        ("<pad>\n<unk>\n<s>\n", ":4: entry `</s>` is missing"),
        ("", ":1: entry `` stands where the reserved `<pad>` must stand"),
    ];
    for (text, message) in cases {
        let error = Vocabulary::read(files.write("vocab", text)).unwrap_err().to_string();
        assert!(error.contains("vocab") && error.contains(message), "{error}");
    }
    let path = files.write("vocab", good);
    let vocabulary = Vocabulary::read(&path).unwrap();
    assert_eq!((vocabulary.len(), vocabulary.id("</s>"), vocabulary.id("dog")), (6, Some(EOS), Some(5)));
    vocabulary.write(&path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), good);
    assert!(Vocabulary::from_tokens(vec!["cat".into()]).unwrap_err().to_string().contains("vocabulary:1"));

    // Text that holds the reserved names does not add them a second time.
    let counted =
        Vocabulary::from_counts([("</s>", 9), ("cat", 1), ("<pad>", 3), ("cat", 2), ("dog", 2)], None, 1);
    assert_eq!(counted, vocabulary);
    let bounded = Vocabulary::from_counts([("a", 1), ("b", 2)], Some(5), 1);
    assert_eq!((bounded.len(), bounded.token(4)), (5, Some("b")));
    assert_eq!(Vocabulary::from_counts([("a", 1)], Some(0), 1).len(), 4);
}

#[test]
fn p13_strange_but_legal_tokens() {
    let files = Files::new();
    let text = "a: b# \"c\" \\d e\u{a0}f g\u{3000}h \u{200b}";
    let pipeline = word_pipeline(&[text]);
    let tokens = ["a:", "b#", "\"c\"", "\\d", "e\u{a0}f", "g\u{3000}h", "\u{200b}"];
    assert_eq!(pipeline.tokenize(text), tokens);
    let path = files.write("vocab", "");
    pipeline.vocabulary.write(&path).unwrap();
    let bytes = fs::read(&path).unwrap();
    let again = Vocabulary::read(&path).unwrap();
    for token in tokens {
        assert!(again.id(token).is_some());
        assert_eq!(again.id(token), pipeline.vocabulary.id(token));
    }
    again.write(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn p15_ties_are_decided_by_bytes() {
    let corpus = ["b a", "d c", "b a", "d c"];
    let mut reversed = corpus;
    reversed.reverse();
    for _ in 0..20 {
        for lines in [corpus, reversed] {
            let build =
                |size| Pipeline::build(Normalizer::None, Tokenizer::Word, lines, Some(size), 1).vocabulary;
            assert_eq!(build(6).tokens().skip(4).collect::<Vec<_>>(), ["a", "b"]);
            assert_eq!(build(7).tokens().skip(4).collect::<Vec<_>>(), ["a", "b", "c"]);
            let bpe = Bpe::learn(lines.map(|line| line.replace(' ', "")), 1, 2);
            assert_eq!(bpe.merges(), [("d".to_owned(), "c</w>".to_owned())]);
        }
    }
}

#[test]
fn p16_windows_files() {
    let files = Files::new();
    let windows = lines(&files.write("windows", "\u{feff}hello world\r\nred \"sky\r\n"));
    let unix = lines(&files.write("unix", "hello world\nred \"sky\n"));
    assert_eq!(windows, unix);
    assert_eq!(unix, ["hello world", "red \"sky"]);
    assert_eq!(word_pipeline(&windows).vocabulary, word_pipeline(&unix).vocabulary);
    // Not at the start of the file, U+FEFF is text; and so is a CR that ends no line.
    assert_eq!(lines(&files.write("text", "a\n\u{feff}b\r\r\nc\r")), ["a", "\u{feff}b\r", "c\r"]);
}

#[test]
fn p16_unequal_counts_are_refused_with_both() {
    let files = Files::new();
    let (three, two) = (files.write("three", "a\nb\nc\n"), files.write("two", "x\ny\n"));
    for (source, target, message) in [
        (&three, &two, "three has 3 lines but"),
        (&two, &three, "two has 2 lines but"),
        (&two, &three, "three has 3;"),
    ] {
        let error = ParallelText::read(&CorpusSource::files(source, target)).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn p16_bad_utf8_is_refused_with_its_line() {
    let files = Files::new();
    let bad = files.write("bad", b"good\n\x00 is text\n\xff\xfe\nnever read\n");
    let mut lines = Lines::open(&bad).unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "good");
    assert_eq!(lines.next().unwrap().unwrap(), "\0 is text");
    let error = lines.next().unwrap().unwrap_err();
    assert!(matches!(error, TextError::InvalidUtf8 { line: 3, .. }), "{error}");
    assert!(lines.next().is_none());
    assert!(matches!(Vocabulary::read(&bad), Err(TextError::InvalidUtf8 { line: 3, .. })));
}

#[test]
fn p16_quotes_mean_nothing_in_tsv() {
    let files = Files::new();
    let path = files.write("pairs.tsv", "\"tall\tlang\nsmall\tklein\tnote\n\tblank\n");
    let text = ParallelText::read(&CorpusSource::tsv(&path)).unwrap();
    assert_eq!(text.sources().collect::<Vec<_>>(), ["\"tall", "small"]);
    assert_eq!(text.targets().collect::<Vec<_>>(), ["lang", "klein"]);
    assert_eq!(text.report.blank, 1);
    let third = CorpusSource::Tsv { path, source_column: 1, target_column: 2 };
    let error = ParallelText::read(&third).unwrap_err().to_string();
    assert!(error.contains("pairs.tsv:1: no column 2 (counted from 0): the line has 2"), "{error}");
}

/// Pieces map to words and words to the text, whatever stands between them.
#[test]
fn p18_pieces_know_their_words() {
    let merges = ["u n", "a b", "ab l", "abl e</w>"].map(|merge| {
        let (left, right) = merge.split_once(' ').unwrap();
        (left.to_owned(), right.to_owned())
    });
    let bpe = Tokenizer::Bpe(Bpe::from_merges(merges.to_vec()));
    let pipeline = Pipeline::build(Normalizer::None, bpe, [""], None, 1);
    for line in ["unable cats", "unable  cats", " unable  cats "] {
        let tokens = pipeline.tokenize_with_ranges(line);
        let texts: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
        assert_eq!(texts, ["un@@", "able", "c@@", "a@@", "t@@", "s"]);
        assert_eq!(tokens.iter().filter_map(|token| token.word).collect::<Vec<_>>(), [0, 0, 1, 1, 1, 1]);
        for (word, text) in ["unable", "cats"].into_iter().enumerate() {
            let pieces: Vec<_> = tokens.iter().filter(|token| token.word == Some(word)).collect();
            assert_eq!(&line[pieces[0].range.start..pieces[pieces.len() - 1].range.end], text);
        }
    }
}

#[test]
fn p23_normalisation_is_a_setting_and_nothing_is_dropped() {
    let inputs = ["ක්\u{200d}ෂ", "10\u{a0}km", "cafe\u{301}", "caf\u{e9}", "👩\u{200d}👩\u{200d}👧", "A.  B."];
    for tokenizer in [Tokenizer::Character, Tokenizer::Word, Tokenizer::Bpe(Bpe::learn(inputs, 50, 1))] {
        let characters = matches!(tokenizer, Tokenizer::Character);
        let pipeline = Pipeline::build(Normalizer::default(), tokenizer, inputs, None, 1);
        for input in inputs {
            let ids = pipeline.encode(input);
            assert!(!ids.contains(&UNK));
            // Only words forget how many spaces stood between them.
            let expected = if characters { input.to_owned() } else { input.replace("  ", " ") };
            assert_eq!(pipeline.detokenize(&pipeline.tokens_of(&ids)), expected);
        }
        assert_ne!(pipeline.encode("cafe\u{301}"), pipeline.encode("caf\u{e9}"));
        for normalizer in [Normalizer::Nfc, Normalizer::Nfkc] {
            let mut folded = pipeline.clone();
            folded.preparation = normalizer.into();
            assert_eq!(folded.encode("cafe\u{301}"), folded.encode("caf\u{e9}"));
        }
    }
}
