//! Runs the program as its users do, on small models of the demonstration's language.
#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use regard::demo::grammar;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// Words stand between spaces; one layer of 24 units; every kind of dropout is left to the tests that want it.
const RECIPE: &str = r#"
seed = 3
[data]
source = "train.en"
target = "train.fr"
source_language = "en"
target_language = "fr"
[tokenizer]
kind = "word"
[model]
embedding = 16
encoder.hidden = 24
decoder.hidden = 24
decoder.readout_width = 24
attention.width = 24
dropout = 0.1
[training]
updates = 150
batch_sentences = 16
report_every = 10
checkpoint_every = 50
[training.schedule]
kind = "constant"
learning_rate = 0.01
"#;

/// SHA-256 in hexadecimal digits.
pub(crate) fn sha256(text: &str) -> String {
    Sha256::digest(text).iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

/// Changes the `config.json` of a model and makes its own digest agree, as someone might who means well.
pub(crate) fn edit_config(model: &str, edit: &dyn Fn(&mut Value)) {
    let path = format!("{model}/config.json");
    let mut config = json(&fs::read_to_string(&path).unwrap());
    edit(&mut config);
    config["config_sha256"] = "".into();
    config["config_sha256"] = sha256(&config.to_string()).into();
    fs::write(path, config.to_string()).unwrap();
}

/// A directory of a test's own.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// The path of a name in it.
    pub(crate) fn at(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.at(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    /// `train.en`, `train.fr` with 300 pairs and a recipe for them, whose path this is.
    pub(crate) fn recipe(&self) -> String {
        let [source, target] = corpus(1, 300, (3, 10));
        self.write("train.en", source);
        self.write("train.fr", target);
        self.write("recipe.toml", RECIPE)
    }

    /// A copy of a model, to be damaged; its checkpoints are left out.
    pub(crate) fn copy_of(&self, model: &str, name: &str) -> String {
        let copy = self.at(name);
        fs::create_dir(&copy).unwrap();
        for entry in fs::read_dir(model).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                fs::copy(&path, Path::new(&copy).join(path.file_name().unwrap())).unwrap();
            }
        }
        copy
    }
}

/// `count` sentences of the demonstration's language, one a line: the source and the target.
pub(crate) fn corpus(seed: u64, count: u64, words: (usize, usize)) -> [String; 2] {
    let sentences = (0..count).map(|index| grammar::generate(seed, index, words.0, words.1));
    sentences.fold([String::new(), String::new()], |[source, target], sentence| {
        [source + &sentence.source.join(" ") + "\n", target + &sentence.target.join(" ") + "\n"]
    })
}

/// How a call ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl Ran {
    /// What a call that ended well has printed.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.status, Some(0), "{}", self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        String::from_utf8(self.out).unwrap()
    }

    /// The message of a call that must end with this status: one line, no panic.
    #[track_caller]
    pub(crate) fn fails(self, status: i32) -> String {
        assert_eq!(self.status, Some(status), "{}", self.err);
        assert!(self.err.starts_with("regard: ") && self.err.ends_with('\n'), "{:?}", self.err);
        assert_eq!(self.err.lines().count(), 1, "{}", self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self.err
    }

    /// The same, and the message holds all of these.
    #[track_caller]
    pub(crate) fn fails_with(self, status: i32, parts: &[&str]) {
        let message = self.fails(status);
        for part in parts {
            assert!(message.contains(part), "\"{part}\" is not in: {message}");
        }
    }
}

pub(crate) fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_regard"));
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs a command to its end with this on its standard input.
pub(crate) fn finish(mut command: Command, input: &[u8]) -> Ran {
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        // A program that ends early reads no more of it; that is its right.
        scope.spawn(move || stdin.write_all(input));
        child.wait_with_output().unwrap()
    });
    Ran { status: output.status.code(), out: output.stdout, err: String::from_utf8(output.stderr).unwrap() }
}

pub(crate) fn regard(args: &[&str]) -> Ran {
    finish(program(args), b"")
}

pub(crate) fn regard_reading(args: &[&str], input: impl AsRef<[u8]>) -> Ran {
    finish(program(args), input.as_ref())
}

/// `regard train` on one thread with changes to the recipe; what it said.
pub(crate) fn train(recipe: &str, out: &str, changes: &[&str]) -> String {
    let mut args = vec!["train", recipe, "--out", out, "--threads", "1"];
    args.extend(changes.iter().flat_map(|change| ["--set", change]));
    let ran = regard(&args);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    ran.err
}

/// What makes [`RECIPE`] that of a Transformer: its table of the model, with a table of positions that sentences overrun.
const TRANSFORMER: &str = r#"
[model]
preset = "transformer_tiny"
d_model = 24
d_ff = 48
positions = "learned"
max_positions = 16
norm_position = "pre"
encoder.layers = 2
encoder.heads = 2
decoder.layers = 2
decoder.heads = 2
dropout = 0.1
"#;

/// A trained Transformer, the same for all tests of a file.
pub(crate) fn transformer_model() -> &'static str {
    static MODEL: OnceLock<String> = OnceLock::new();
    MODEL.get_or_init(|| {
        let place = Place::new();
        place.recipe();
        let (head, rest) = RECIPE.split_once("[model]").unwrap();
        let (_, training) = rest.split_once("[training]").unwrap();
        let recipe = place.write("recipe.toml", format!("{head}{TRANSFORMER}[training]{training}"));
        let out = lasting();
        train(&recipe, &out, &["training.schedule.learning_rate=0.005"]);
        out
    })
}

/// A trained model with attention, the same for all tests of a file.
pub(crate) fn attention_model() -> &'static str {
    static MODEL: OnceLock<String> = OnceLock::new();
    MODEL.get_or_init(|| trained(&["model.preset=bahdanau"]))
}

/// One whose attention weighs all positions alike, always.
pub(crate) fn uniform_model() -> &'static str {
    static MODEL: OnceLock<String> = OnceLock::new();
    MODEL.get_or_init(|| trained(&["model.preset=bahdanau", "training.attention=uniform"]))
}

/// A trained recurrent decoder on a Transformer's encoder.
pub(crate) fn reader_model() -> &'static str {
    static MODEL: OnceLock<String> = OnceLock::new();
    MODEL.get_or_init(|| {
        trained(&[
            "model.preset=transformer_reader",
            "model.reader={layers=2, heads=2, d_ff=32, positions=\"learned\", max_positions=16}",
        ])
    })
}

/// One that hands the source over as one vector, hardly trained.
pub(crate) fn fixed_vector_model() -> &'static str {
    static MODEL: OnceLock<String> = OnceLock::new();
    MODEL.get_or_init(|| trained(&["model.preset=cho", "training.updates=5"]))
}

fn trained(changes: &[&str]) -> String {
    let out = lasting();
    train(&Place::new().recipe(), &out, changes);
    out
}

/// Where a model lies that all tests of a file use.
fn lasting() -> String {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap().keep();
    directory.join("model").to_str().unwrap().to_owned()
}

/// The standard output of `regard translate` on one thread.
pub(crate) fn translate(model: &str, options: &[&str], input: impl AsRef<[u8]>) -> String {
    let args = [&["translate", model, "--threads", "1"], options].concat();
    regard_reading(&args, input).ok()
}

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// One JSON document a line.
pub(crate) fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(json).collect()
}

pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

pub(crate) fn strings(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

#[track_caller]
pub(crate) fn assert_close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
}

/// All files of a run by their path, without TensorBoard's, the recipe, and the time fields of the log.
pub(crate) fn tree(directory: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let root = Path::new(directory);
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let mut bytes = fs::read(&path).unwrap();
            if path.ends_with("training_log.jsonl") {
                bytes = without_time(&String::from_utf8(bytes).unwrap()).into_bytes();
            }
            found.insert(path.strip_prefix(root).unwrap().to_owned(), bytes);
        }
    }
    // The recipe says where the text lies, too.
    found.retain(|path, _| !path.starts_with("tensorboard") && !path.ends_with("recipe.toml"));
    found
}

fn without_time(log: &str) -> String {
    let line = |mut record: Value| {
        for field in ["seconds", "tokens_per_s"] {
            assert!(record.as_object_mut().unwrap().remove(field).is_some());
        }
        record.to_string() + "\n"
    };
    json_lines(log).into_iter().map(line).collect()
}

/// Runs are compared file by file, so that a difference has a name.
#[track_caller]
pub(crate) fn assert_same_run(a: &str, b: &str) {
    let (a, b) = (tree(a), tree(b));
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    for (path, bytes) in &a {
        assert!(bytes == &b[path], "{} differs", path.display());
    }
}
