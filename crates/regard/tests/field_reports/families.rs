//! What must hold for every family of models: recurrent ones, Transformers, and recurrent decoders on a Transformer's
//! encoder are asked the same questions.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::common::{
    Place, assert_close, attention_model, corpus, json, json_lines, numbers, reader_model, regard,
    regard_reading, strings, transformer_model, translate,
};

fn families() -> [&'static str; 3] {
    [attention_model(), transformer_model(), reader_model()]
}

fn candidates(record: &Value) -> &Vec<Value> {
    record["translations"].as_array().unwrap()
}

/// Fifty lines of 1 to 60 words.
fn lines() -> Vec<String> {
    let words = corpus(5, 40, (8, 12))[0].split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    (0..50).map(|line| words[line..line + 1 + line * 59 / 49].join(" ")).collect()
}

#[test]
fn p03_an_over_long_line_does_not_end_the_job() {
    let input = format!("the dog sleeps\nthe cat\n{}\nthe dog\nthe cat sleeps\n", "x ".repeat(5000));
    for model in families() {
        for options in [&[][..], &["--max-length", "300"], &["--beam-size", "1", "--max-length", "2000"]] {
            let ran = regard_reading(&[&["translate", model], options].concat(), &input);
            assert!(ran.err.contains("line 3: 5000 tokens, only the first 1000 were read"), "{}", ran.err);
            let found = ran.ok();
            assert_eq!(found.lines().count(), 5, "{options:?}");
            let alone = translate(model, options, "the cat sleeps\n");
            assert_eq!(found.lines().last(), alone.lines().next(), "{options:?}");
        }
    }
}

#[test]
fn p04_the_same_line_gives_the_same_translation() {
    let lines = lines();
    let input = |order: &[usize]| order.iter().map(|&line| lines[line].clone() + "\n").collect::<String>();
    let order: Vec<usize> = (0..50).collect();
    // 21 and 50 have no common factor: this visits every line.
    let shuffled: Vec<usize> = order.iter().map(|&place| place * 21 % 50).collect();
    for model in families() {
        let options = |batch: &'static str, threads: &'static str| {
            ["translate", model, "--format", "jsonl", "--batch-size", batch, "--threads", threads]
        };
        let expected = regard_reading(&options("1", "1"), input(&order)).ok();
        assert_eq!(expected.lines().count(), 50);
        for batch in ["2", "7", "50"] {
            for threads in ["1", "2"] {
                assert_eq!(regard_reading(&options(batch, threads), input(&order)).ok(), expected);
            }
        }
        let of_shuffled = json_lines(&regard_reading(&options("7", "2"), input(&shuffled)).ok());
        let expected = json_lines(&expected);
        for (record, &line) in of_shuffled.iter().zip(&shuffled) {
            assert_eq!(record["translations"], expected[line]["translations"], "line {line}");
        }
    }
}

#[test]
fn p05_no_nan_from_masks() {
    let input = format!("the\n\n{}\n", vec!["dog"; 30].join(" "));
    for model in families() {
        let found = translate(model, &["--format", "jsonl", "--attention", "--n-best", "3"], &input);
        // JSON has no NaN: it would be null.
        assert!(!found.contains("null"), "{found}");
        for candidate in json_lines(&found).iter().flat_map(candidates) {
            for row in candidate["attention"].as_array().unwrap() {
                let row = numbers(row);
                assert!(row.iter().all(|weight| (0.0..=1.0).contains(weight)));
                assert_close(row.iter().sum(), 1.0, 1e-5);
            }
        }
        let alone = json_lines(&translate(model, &["--format", "jsonl", "--attention"], "the\n"));
        let row = &alone[0]["translations"][0]["attention"][0];
        assert_eq!(row.as_array().unwrap().len(), 2);
    }
}

#[test]
fn p06_beam_search_ends_for_the_right_reason() {
    for model in families() {
        let input = "the\nthe black dog sleeps\n";
        let search = |options: &[&str]| {
            json_lines(&translate(model, &[&["--format", "jsonl"], options].concat(), input))
        };
        for (one, five) in search(&[]).iter().zip(search(&["--n-best", "5"])) {
            let all = candidates(&five);
            assert_eq!(candidates(one)[0], all[0]);
            assert_eq!(all.len(), 5);
            assert_eq!(all.iter().map(|entry| strings(&entry["tokens"])).collect::<BTreeSet<_>>().len(), 5);
            let scores: Vec<f64> = all.iter().map(|entry| entry["score"].as_f64().unwrap()).collect();
            assert!(scores.is_sorted_by(|a, b| a >= b));
            for entry in all {
                assert_eq!(entry["finished"], true);
                assert!(!strings(&entry["tokens"]).contains(&"</s>"));
                assert_eq!(entry["length"].as_u64().unwrap() as usize, strings(&entry["tokens"]).len() + 1);
            }
        }
        let cut = search(&["--max-length", "1", "--suppress", "</s>"]);
        for entry in cut.iter().flat_map(candidates) {
            assert_eq!((&entry["finished"], strings(&entry["tokens"]).len()), (&Value::Bool(false), 1));
        }
    }
}

#[test]
fn p07_scores_are_what_the_formulas_say() {
    type Formula = fn(f64, f64) -> f64;
    let formulas: [(&[&str], Formula); 4] = [
        (&["none"], |sum, _| sum),
        (&["average", "--alpha", "0"], |sum, _| sum),
        (&["average"], |sum, n| sum / n),
        (&["gnmt", "--alpha", "1"], |sum, n| sum / ((5.0 + n) / 6.0)),
    ];
    for model in families() {
        for (penalty, formula) in formulas {
            let options = [&["--format", "jsonl", "--n-best", "5", "--length-penalty"], penalty].concat();
            for entry in
                json_lines(&translate(model, &options, "the black dog sleeps\n")).iter().flat_map(candidates)
            {
                let (sum, n) = (entry["log_prob"].as_f64().unwrap(), entry["length"].as_f64().unwrap());
                assert_close(entry["score"].as_f64().unwrap(), formula(sum, n), 1e-12);
            }
        }
    }
}

#[test]
fn p08_n_best_beam_and_vocabulary_sizes() {
    for model in families() {
        // The vocabulary has some 70 entries.
        let wide =
            translate(model, &["--beam-size", "150", "--n-best", "150", "--format", "jsonl"], "the dog\n");
        let tokens: Vec<_> = json_lines(&wide);
        let different: BTreeSet<_> =
            candidates(&tokens[0]).iter().map(|entry| strings(&entry["tokens"])).collect();
        assert_eq!(different.len(), 150);
        regard(&["translate", model, "--n-best", "10", "--beam-size", "5"])
            .fails_with(2, &["n-best 10", "beam size 5"]);
        regard(&["translate", model, "--beam-size", "0"]).fails_with(2, &["beam size is 0"]);
        assert_eq!(regard(&["translate", model, "--beam-size", "-1"]).status, Some(2));
    }
}

#[test]
fn p09_forced_decoding_agrees_with_search() {
    let input = corpus(77, 20, (3, 12))[0].clone();
    for model in families() {
        let place = Place::new();
        let found = translate(model, &["--format", "jsonl", "--attention", "--n-best", "5"], &input);
        let file = place.write("found.jsonl", &found);
        let report = json(&regard(&["score", model, "--translations", &file, "--json"]).ok());
        let records = json_lines(&found);
        let entries: Vec<&Value> = records.iter().flat_map(candidates).collect();
        let scored = report["lines"].as_array().unwrap();
        assert_eq!(scored.len(), entries.len());
        for (line, entry) in scored.iter().zip(&entries) {
            assert_eq!(line["log_prob"], entry["log_prob"]);
            assert_eq!(line["token_log_probs"], entry["token_log_probs"]);
        }
        // Words are their own pieces here, so a text is cut into the same tokens again.
        for record in records.iter().take(5) {
            let (source, best) = (record["source"].as_str().unwrap(), &record["translations"][0]);
            let look =
                regard(&["look", model, source, "--tgt", best["text"].as_str().unwrap(), "--json"]).ok();
            assert_eq!(json(&look)["sites"][0]["weights"], best["attention"]);
        }
    }
}

#[test]
fn p14_a_vocabulary_of_another_model_is_refused() {
    for model in families() {
        let place = Place::new();
        let copy = place.copy_of(model, "model");
        let file = format!("{copy}/source.vocab.txt");
        let whole = fs::read_to_string(&file).unwrap();
        fs::write(&file, whole.clone() + "zebra\n").unwrap();
        let sizes = [format!("has {} bytes", whole.len() + 6), format!("says {}", whole.len())];
        regard(&["translate", &copy]).fails_with(1, &["source.vocab.txt", &sizes[0], &sizes[1]]);
    }
}

#[test]
fn p17_attention_on_the_end_symbol_or_on_padding() {
    for model in families() {
        let copied =
            translate(model, &["--replace-unk", "--suppress", "</s>", "--max-length", "4"], "zzqq\n");
        assert_eq!(copied.lines().count(), 1);
        assert!(!copied.contains("<unk>") && !copied.contains("<pad>"), "{copied}");
        let options = ["--format", "jsonl", "--alignment", "hard", "--attention"];
        // Beside a long line, so that there is padding.
        let input = format!("the black dog\n{}\n", ["the dog"; 12].join(" "));
        for record in json_lines(&translate(model, &options, &input)) {
            let entry = &record["translations"][0];
            let (columns, words) = (strings(&entry["source_tokens"]), strings(&entry["tokens"]).len());
            assert_eq!(columns.last(), Some(&"</s>"));
            assert_eq!(columns.len(), record["source"].as_str().unwrap().split(' ').count() + 1);
            let rows = entry["attention"].as_array().unwrap();
            assert_eq!(rows.len() as u64, entry["length"].as_u64().unwrap());
            assert!(rows.iter().all(|row| row.as_array().unwrap().len() == columns.len()));
            for link in entry["alignment"].as_array().unwrap() {
                let link = numbers(link);
                assert!((link[0] as usize) < columns.len() - 1 && (link[1] as usize) < words, "{link:?}");
            }
        }
    }
}
