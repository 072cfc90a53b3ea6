//! What corpora in one file hold, in each form, and what is refused.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use regard_text::{CorpusFormat, CorpusSource, TextError};
use tempfile::TempDir;

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

type Pairs = Vec<(String, String)>;

fn read(source: &CorpusSource) -> Result<Pairs, TextError> {
    source.open()?.collect()
}

fn json_lines(path: PathBuf, source: &str, target: &str) -> CorpusSource {
    CorpusSource::JsonLines { path, source_field: source.to_owned(), target_field: target.to_owned() }
}

fn owned(pairs: &[(&str, &str)]) -> Pairs {
    pairs.iter().map(|&(source, target)| (source.to_owned(), target.to_owned())).collect()
}

#[test]
fn json_lines_by_field() {
    let files = Files::new();
    let text = r#"{"id": 1, "source": "a b", "target": "x", "scores": [1, {"a": null}]}
{"target": "\u00e9t\u00e9 \ud83d\udc69", "source": "caf\u0065\u0301"}
 {"source": null, "target": "y"} 

{"source": "", "target": "  "}
{"source": "two\nlines\r\nand \"quotes\"\tand a tab", "target": "nul \u0000 and \u2028"}"#;
    let path = files.write("a.jsonl", text);
    let expected = owned(&[
        ("a b", "x"),
        ("cafe\u{301}", "été 👩"),
        ("", "y"),
        ("", ""),
        ("", "  "),
        ("two lines and \"quotes\"\tand a tab", "nul \0 and \u{2028}"),
    ]);
    assert_eq!(read(&json_lines(path, "source", "target")).unwrap(), expected);
    // Compressed, from Windows, with a byte-order mark.
    let windows = format!("\u{feff}{}\r\n", text.replace('\n', "\r\n"));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(windows.as_bytes()).unwrap();
    let path = files.write("b", gzip.finish().unwrap());
    assert_eq!(read(&json_lines(path, "source", "target")).unwrap(), expected);
}

#[test]
fn json_lines_of_hugging_face() {
    let files = Files::new();
    let text = "{\"id\": \"0\", \"translation\": {\"en\": \"The cat\", \"fr\": \"Le chat\", \"de\": \"\"}}\n";
    let path = files.write("a.jsonl", text);
    let source = json_lines(path, "translation.fr", "translation.en");
    assert_eq!(read(&source).unwrap(), owned(&[("Le chat", "The cat")]));
}

#[test]
fn p16_a_wrong_json_line_is_refused_with_its_line() {
    let files = Files::new();
    let good = "{\"source\": \"a\", \"target\": \"b\"}\n";
    let cases: [(&[u8], &str); 9] = [
        (b"{\"source\": \"a\"}", ":2: no field `target`; what is there: source"),
        (b"{\"source\": 3, \"target\": \"b\"}", ":2: the field `source` is a number, and must be a string"),
        (b"{\"source\": [\"a\"], \"target\": \"b\"}", ":2: the field `source` is an array"),
        (b"[\"a\", \"b\"]", ":2: no field `source`: an array has no fields"),
        (b"null", ":2: no field `source`: null has no fields"),
        (b"a\tb", ":2: not a JSON object: expected value"),
        (b"{\"source\": \"a\", \"target\": \"b\"", ":2: not a JSON object: EOF"),
        (b"{\"source\": \"\\ud800\", \"target\": \"b\"}", ":2: not a JSON object: "),
        (b"{\"source\": \"\xff\xfe\", \"target\": \"b\"}", ":2: not valid UTF-8"),
    ];
    for (line, message) in cases {
        let path = files.write("bad.jsonl", [good.as_bytes(), line, b"\n", good.as_bytes()].concat());
        let mut pairs = json_lines(path, "source", "target").open().unwrap();
        assert!(pairs.next().unwrap().is_ok());
        let error = pairs.next().unwrap().unwrap_err().to_string();
        assert!(error.contains(&format!("bad.jsonl{message}")), "{error}");
        assert!(pairs.next().is_none());
    }
    let deep = files.write("deep.jsonl", "[".repeat(100_000));
    assert!(matches!(read(&json_lines(deep, "a", "b")), Err(TextError::BadRecord { line: 1, .. })));
}

#[test]
fn columns_of_tsv() {
    let files = Files::new();
    let path = files.write("a.tsv", "id1\tlang\t\"tall\nid2\tklein\tsmall\n");
    let source = CorpusSource::Tsv { path, source_column: 2, target_column: 1 };
    assert_eq!(read(&source).unwrap(), owned(&[("\"tall", "lang"), ("small", "klein")]));
}

#[test]
fn names_promise_a_form() {
    let cases = [
        ("a.tsv", CorpusFormat::Tsv),
        ("a.txt.gz", CorpusFormat::Tsv),
        ("jsonl", CorpusFormat::Tsv),
        ("a.JSONL", CorpusFormat::JsonLines),
        ("dir.jsonl/a", CorpusFormat::Tsv),
        ("a.ndjson.zst", CorpusFormat::JsonLines),
        ("a.parquet", CorpusFormat::Parquet),
    ];
    for (path, format) in cases {
        assert_eq!(CorpusFormat::of_path(path), format, "{path}");
    }
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_is_refused_with_what_to_do() {
    let source = CorpusSource::Parquet {
        path: "a.parquet".into(),
        source_field: "source".into(),
        target_field: "target".into(),
    };
    let error = read(&source).unwrap_err().to_string();
    assert!(error.contains("a.parquet: this program was built without Parquet"), "{error}");
    assert!(error.contains("--features parquet"), "{error}");
}

/// Files of pyarrow, see `tests/goldens/make_parquet.py`.
#[cfg(feature = "parquet")]
mod parquet {
    use std::path::Path;

    use super::*;

    fn parquet(path: PathBuf, source: &str, target: &str) -> CorpusSource {
        CorpusSource::Parquet { path, source_field: source.to_owned(), target_field: target.to_owned() }
    }

    fn golden(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parquet").join(name)
    }

    fn expected() -> Pairs {
        serde_json::from_str(&fs::read_to_string(golden("pairs.json")).unwrap()).unwrap()
    }

    #[test]
    fn files_of_python() {
        for name in ["snappy.parquet", "zstd.parquet", "gzip.parquet", "plain.parquet"] {
            let pairs = read(&parquet(golden(name), "source", "target")).unwrap();
            assert_eq!(pairs, expected(), "{name}");
        }
        let mut nested = expected();
        nested[4] = Default::default();
        let source = parquet(golden("nested.parquet"), "translation.en", "translation.fr");
        assert_eq!(read(&source).unwrap(), nested);
        let required = read(&parquet(golden("required.parquet"), "target", "source")).unwrap();
        assert_eq!(required, owned(&[("c", "a"), ("d", "b")]));
    }

    #[test]
    fn p16_what_cannot_be_text_is_refused() {
        let bad = |source: &str| read(&parquet(golden("bad.parquet"), source, "target")).unwrap_err();
        assert!(matches!(bad("source"), TextError::InvalidUtf8 { line: 2, .. }));
        let message = bad("translation.en").to_string();
        assert!(
            message.contains("no column `translation.en`; what is there: source, target, number"),
            "{message}"
        );
        assert!(bad("number").to_string().contains("`number` must hold one text a row"));
        assert!(bad("list.list.element").to_string().contains("must hold one text a row"));
    }

    #[test]
    fn damage_is_an_error() {
        let files = Files::new();
        let whole = fs::read(golden("gzip.parquet")).unwrap();
        for cut in [0, 3, 40, whole.len() / 2, whole.len() - 1] {
            let path = files.write("cut.parquet", &whole[..cut]);
            let error = read(&parquet(path, "source", "target")).unwrap_err().to_string();
            assert!(error.contains("cut.parquet: cannot be read as Parquet"), "{error}");
        }
        // A page that is damaged: text that is still text, or an error, and never the end of the program.
        for place in (4..whole.len() / 2).step_by(3) {
            let mut bytes = whole.clone();
            bytes[place] ^= 0x55;
            let _ = read(&parquet(files.write("damaged.parquet", &bytes), "source", "target"));
        }
        // A bit of every byte: among them are those on which the library panics.
        let whole = fs::read(golden("required.parquet")).unwrap();
        for place in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[place] ^= 4;
            if let Ok(pairs) = parquet(files.write("damaged.parquet", &bytes), "source", "target").open() {
                let _ = pairs.take(1000).find(Result::is_err);
            }
        }
    }
}
