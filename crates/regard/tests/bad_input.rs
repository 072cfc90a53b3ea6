//! Bad input: one clear error that says what and where, 2 for a wrong call and 1 for bad data, never a panic; and what was
//! there before is still there.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{
    Place, assert_same_run, attention_model, edit_config, fixed_vector_model, regard, regard_reading, train,
    translate, tree,
};

#[test]
fn files_that_are_not_there_are_named() {
    let place = Place::new();
    let recipe = place.recipe();
    let model = attention_model();
    let (here, gone) = (place.write("here", "a\n"), place.at("gone"));
    let out = place.at("out");
    let calls: [&[&str]; 13] = [
        &["translate", &gone],
        &["translate", model, "-i", &gone],
        &["score", model, "--src", &gone, "--tgt", &here],
        &["score", model, "--src", &here, "--tgt", &gone],
        &["evaluate", &gone, "--ref", &here],
        &["evaluate", &here, "--ref", &gone],
        &["evaluate", &here, "--ref", &here, "--src", &gone, "--by-length"],
        &["look", &gone, "a"],
        &["info", &gone],
        &["average", &gone, "--out", &out],
        &["train", &gone, "--out", &out],
        &["tokenizer", "train", &gone, "-o", &out],
        &["tokenizer", "encode", "--codes", &gone, "-i", &here],
    ];
    for args in calls {
        regard(args).fails_with(1, &[&gone, "No such file or directory"]);
    }
    regard(&["info", &here]).fails_with(1, &[&here, "is not a model directory", "`regard train` makes one"]);
    let nowhere = place.at("nowhere/file");
    regard(&["translate", model, "-i", &here, "-o", &nowhere])
        .fails_with(1, &[&nowhere, "cannot be written"]);
    regard(&["look", model, "the cat", "--png", &nowhere]).fails_with(1, &[&nowhere, "cannot be written"]);
    for key in ["data.source", "data.target", "data.valid_source"] {
        let gone = format!("{key}=gone");
        let args = [
            "train",
            &recipe,
            "--out",
            &out,
            "--quiet",
            "--set",
            &gone,
            "--set",
            "data.valid_target=train.fr",
        ];
        let args = if key == "data.valid_source" { args.as_slice() } else { &args[..7] };
        regard(args).fails_with(1, &[&place.at("gone"), "No such file or directory"]);
    }
    assert!(!fs::exists(&out).unwrap());
}

#[test]
fn unequal_line_counts_are_refused_with_both() {
    let place = Place::new();
    let (three, two) = (place.write("three", "a\nb\nc\n"), place.write("two", "a\nb\n"));
    let both = ["three has 3 lines", "two has 2"];
    let model = attention_model();
    regard(&["score", model, "--src", &three, "--tgt", &two]).fails_with(1, &both);
    regard(&["evaluate", &three, "--ref", &two]).fails_with(1, &both);
    regard(&["evaluate", &three, "--ref", &three, "--ref", &two]).fails_with(1, &both);
    regard(&["evaluate", &three, "--ref", &three, "--src", &two, "--by-length"]).fails_with(1, &both);
    let recipe = place.recipe();
    let out = place.at("out");
    let train = |source: &str, target: &str, more: &[&str]| {
        let sets = [source, target].map(|set| ["--set", set]).concat();
        regard(&[["train", &recipe, "--out", &out, "--quiet"].as_slice(), &sets, more].concat())
    };
    train("data.source=three", "data.target=two", &[]).fails_with(1, &both);
    train("data.valid_source=three", "data.valid_target=two", &[]).fails_with(1, &both);
}

#[test]
fn a_line_that_is_not_utf8_is_named() {
    let place = Place::new();
    let bad = place.write("bad", b"the cat sleeps\nthe \xff\xfe cat\nthe dog\n");
    let three = place.write("three", "a\nb\nc\n");
    let model = attention_model();
    let named = ["bad:2: not valid UTF-8", "iconv"];
    let calls: [&[&str]; 5] = [
        &["score", model, "--src", &bad, "--tgt", &three],
        &["evaluate", &three, "--ref", &bad],
        &["evaluate", &bad, "--ref", &three],
        &["tokenizer", "train", &bad, "-o", &place.at("codes")],
        &["tokenizer", "encode", "--codes", &bad],
    ];
    for args in calls {
        regard(args).fails_with(1, &named);
    }
    // What came before the line has been translated.
    let ran = regard(&["translate", model, "-i", &bad]);
    assert_eq!(String::from_utf8_lossy(&ran.out), translate(model, &[], "the cat sleeps\n"));
    ran.fails_with(1, &named);
    regard_reading(&["translate", model], b"\xff\n").fails_with(1, &["standard input:1: not valid UTF-8"]);
    let recipe = place.write("recipe.toml", b"[data]\n# \xff\n");
    regard(&["train", &recipe, "--out", &place.at("out")])
        .fails_with(1, &["recipe.toml: cannot be read", "UTF-8"]);
}

#[test]
fn empty_files() {
    let place = Place::new();
    let recipe = place.recipe();
    let empty = place.write("empty", "");
    let model = attention_model();
    assert_eq!(translate(model, &["-i", &empty], ""), "");
    assert_eq!(translate(model, &["--format", "jsonl"], ""), "");
    regard(&["evaluate", &empty, "--ref", &empty]).fails_with(1, &[&empty, "at least one line"]);
    regard(&["tokenizer", "train", &empty, "-o", &place.at("codes")])
        .fails_with(1, &[&empty, "no text to learn from"]);
    regard(&["look", model, "  "]).fails_with(2, &["blank", "nothing to look at"]);
    let out = place.at("out");
    let args = ["train", &recipe, "--out", &out, "--quiet"];
    for sets in
        [["data.source=empty", "data.target=empty"], ["data.valid_source=empty", "data.valid_target=empty"]]
    {
        let sets = sets.map(|set| ["--set", set]).concat();
        regard(&[args.as_slice(), &sets].concat())
            .fails_with(1, &[&empty, "no pair with text on both sides (0 lines"]);
    }
    regard(&[args.as_slice(), &["--set", "data.max_length=1"]].concat())
        .fails_with(1, &["no pairs to train on"]);
    assert!(!fs::exists(&out).unwrap());
    let nothing = place.write("nothing.toml", "");
    regard(&["train", &nothing, "--out", &out]).fails_with(1, &["nothing.toml", "missing field `data`"]);
}

#[test]
fn recipes_with_mistakes_name_the_key() {
    let place = Place::new();
    let recipe = place.recipe();
    let text = fs::read_to_string(&recipe).unwrap();
    let line_of = |line: &str| 1 + text.lines().position(|found| found == line).unwrap();
    let cases: [(&str, &str, &[&str]); 14] = [
        ("embedding = 16", "embedding = -16", &["model.embedding: ", "-16"]),
        ("encoder.hidden = 24", "encoder.hidden = \"wide\"", &["model.encoder.hidden: ", "\"wide\""]),
        ("dropout = 0.1", "dropout = 2", &["model.dropout: ", "2 must be"]),
        ("dropout = 0.1", "cell = \"gruu\"", &["model.cell: ", "`gruu`"]),
        ("updates = 150", "updats = 150", &["`updats`", "expected one of `updates`"]),
        ("updates = 150", "updates = \"many\"", &["\"many\"", "expected u64"]),
        ("updates = 150", "updates = 0", &["training.updates", "0 must be at least 1"]),
        ("updates = 150", "updates = -1", &["-1", "u64"]),
        ("batch_sentences = 16", "label_smoothing = 1.5", &["training.label_smoothing", "1.5 must be"]),
        (
            "learning_rate = 0.01",
            "learning_rate = -0.01",
            &["training.schedule.learning_rate", "-0.01 must be"],
        ),
        ("kind = \"constant\"", "kind = \"constat\"", &["`constat`", "`constant`"]),
        ("kind = \"word\"", "kind = \"wrod\"", &["`wrod`", "`word`"]),
        ("seed = 3", "sed = 3", &["`sed`", "`seed`"]),
        ("seed = 3", "seed = = 3", &[]),
    ];
    let out = place.at("out");
    for (line, wrong, parts) in cases {
        let path = place.write("wrong.toml", text.replacen(line, wrong, 1));
        let message = regard(&["train", &path, "--out", &out]).fails(1);
        let place = format!("line {}", line_of(line));
        for part in parts.iter().copied().chain(["wrong.toml: ", place.as_str()]) {
            // A table is known to be wrong where it begins.
            let in_table = part == place && message.contains("line ");
            assert!(in_table || message.contains(part), "\"{part}\" is not in: {message}");
        }
    }
    let model_cases: [(&str, &[&str]); 5] = [
        ("model.hiden=3", &["`hiden`", "`embedding`"]),
        ("model.dropout=2", &["dropout = 2 must be"]),
        ("model.embedding=wide", &["\"wide\"", "expected usize"]),
        ("model.preset=banana", &["`banana`", "`bahdanau`"]),
        ("model.encoder.hidden=0", &["hidden"]),
    ];
    let other_cases: [(&str, &[&str]); 3] = [
        ("training.schedule.kind=plateau", &["training.schedule.kind", "data.valid_source"]),
        ("training.updats=3", &["`updats`", "training"]),
        ("validation.metric=bleu", &["validation.metric", "data.valid_source"]),
    ];
    for (set, parts) in model_cases.into_iter().chain(other_cases) {
        let message = regard(&["train", &recipe, "--out", &out, "--set", set]).fails(1);
        for part in parts.iter().copied().chain(["recipe.toml: "]) {
            assert!(message.contains(part), "\"{part}\" is not in: {message}");
        }
    }
    for (set, message) in [
        ("training.updates", "--set training.updates: write it as key=value"),
        ("=1", "--set =1: an empty key"),
        ("seed.more=1", "--set seed.more=1: seed is a value"),
    ] {
        regard(&["train", &recipe, "--out", &out, "--set", set]).fails_with(2, &[message]);
    }
    assert!(!fs::exists(&out).unwrap(), "nothing was begun");
}

#[test]
fn a_loss_that_is_not_finite_is_blamed_on_lines() {
    let place = Place::new();
    let recipe = place.recipe();
    // Every third line is blank and no pair.
    let lines = |name: &str| {
        let text = fs::read_to_string(place.at(name)).unwrap();
        let lines = text.lines().enumerate();
        lines
            .map(|(n, line)| if n % 3 == 0 { "\n".to_owned() } else { format!("{line}\n") })
            .collect::<String>()
    };
    place.write("train.en", lines("train.en"));
    let sets = [
        "training.batch_sentences=1",
        "training.clip_norm=0",
        "training.optimizer={kind=\"sgd\"}",
        "training.schedule.learning_rate=1e30",
    ];
    let sets = sets.map(|set| ["--set", set]).concat();
    let out = place.at("out");
    let message = regard(&[["train", &recipe, "--out", &out, "--quiet"].as_slice(), &sets].concat()).fails(1);
    let number = |start: &str, end: &str| -> usize {
        let (_, rest) = message.split_once(start).unwrap();
        rest.split_once(end).unwrap().0.parse().unwrap()
    };
    let (line, pair) = (number("train.en, lines ", ": the "), number("(pairs ", ")"));
    // Pair 1 stands in line 2, pair 2 in line 3, pair 3 in line 5.
    assert_eq!(line, 3 * ((pair - 1) / 2) + 2 + (pair - 1) % 2, "{message}");
}

#[test]
fn wrong_calls() {
    let place = Place::new();
    let here = place.write("here", "a\n");
    let model = attention_model();
    let cases: [(&[&str], &[&str]); 21] = [
        (&["translate", model, "--max-length", "18446744073709551615"], &["maximum length", "100000"]),
        (&["look", model, "the cat", "--temperature", "1e-45"], &["--temperature", "above 0"]),
        (&["translate", model, "--n-best", "6"], &["n-best 6", "beam size 5"]),
        (&["translate", model, "--n-best", "0"], &["n-best is 0"]),
        (&["translate", model, "--beam-size", "0"], &["beam size is 0", "smallest is 1"]),
        (&["translate", model, "--batch-size", "0"], &["batch size is 0"]),
        (&["translate", model, "--max-length", "0"], &["maximum length is 0"]),
        (&["translate", model, "--alpha", "nan"], &["alpha", "NaN"]),
        (&["translate", model, "--n-best", "2", "--format", "text"], &["--format text", "moses or jsonl"]),
        (&["translate", model, "--threads", "0"], &["--threads 0"]),
        (
            &["look", model, "the cat", "--intervene", "remov:src=1"],
            &["remov", "character 1", "remove:src=3@step=5"],
        ),
        (&["look", model, "the cat", "--intervene", "remove:src=7"], &["no source position 7", "last is 2"]),
        (&["look", model, "the cat", "--intervene", "uniform@layer=4"], &["no layer 4"]),
        (&["look", model, "the cat", "--temperature", "0"], &["--temperature 0", "above 0"]),
        (&["look", model, "the cat", "--temperature", "nan"], &["--temperature NaN"]),
        (&["score", model, "--src", &here, "--tgt", &here, "--batch-size", "0"], &["batch size is 0"]),
        (&["evaluate", &here, "--ref", &here, "--by-length"], &["--src"]),
        (&["evaluate", &here, "--ref", &here, "--paired", "ar"], &["--paired", "baseline"]),
        (&["evaluate", &here, "--ref", &here, "--smooth", "laplace"], &["laplace", "add-k"]),
        (&["evaluate", &here, "--ref", &here, "--smooth-value", "2"], &["exp", "no value"]),
        (&["evaluate", &here, "--ref", &here, "--metrics", "chrf", "--chrf-beta", "0"], &["--chrf-beta 0"]),
    ];
    for (args, parts) in cases {
        let ran = regard_reading(args, "the cat\n");
        assert_eq!(ran.out, b"", "refused before any work");
        ran.fails_with(2, parts);
    }
    // What the parser of the command line refuses has its own form, which ends in a pointer to the help.
    let parsed: [(&[&str], &str); 7] = [
        (&["translate", model, "--beam-size", "many"], "error: invalid value 'many' for '--beam-size <N>'"),
        (&["translate", model, "--beam-sise", "3"], "error: unexpected argument '--beam-sise'"),
        (&["translate", model, "--format", "yaml"], "error: invalid value 'yaml' for '--format <FORMAT>'"),
        (&["translate"], "error: the following required arguments were not provided"),
        (&["transalte", model], "error: unrecognized subcommand 'transalte'"),
        (&["translate", model, "--beam-size", "-1"], "error: "),
        (
            &["evaluate", "x", "--ref", "x", "--tokenize", "ja-mecab"],
            "error: invalid value 'ja-mecab' for '--tokenize <NAME>': the tokenizer ja-mecab needs MeCab",
        ),
    ];
    for (args, begin) in parsed {
        let ran = regard(args);
        assert_eq!(ran.status, Some(2));
        assert!(ran.err.starts_with(begin), "{}", ran.err);
        assert!(ran.err.ends_with("For more information, try '--help'.\n"), "{}", ran.err);
    }
}

#[test]
fn what_a_model_without_attention_cannot_do() {
    let model = fixed_vector_model();
    for option in ["--replace-unk", "--attention", "--alignment=hard"] {
        let ran = regard_reading(&["translate", model, "--format=jsonl", option], "the cat\n");
        assert_eq!(ran.out, b"");
        ran.fails_with(2, &["needs attention weights", "take a model with attention"]);
    }
    regard_reading(&["translate", model, "--coverage-penalty", "0.2"], "the cat\n")
        .fails_with(2, &["regard: a coverage penalty needs attention weights", "leave it out"]);
}

#[test]
fn what_the_time_limit_cuts_is_said() {
    let model = attention_model();
    let text = "the cat sleeps\n\nthe dog\n".repeat(9);
    let ran = regard_reading(&["translate", model, "--time-limit", "0"], &text);
    assert_eq!(String::from_utf8_lossy(&ran.out), "\n".repeat(27));
    assert_eq!(
        ran.err,
        "--time-limit has ended the search of 18 lines with the best so far: \
         lines 1, 3, 4, 6, 7, 9, 10, 12, 13, 15, 16, 18, 19, 21, 22, 24, and 2 more\n"
    );
    for options in [["--time-limit", "0", "--quiet"].as_slice(), &["--time-limit", "1e6"], &[]] {
        let ran = regard_reading(&[["translate", model].as_slice(), options].concat(), &text);
        assert_eq!((ran.err.as_str(), ran.status), ("", Some(0)));
    }
    let ran = regard(&["look", model, "the cat", "--json", "--time-limit", "0"]);
    assert!(ran.err.starts_with("--time-limit has ended the search of 1 line "), "{}", ran.err);
}

#[test]
fn damaged_models_are_refused_by_file() {
    let model = attention_model();
    let place = Place::new();
    let files =
        ["model.safetensors", "source.vocab.txt", "target.vocab.txt", "source.tokenizer.json", "config.json"];
    for (number, file) in files.into_iter().enumerate() {
        let whole = fs::read(format!("{model}/{file}")).unwrap();
        let half = whole[..whole.len() / 2].to_vec();
        let mut flipped = whole.clone();
        flipped[whole.len() / 3] ^= 0x80;
        for (how, bytes) in [("half", Some(half)), ("flipped", Some(flipped)), ("gone", None)] {
            let copy = place.copy_of(model, &format!("{number}-{how}"));
            let path = format!("{copy}/{file}");
            match bytes {
                Some(bytes) => fs::write(&path, bytes).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            let calls: [&[&str]; 4] = [
                &["translate", &copy],
                &["info", &copy],
                &["look", &copy, "the cat"],
                &["average", &copy, "--out", &place.at("mean")],
            ];
            for args in calls {
                let message = regard(args).fails(1);
                assert!(message.contains(&path), "{file} {how}: {message}");
            }
        }
    }
    // Files that belong to one another's places, and to another model.
    let copy = place.copy_of(model, "swapped");
    for [to, from] in [["source", "target"], ["target", "source"]] {
        fs::copy(format!("{model}/{from}.vocab.txt"), format!("{copy}/{to}.vocab.txt")).unwrap();
    }
    regard(&["translate", &copy]).fails_with(1, &["source.vocab.txt", "config.json says", "another model"]);
    let copy = place.copy_of(model, "weights");
    fs::copy(format!("{}/model.safetensors", fixed_vector_model()), format!("{copy}/model.safetensors"))
        .unwrap();
    regard(&["translate", &copy]).fails_with(1, &["model.safetensors", "config.json says", "another model"]);
}

#[test]
fn configurations_that_do_not_fit() {
    let place = Place::new();
    let edited = |name: &str, edit: &dyn Fn(&mut serde_json::Value)| {
        let copy = place.copy_of(attention_model(), name);
        edit_config(&copy, edit);
        regard(&["translate", &copy])
    };
    edited("newer", &|config| config["format_version"] = 2.into())
        .fails_with(1, &["config.json", "format version 2", "up to 1", "newer regard"]);
    // A newer version may have other fields too.
    let newer = |config: &mut serde_json::Value| {
        config["format_version"] = 7.into();
        config["heads"] = 8.into();
    };
    edited("much-newer", &newer).fails_with(1, &["config.json", "format version 7"]);
    edited("unknown", &|config| config["heads"] = 8.into())
        .fails_with(1, &["config.json", "unknown field `heads`"]);
    edited("other-size", &|config| config["model"]["embedding"] = 17.into())
        .fails_with(1, &["model.safetensors", "has the shape"]);
    edited("impossible", &|config| config["model"]["dropout"] = 2.into())
        .fails_with(1, &["dropout = 2 must be"]);
    edited("vocabulary", &|config| config["source_vocabulary"] = 9.into())
        .fails_with(1, &["config.json", "9 source", "56"]);
}

/// Whenever a run with validations is killed, there is a checkpoint beside its best model; a model alone is not overwritten.
#[test]
fn a_best_model_has_a_checkpoint_beside_it() {
    let place = Place::new();
    let (recipe, out) = (place.recipe(), place.at("run"));
    let changes = [
        "training.updates=9",
        "training.validate_every=3",
        "training.checkpoint_every=1000",
        "training.keep_checkpoints=9",
        "data.valid_source=train.en",
        "data.valid_target=train.fr",
    ];
    train(&recipe, &out, &changes);
    let steps = |out: &str| fs::read_dir(format!("{out}/checkpoints")).unwrap().count();
    assert!(fs::exists(format!("{out}/checkpoints/step-3")).unwrap() && steps(&out) == 2);

    let before = fs::read(format!("{out}/model.safetensors")).unwrap();
    fs::remove_dir_all(format!("{out}/checkpoints")).unwrap();
    let args = ["train", &recipe, "--out", &out, "--quiet"];
    regard(&args).fails_with(1, &[&out, "holds a run already", "--resume"]);
    regard(&[args.as_slice(), &["--resume"]].concat())
        .fails_with(1, &[&out, "no checkpoint", "another directory"]);
    assert_eq!(fs::read(format!("{out}/model.safetensors")).unwrap(), before);
}

#[test]
fn an_older_run_is_never_overwritten() {
    let place = Place::new();
    let recipe = place.recipe();
    let out = place.at("run");
    train(&recipe, &out, &["training.updates=20"]);
    let before = tree(&out);
    let untouched = |message: &str| assert!(tree(&out) == before, "{message}");
    let again =
        |more: &[&str]| regard(&[["train", &recipe, "--out", &out, "--quiet"].as_slice(), more].concat());
    again(&[]).fails_with(1, &[&out, "holds a run already", "--resume", "new directory"]);
    untouched("without --resume");
    // --resume continues this run and no other.
    again(&["--resume", "--seed", "9"]).fails_with(1, &["seed = 3", "9"]);
    again(&["--resume", "--set", "training.batch_sentences=8"])
        .fails_with(1, &["16 sentences", "8 sentences"]);
    again(&["--resume", "--set", "model.encoder.hidden=8"]).fails_with(1, &["another [model]"]);
    place.write("train.en", common::corpus(8, 300, (3, 10))[0].clone());
    again(&["--resume"]).fails_with(1, &["training pairs"]);
    untouched("with another recipe");
    regard(&["average", &format!("{out}/checkpoints/step-20"), "--out", &out])
        .fails_with(1, &[&out, "exists already"]);
    untouched("average");
    let demo = place.at("demo");
    fs::create_dir(&demo).unwrap();
    fs::rename(&out, format!("{demo}/attention")).unwrap();
    regard(&["demo", "--quick", "--out", &demo]).fails_with(2, &["demo/attention", "not of a demonstration"]);
    fs::rename(format!("{demo}/attention"), &out).unwrap();
    untouched("demo");
    let other = place.at("other");
    regard(&["average", &out, fixed_vector_model(), "--out", &other])
        .fails_with(1, &["do not belong to one run"]);
    assert!(!fs::exists(other).unwrap());
}

#[test]
fn results_stay_where_the_next_call_fails() {
    let place = Place::new();
    let (result, gone) = (place.write("result", "good\n"), place.at("gone"));
    let model = attention_model();
    regard(&["translate", &gone, "-o", &result]).fails(1);
    regard(&["translate", model, "-i", &gone, "-o", &result]).fails(1);
    regard(&["translate", model, "--beam-size", "0", "-o", &result]).fails(2);
    regard(&["tokenizer", "train", &gone, "-o", &result]).fails(1);
    let codes = place.write("codes", "#version: 0.2\nt h\n");
    regard(&["tokenizer", "encode", "--codes", &gone, "-o", &result]).fails(1);
    regard(&["tokenizer", "encode", "--codes", &codes, "-i", &gone, "-o", &result]).fails(1);
    // Lines that were done before the bad one do not take the place of a whole result.
    let bad = place.write("bad", b"the cat\n\xff\n");
    regard(&["translate", model, "-i", &bad, "-o", &result]).fails_with(1, &["bad:2"]);
    assert_eq!(fs::read_to_string(&result).unwrap(), "good\n");
    let left = |name: &std::path::PathBuf| name.extension().is_some_and(|end| end == "tmp");
    assert!(!tree(&place.at(".")).keys().any(left));
    // A file that is read and written at once would be empty before its first line was read.
    let link = place.at("./result");
    for call in [["translate", model].as_slice(), &["tokenizer", "encode", "--codes", &codes]] {
        regard(&[call, &["-i", &result, "-o", &link]].concat()).fails_with(2, &["-i and -o", "result"]);
    }
    assert_eq!(fs::read_to_string(&result).unwrap(), "good\n");
}

/// A file system that is small, and gone at the end.
struct SmallDisk(String);

impl SmallDisk {
    fn mount(directory: &str) -> Option<Self> {
        fs::create_dir(directory).unwrap();
        let mount =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=640k", "none", directory]).output();
        mount.is_ok_and(|mount| mount.status.success()).then(|| Self(directory.to_owned()))
    }

    fn enlarge(&self) {
        let grown = Command::new("mount").args(["-o", "remount,size=16m", &self.0]).status().unwrap();
        assert!(grown.success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_disk_that_fills_up_costs_nothing_but_the_rest() {
    let place = Place::new();
    let recipe = place.recipe();
    let Some(disk) = SmallDisk::mount(&place.at("disk")) else {
        println!("skipped: nothing can be mounted (a_disk_that_fills_up_costs_nothing_but_the_rest)");
        return;
    };
    let out = place.at("disk/run");
    let changes = ["training.updates=60", "training.checkpoint_every=10", "training.keep_checkpoints=10"];
    let sets = changes.map(|change| ["--set", change]).concat();
    let args = [["train", &recipe, "--out", &out, "--quiet", "--threads", "1"].as_slice(), &sets].concat();
    regard(&args).fails_with(1, &[&out, "No space left on device"]);
    // The last checkpoint that found room is whole, and the best model can be used.
    assert!(fs::read_dir(format!("{out}/checkpoints")).unwrap().count() >= 1);
    assert!(Path::new(&out).join("config.json").exists());
    translate(&out, &[], "the cat sleeps\n");
    regard(&[args.as_slice(), &["--resume"]].concat()).fails_with(1, &[&out, "No space left on device"]);
    disk.enlarge();
    regard(&[args.as_slice(), &["--resume"]].concat()).ok();
    let whole = place.at("whole");
    train(&recipe, &whole, &changes);
    assert_same_run(&out, &whole);
}

/// The commands of a help text.
fn commands(help: &str) -> Vec<String> {
    let lines =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_command_says_what_it_does_with_an_example() {
    let mut seen = 0;
    for command in commands(&regard(&["--help"]).ok()) {
        let help = regard(&[&command, "--help"]).ok();
        assert!(help.contains("Example"), "{command}: {help}");
        for part in commands(&help) {
            let help = regard(&[&command, &part, "--help"]).ok();
            assert!(help.lines().next().is_some_and(|line| line.len() > 10), "{command} {part}: {help}");
            seen += 1;
        }
        seen += 1;
    }
    assert!(seen >= 24, "{seen}");
}
