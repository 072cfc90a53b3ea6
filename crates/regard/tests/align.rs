//! `regard align`, and training that is guided by links or works against a model, as users call them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fmt::Write as _;
use std::fs;

use common::{
    Place, assert_same_run, attention_model, fixed_vector_model, json_lines, regard, train,
    transformer_model, translate,
};
use regard::demo::grammar;
use serde_json::Value;

/// The source token of each row with the largest weight, the end symbol left out, as a line of links; rows from `first` on.
fn links_of(record: &Value, first: usize) -> String {
    let best = &record["translations"][0];
    let tokens = best["tokens"].as_array().unwrap().len();
    let rows = best["attention"].as_array().unwrap().iter().skip(first).take(tokens);
    let mut links: Vec<(usize, usize)> = rows
        .enumerate()
        .map(|(target, row)| {
            let row: Vec<f64> =
                row.as_array().unwrap().iter().map(|weight| weight.as_f64().unwrap()).collect();
            let words = &row[..row.len() - 1];
            let largest = words.iter().copied().fold(0.0, f64::max);
            (words.iter().position(|&weight| weight >= largest).unwrap(), target)
        })
        .collect();
    links.sort_unstable();
    links.iter().map(|(source, target)| format!("{source}-{target}")).collect::<Vec<_>>().join(" ")
}

/// A target token belongs to the source token that it is owed to most.
#[test]
fn links_can_be_what_a_word_is_owed_to() {
    let place = Place::new();
    let [source, target] = common::corpus(7, 5, (3, 7));
    let (src, tgt) = (place.write("src", &source), place.write("tgt", &target));
    let cases = [
        (attention_model(), "saliency", "gradient-input"),
        (attention_model(), "norm", "norm"),
        (transformer_model(), "saliency", "gradient-input"),
        (transformer_model(), "value-zeroing", "value-zeroing"),
        (transformer_model(), "alti", "alti"),
    ];
    for (model, method, attribution) in cases {
        let args = ["align", model, "--src", &src, "--tgt", &tgt, "--method", method, "--threads", "2"];
        let aligned = regard(&args).ok();
        for ((line, source), target) in aligned.lines().zip(source.lines()).zip(target.lines()) {
            let call = ["look", model, source, "--tgt", target, "--attribute", attribution, "--json"];
            let seen: Value = serde_json::from_str(&regard(&call).ok()).unwrap();
            let rows = seen["attribution"]["source"].as_array().unwrap();
            let words = target.split(' ').count();
            let strongest = |row: &Value| {
                let row: Vec<f64> = row.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
                let words = &row[..row.len() - 1];
                (0..words.len()).fold(0, |best, place| if words[place] > words[best] { place } else { best })
            };
            let mut links: Vec<(usize, usize)> =
                rows.iter().take(words).enumerate().map(|(target, row)| (strongest(row), target)).collect();
            links.sort_unstable();
            let expected: Vec<String> = links.iter().map(|(s, t)| format!("{s}-{t}")).collect();
            assert_eq!(line, expected.join(" "), "{method} of {source}");
        }
    }
    let args = ["align", attention_model(), "--src", &src, "--tgt", &tgt, "--method"];
    regard(&[&args[..], &["alti"]].concat()).fails_with(2, &["--method alti", "made for Transformers"]);
    regard(&[&args[..], &["saliency", "--layer", "0"]].concat())
        .fails_with(2, &["--layer", "norm and value-zeroing"]);
    regard(&[&args[..], &["norm", "--head", "0"]].concat()).fails_with(2, &["--head chooses an attention"]);
    // The last of two layers is the one that is read by default.
    let of = |method: &str, more: &[&str]| {
        let args = ["align", transformer_model(), "--src", &src, "--tgt", &tgt, "--method", method];
        regard(&[&args[..], more].concat())
    };
    for method in ["norm", "value-zeroing"] {
        let last = of(method, &[]).ok();
        assert_eq!(of(method, &["--layer", "1"]).ok(), last, "{method}");
        assert_ne!(of(method, &["--layer", "0"]).ok(), last, "{method}");
        of(method, &["--layer", "2"]).fails_with(2, &["the model has layers 0 to 1"]);
    }
    let gold = place.write("gold", of("norm", &["--layer", "0"]).ok());
    let tuned = of("norm", &["--tune-gold", &gold, "--tune-lines", "1-5"]);
    assert!(
        tuned.err.contains("layer 0, mean of heads: AER 0.0000") && tuned.err.contains("taking layer 0"),
        "{}",
        tuned.err
    );
    assert_eq!(tuned.ok(), of("norm", &["--layer", "0"]).ok());
}

#[test]
fn links_are_where_the_model_looks() {
    let place = Place::new();
    let [source, _] = common::corpus(7, 30, (3, 9));
    let src = place.write("src", &source);
    for model in [attention_model(), transformer_model()] {
        let found = translate(model, &["--format", "jsonl", "--attention", "--beam-size", "1"], &source);
        let records: Vec<Value> = json_lines(&found);
        let text = |record: &Value| record["translations"][0]["text"].as_str().unwrap().to_owned() + "\n";
        let tgt = place.write("tgt", records.iter().map(text).collect::<String>());
        let base = ["align", model, "--src", &src, "--tgt", &tgt];
        for (method, first) in [("attention", 0), ("attention-next", 1)] {
            // A translation that was cut has no step after its last token.
            let whole = |record: &&Value| record["translations"][0]["finished"] == true;
            let args = [&base[..], &["--method", method, "--threads", "1"]].concat();
            let aligned = regard(&args).ok();
            assert_eq!(aligned.lines().count(), records.len());
            let mut compared = 0;
            for (line, record) in aligned.lines().zip(&records).filter(|(_, record)| whole(record)) {
                assert_eq!(line, links_of(record, first), "{method}: {}", text(record));
                compared += usize::from(!line.is_empty());
            }
            assert!(compared > 20, "{compared}");
            let out = place.at("links");
            let more = ["--method", method, "--threads", "3", "--batch-size", "5", "-o", &out];
            assert_eq!(regard(&[&base[..], &more].concat()).ok(), "");
            assert_eq!(fs::read_to_string(&out).unwrap(), aligned, "threads and batches change nothing");
        }
    }
}

#[test]
fn a_line_in_is_a_line_out() {
    let place = Place::new();
    let src = place.write("src", "the dog sleeps\n\n \nthe cat\n");
    let tgt = place.write("tgt", "le chien dort\n\nle chat\n\n");
    let found = regard(&["align", attention_model(), "--src", &src, "--tgt", &tgt]).ok();
    let lines: Vec<&str> = found.split('\n').collect();
    assert_eq!(lines[0].split(' ').count(), 3, "{found}");
    assert_eq!(lines[1..], ["", "", "", ""]);
    let long = place.write("long", "the ".repeat(1200) + "\n");
    let one = place.write("one", "le chien\n");
    let cut = regard(&["align", attention_model(), "--src", &long, "--tgt", &one]);
    assert!(cut.err.contains("line 1: 1200 tokens, only the first 1000 were read"), "{}", cut.err);
    let cut = cut.ok();
    let sources: Vec<usize> =
        cut.split_whitespace().map(|link| link.split_once('-').unwrap().0.parse().unwrap()).collect();
    assert!(sources.len() == 2 && sources.iter().all(|&source| source < 1000), "{cut}");
    let short = place.write("short", "le chien\n");
    regard(&["align", attention_model(), "--src", &src, "--tgt", &short])
        .fails_with(1, &["src has 4 lines and ", "short has 1: they must belong together line by line"]);
    regard(&["align", fixed_vector_model(), "--src", &src, "--tgt", &tgt]).fails_with(2, &["attention"]);
    let of = |options: &[&str]| {
        regard(&[&["align", transformer_model(), "--src", &src, "--tgt", &tgt], options].concat())
    };
    assert_eq!(of(&["--above", "1"]).ok(), "\n\n\n\n", "no weight is above 1");
    of(&["--layer", "2"]).fails_with(2, &["layer 2 of the attention: the model has layers 0 to 1"]);
    of(&["--head", "2"]).fails_with(2, &["head 2 of the attention: the model has heads 0 to 1"]);
    assert_ne!(of(&["--layer", "0", "--head", "1"]).ok(), "");
    let gold = place.write("gold", "0-0\n\n\n\n");
    of(&["--tune-gold", &gold, "--tune-lines", "1-5"])
        .fails_with(2, &["--tune-lines 1-5: there are 4 lines"]);
    let gold = place.write("gold", "0-0\n\n\n");
    of(&["--tune-gold", &gold, "--tune-lines", "1-2"])
        .fails_with(1, &["src has 4 lines and ", "gold links of 3: they must belong together"]);
}

/// Sentences, and their links as a file has them.
fn sentences(seed: u64, count: u64) -> [String; 3] {
    let [mut source, mut target, mut links] = [const { String::new() }; 3];
    for index in 0..count {
        let sentence = grammar::generate(seed, index, 3, 9);
        writeln!(source, "{}", sentence.source.join(" ")).unwrap();
        writeln!(target, "{}", sentence.target.join(" ")).unwrap();
        let line: Vec<_> =
            sentence.links.iter().map(|(source, target)| format!("{source}-{target}")).collect();
        writeln!(links, "{}", line.join(" ")).unwrap();
    }
    [source, target, links]
}

fn aer(place: &Place, links: &str, gold: &str) -> f64 {
    let links = place.write("judged", links);
    let report = regard(&["evaluate-alignment", &links, "--gold", gold, "--json"]).ok();
    common::json(&report)["aer"].as_f64().unwrap()
}

#[test]
fn the_best_look_is_taken_and_two_directions_are_joined() {
    let place = Place::new();
    let [source, target, links] = sentences(11, 40);
    let [src, tgt, gold] =
        [("src", source), ("tgt", target), ("gold", links)].map(|(name, text)| place.write(name, text));
    let base = ["align", transformer_model(), "--src", &src, "--tgt", &tgt, "--method", "attention-next"];
    let tuned = regard(&[&base[..], &["--tune-gold", &gold, "--tune-lines", "1-40"]].concat());
    let said = tuned.err.clone();
    let tuned = tuned.ok();
    let mut best: Option<(f64, String)> = None;
    for layer in ["0", "1"] {
        for head in ["0", "1", "mean"] {
            let found = regard(&[&base[..], &["--layer", layer, "--head", head]].concat()).ok();
            let found_aer = aer(&place, &found, &gold);
            let name = if head == "mean" { "mean of heads".to_owned() } else { format!("head {head}") };
            let line = format!("layer {layer}, {name}: AER {found_aer:.4} on lines 1-40\n");
            assert!(said.contains(&line), "{line} is not in {said}");
            if best.as_ref().is_none_or(|(lowest, _)| found_aer < *lowest) {
                best = Some((found_aer, found));
            }
        }
    }
    assert_eq!(best.unwrap().1, tuned);

    let reverse = place.at("reverse");
    let swapped = ["data.source=train.fr", "data.target=train.en", "training.updates=60"];
    train(&place.recipe(), &reverse, &swapped);
    let base = ["align", attention_model(), "--src", &src, "--tgt", &tgt];
    let forward = regard(&base).ok();
    let back = regard(&["align", &reverse, "--src", &tgt, "--tgt", &src]).ok();
    for method in ["intersection", "grow-diag-final-and"] {
        let both = [&base[..], &["--reverse", &reverse, "--symmetrize", method]].concat();
        let [one, other, out] = [("one", &forward), ("other", &back), ("out", &String::new())]
            .map(|(name, text)| place.write(name, text));
        let judge =
            ["evaluate-alignment", &one, "--gold", &gold, "--reverse", &other, "--symmetrize", method];
        regard(&[&judge[..], &["-o", &out]].concat()).ok();
        assert_eq!(regard(&both).ok(), fs::read_to_string(&out).unwrap(), "{method}");
    }
    regard(&[&base[..], &["--reverse", &reverse]].concat());
    let alone = regard(&[&base[..], &["--reverse", &reverse]].concat());
    assert_eq!(alone.status, Some(2), "{}", alone.err);
}

const GUIDED: &str = "training.guided_alignment={file=\"links\", weight=0.5}";

/// 300 pairs with their links; then a blank side, a pair that came before, one that is too long, each with a line of links.
fn guided(place: &Place) -> String {
    let recipe = place.recipe();
    let [source, target, links] = sentences(1, 300);
    let first = |text: &str| text.lines().next().unwrap().to_owned() + "\n";
    let long = "the ".repeat(30) + "\n";
    for (name, text, middle) in [
        ("train.en", &source, ["\n".to_owned(), first(&source), long.clone()]),
        ("train.fr", &target, ["le\n".to_owned(), first(&target), long]),
        ("links", &links, ["\n".to_owned(), "0-0 99-99\n".to_owned(), "7-7\n".to_owned()]),
    ] {
        // In the middle: a line that shifts another would be noticed.
        let half = text.match_indices('\n').nth(149).unwrap().0 + 1;
        place.write(name, text[..half].to_owned() + &middle.concat() + &text[half..]);
    }
    let text = fs::read_to_string(&recipe).unwrap();
    let filters = "filters = { duplicates = true, max_length = 20 }\n[tokenizer]";
    place.write("recipe.toml", text.replace("[tokenizer]", filters))
}

#[test]
fn guided_training_learns_links_and_keeps_them_beside_their_pairs() {
    let place = Place::new();
    let recipe = guided(&place);
    let [plain, memory, cached, again, links_later] =
        ["plain", "memory", "cached", "again", "later"].map(|name| place.at(name));
    train(&recipe, &plain, &[]);
    let said = train(&recipe, &memory, &[GUIDED]);
    assert!(
        said.contains("296 pairs of 303 lines; left out: 1 with a blank side, 5 duplicates, 1 longer"),
        "{said}"
    );
    let cache = "data.cache=\"cache\"";
    train(&recipe, &cached, &[GUIDED, cache]);
    let said = train(&recipe, &again, &[GUIDED, cache, "training.updates=150"]);
    assert_eq!(said.matches("using the cache of 296 pairs").count(), 2, "{said}");
    for other in [&cached, &again] {
        assert_same_run(&memory, other);
    }
    // The ids are there already and the links are not.
    train(&recipe, &place.at("unguided"), &["data.cache=\"other\"", "training.updates=1"]);
    let said = train(&recipe, &links_later, &[GUIDED, "data.cache=\"other\""]);
    assert_eq!(said.matches("using the cache of 296 pairs").count(), 1, "{said}");
    assert_same_run(&memory, &links_later);
    let threads = place.at("threads");
    regard(&["train", &recipe, "--out", &threads, "--threads", "3", "--set", GUIDED]).ok();
    assert_same_run(&memory, &threads);

    let [source, target, links] = sentences(5, 100);
    let [src, tgt, gold] =
        [("src", source), ("tgt", target), ("gold", links)].map(|(name, text)| place.write(name, text));
    let judged = |model: &str| {
        let links = regard(&["align", model, "--src", &src, "--tgt", &tgt]).ok();
        aer(&place, &links, &gold)
    };
    let (plain_aer, guided_aer) = (judged(&plain), judged(&memory));
    println!("AER {guided_aer:.3} guided, {plain_aer:.3} not");
    assert!(guided_aer < 0.1 && guided_aer < plain_aer - 0.05, "{guided_aer} {plain_aer}");

    // The objective is a part of the run.
    let resumed =
        ["train", &recipe, "--out", &memory, "--resume", "--quiet", "--set", "training.updates=160"];
    regard(&resumed)
        .fails_with(1, &["the checkpoint was trained with objective = guided alignment of layer 0"]);
    regard(&[&resumed[..], &["--set", GUIDED]].concat()).ok();
}

#[test]
fn links_that_do_not_fit_are_named_by_file_and_line() {
    let place = Place::new();
    let recipe = guided(&place);
    let lines: Vec<String> =
        fs::read_to_string(place.at("links")).unwrap().lines().map(str::to_owned).collect();
    let fails = |lines: &[String], parts: &[&str]| {
        place.write("links", lines.join("\n") + "\n");
        for data in ["data.cache=\"cache\"", "data.max_length=50"] {
            let data = if data.contains("max") { "seed=3" } else { data };
            regard(&["train", &recipe, "--out", &place.at("out"), "--quiet", "--set", GUIDED, "--set", data])
                .fails_with(1, parts);
        }
        assert!(!fs::exists(place.at("out")).unwrap());
    };
    let with = |line: usize, text: &str| {
        let mut lines = lines.clone();
        text.clone_into(&mut lines[line - 1]);
        lines
    };
    let words =
        fs::read_to_string(place.at("train.en")).unwrap().lines().nth(199).unwrap().split(' ').count();
    fails(&with(200, "0-0 40-1"), &["links:200: link 40-1: the source line has", &words.to_string()]);
    fails(&with(7, "0-0 1:1"), &["links:7: `1:1` is no link `source-target`"]);
    fails(&lines[..290], &["links ends after line 290: line n has the links of line n of the training text"]);
    fails(&[&lines[..], &lines[..2]].concat(), &["links has 305 lines, and the training text 303"]);
    fs::remove_file(place.at("links")).unwrap();
    regard(&["train", &recipe, "--out", &place.at("out"), "--set", GUIDED, "--quiet"])
        .fails_with(1, &["links: cannot be read"]);
}

#[test]
fn uniform_models_and_adversaries() {
    let place = Place::new();
    let recipe = place.recipe();
    let [uniform, adversary, other] = ["uniform", "adversary", "other"].map(|name| place.at(name));
    train(&recipe, &uniform, &["training.attention=uniform", "training.updates=20"]);
    let found = translate(&uniform, &["--format", "jsonl", "--attention"], "the dog sleeps\n");
    for row in json_lines(&found)[0]["translations"][0]["attention"].as_array().unwrap() {
        assert!(row.as_array().unwrap().iter().all(|weight| weight == 0.25), "{row}");
    }
    let base = format!("training.adversary_of={}", attention_model());
    let changes = [&base, "model.preset=bahdanau", "training.updates=20", "seed=4"];
    train(&recipe, &adversary, &changes);
    let log = json_lines(&fs::read_to_string(format!("{adversary}/training_log.jsonl")).unwrap());
    let loss = |record: &Value| record["loss"].as_f64().unwrap();
    assert!(loss(&log[0]) < 1.0 && loss(&log[1]) < loss(&log[0]), "a distance from 0 to 1 that falls");
    regard(&[
        "train",
        &recipe,
        "--out",
        &adversary,
        "--resume",
        "--quiet",
        "--set",
        "training.updates=25",
        "--set",
        "seed=4",
    ])
    .fails_with(1, &["objective = adversary, lambda 0.001, of weights with checksum"]);

    let failing = |changes: &[&str], parts: &[&str]| {
        let mut args = vec!["train", &recipe, "--out", &other, "--quiet"];
        args.extend(changes.iter().flat_map(|change| ["--set", change]));
        regard(&args).fails_with(1, parts);
    };
    failing(
        &[&base, "tokenizer.kind=character"],
        &["training.adversary_of: the vocabularies of ", "are not those"],
    );
    failing(&["training.adversary_of=gone"], &["training.adversary_of: ", "gone is not a model directory"]);
    let cho = format!("training.adversary_of={}", fixed_vector_model());
    failing(&[&cho], &["training.adversary_of: it does not look at the source"]);
    failing(
        &["training.attention=uniform", "model.preset=cho"],
        &["cross_attention = \"uniform\" needs context = \"attention\""],
    );
}
