//! Commands that look at the same thing say the same thing: `translate`, `score`, `look` and `evaluate`.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;

use common::{
    Place, assert_close, attention_model, corpus, fixed_vector_model, json, json_lines, numbers, regard,
    strings, train, translate,
};
use regard_text::{Moses, MosesLanguage};
use serde_json::Value;

const ALL: [&str; 7] = ["--format", "jsonl", "--attention", "--alignment", "hard", "--n-best", "5"];

/// Twenty sentences, one with a word that the model does not know.
fn source() -> String {
    let [source, _] = corpus(77, 19, (3, 12));
    source + "the zzqq cat sleeps\n"
}

fn entries(record: &Value) -> &Vec<Value> {
    record["translations"].as_array().unwrap()
}

/// The pieces of a translation need not be those that its text is cut into again, and the length limit cuts some.
#[test]
fn the_tokens_of_every_entry_have_its_log_prob() {
    let place = Place::new();
    let (recipe, out) = (place.recipe(), place.at("run"));
    let pieces = ["tokenizer.kind=bpe", "tokenizer.merges=30", "training.updates=60"];
    train(&recipe, &out, &pieces);
    let options = ["--format", "jsonl", "--n-best", "10", "--beam-size", "10", "--max-length", "6"];
    let found = translate(&out, &options, &(source() + "\n"));
    let expected: Vec<Value> = json_lines(&found).iter().flat_map(|record| entries(record).clone()).collect();
    assert!(expected.iter().any(|entry| entry["finished"] == false));
    assert!(expected.iter().any(|entry| entry["finished"] == true && entry["length"] != 0));
    let file = place.write("found.jsonl", found);
    let report = json(&regard(&["score", &out, "--translations", &file, "--json"]).ok());
    let lines = report["lines"].as_array().unwrap();
    assert_eq!(lines.len(), expected.len());
    for (line, entry) in lines.iter().zip(&expected) {
        assert_eq!(line["length"], entry["length"]);
        assert_close(line["log_prob"].as_f64().unwrap(), entry["log_prob"].as_f64().unwrap(), 1e-5);
    }
    let (tokens, words) = (report["tokens"].as_u64().unwrap(), report["words"].as_u64().unwrap());
    let per = |count: u64| (-report["log_prob"].as_f64().unwrap() / count as f64).exp();
    assert_close(report["perplexity"].as_f64().unwrap(), per(tokens), 1e-9 * per(tokens));
    assert_close(report["word_perplexity"].as_f64().unwrap(), per(words), 1e-9 * per(words));
    assert!(tokens > words);
}

/// P09. An entry that the length limit cut has no end symbol, which `score` always counts; there are none here.
#[test]
fn the_score_of_every_entry_is_its_log_prob() {
    for model in [attention_model(), fixed_vector_model()] {
        let source = source() + "\n";
        // Short enough that a hardly trained model does not run into the limit.
        let found = translate(model, &["--format", "jsonl", "--n-best", "5", "--max-length", "60"], &source);
        let (mut sources, mut targets, mut expected) = (String::new(), String::new(), Vec::new());
        for record in json_lines(&found) {
            for entry in entries(&record).iter().filter(|entry| entry["finished"] == true) {
                sources += &(record["source"].as_str().unwrap().to_owned() + "\n");
                targets += &(entry["text"].as_str().unwrap().to_owned() + "\n");
                expected.push(entry.clone());
            }
        }
        assert!(expected.len() >= 80, "{} entries are finished", expected.len());
        let place = Place::new();
        let (src, tgt) = (place.write("src", sources), place.write("tgt", targets));
        let report = json(&regard(&["score", model, "--src", &src, "--tgt", &tgt, "--json"]).ok());
        let lines = report["lines"].as_array().unwrap();
        assert_eq!(lines.len(), expected.len());
        for (index, (line, entry)) in lines.iter().zip(&expected).enumerate() {
            assert_eq!((&line["id"], &line["length"]), (&Value::from(index), &entry["length"]));
            assert_close(line["log_prob"].as_f64().unwrap(), entry["log_prob"].as_f64().unwrap(), 1e-5);
            let of_tokens = numbers(&line["token_log_probs"]);
            assert_close(of_tokens.iter().sum(), line["log_prob"].as_f64().unwrap(), 1e-5);
            for (found, expected) in of_tokens.iter().zip(numbers(&entry["token_log_probs"])) {
                assert_close(*found, expected, 1e-5);
            }
        }
        let sum = |key: &str| lines.iter().map(|line| line[key].as_f64().unwrap()).sum::<f64>();
        assert_close(report["log_prob"].as_f64().unwrap(), sum("log_prob"), 1e-6);
        assert_close(report["tokens"].as_f64().unwrap(), sum("length"), 0.0);
        let perplexity = (-sum("log_prob") / sum("length")).exp();
        assert_close(report["perplexity"].as_f64().unwrap(), perplexity, 1e-9 * perplexity);

        // Without --json, the same numbers to six decimals.
        let plain = regard(&["score", model, "--src", &src, "--tgt", &tgt, "--batch-size", "3"]).ok();
        for (line, found) in lines.iter().zip(plain.lines()) {
            assert_eq!(found, format!("{:.6}", line["log_prob"].as_f64().unwrap()));
        }
    }
}

#[test]
fn lists_are_sorted_and_different_and_begin_with_the_best() {
    let source = source();
    let lists = json_lines(&translate(attention_model(), &["--format", "jsonl", "--n-best", "5"], &source));
    let best = json_lines(&translate(attention_model(), &["--format", "jsonl"], &source));
    for (list, best) in lists.iter().zip(&best) {
        let entries = entries(list);
        assert_eq!((entries.len(), &entries[0]), (5, &best["translations"][0]));
        for (index, entry) in entries.iter().enumerate() {
            // The average log-probability of a token, as the help has it.
            let average = entry["log_prob"].as_f64().unwrap() / entry["length"].as_f64().unwrap();
            assert_close(entry["score"].as_f64().unwrap(), average, 1e-9);
            let before = entries[..index].last().map_or(0.0, |before| before["score"].as_f64().unwrap());
            assert!(entry["score"].as_f64().unwrap() <= before);
            assert!(entries[..index].iter().all(|before| before["tokens"] != entry["tokens"]));
            let tokens = strings(&entry["tokens"]);
            assert!(!tokens.contains(&"</s>") && !tokens.contains(&"<pad>"));
            assert_eq!(tokens.join(" "), entry["text"].as_str().unwrap());
        }
    }
    let moses = translate(attention_model(), &["--n-best", "5"], &source);
    let expected = lists.iter().enumerate().flat_map(|(id, list)| {
        entries(list).iter().map(move |entry| {
            let text = entry["text"].as_str().unwrap();
            let [log_prob, score] = ["log_prob", "score"].map(|key| entry[key].as_f64().unwrap());
            format!("{id} ||| {text} ||| F0= {log_prob:.6} ||| {score:.6}\n")
        })
    });
    assert_eq!(moses, expected.collect::<String>());
}

#[test]
fn rows_of_attention_belong_to_tokens_and_sum_to_one() {
    let found = json_lines(&translate(attention_model(), &ALL, source()));
    for record in &found {
        let words: Vec<&str> = record["source"].as_str().unwrap().split(' ').chain(["</s>"]).collect();
        for entry in entries(record) {
            assert_eq!(strings(&entry["source_tokens"]), words);
            let rows = entry["attention"].as_array().unwrap();
            let tokens = strings(&entry["tokens"]).len();
            let end = usize::from(entry["finished"] == true);
            assert_eq!(rows.len(), tokens + end);
            assert_eq!(rows.len() as u64, entry["length"].as_u64().unwrap());
            let rows: Vec<Vec<f64>> = rows.iter().map(numbers).collect();
            for row in &rows {
                assert_eq!(row.len(), words.len());
                assert_close(row.iter().sum(), 1.0, 1e-5);
                assert!(row.iter().all(|weight| (0.0..=1.0).contains(weight)));
            }
            // Each word is linked to the word with its largest weight, never to the end symbol.
            let strongest = |row: &[f64]| {
                let words = row[..words.len() - 1].iter().enumerate();
                words
                    .fold(
                        (0, 0.0),
                        |best, (place, &weight)| if weight > best.1 { (place, weight) } else { best },
                    )
                    .0
            };
            let links: Vec<[usize; 2]> =
                rows[..tokens].iter().enumerate().map(|(t, row)| [strongest(row), t]).collect();
            assert_eq!(entry["alignment"], serde_json::to_value(links).unwrap());
        }
    }
}

#[test]
fn alignments_in_text_are_those_of_the_records() {
    let records = json_lines(&translate(attention_model(), &ALL, source()));
    let best = |record: &Value| record["translations"][0].clone();
    let hard = translate(attention_model(), &["--alignment", "hard"], source());
    let soft = translate(attention_model(), &["--alignment", "soft"], source());
    for ((record, hard), soft) in records.iter().map(best).zip(hard.lines()).zip(soft.lines()) {
        let links = record["alignment"].as_array().unwrap();
        let links: Vec<String> = links.iter().map(|link| format!("{}-{}", link[0], link[1])).collect();
        let text = record["text"].as_str().unwrap();
        assert_eq!(hard, format!("{text} ||| {}", links.join(" ")));
        let (_, weights) = soft.split_once(" ||| ").unwrap();
        let rows = weights.split(' ').zip(record["attention"].as_array().unwrap());
        for (row, expected) in rows {
            let row: Vec<f64> = row.split(',').map(|weight| weight.parse().unwrap()).collect();
            assert_eq!(row.len(), numbers(expected).len());
            for (found, expected) in row.iter().zip(numbers(expected)) {
                assert_close(*found, expected, 1e-7);
            }
        }
    }
}

fn look(options: &[&str], text: &str) -> Value {
    json(&regard(&[&["look", attention_model(), text, "--json"], options].concat()).ok())
}

fn weights(look: &Value) -> Vec<Vec<f64>> {
    let [site] = look["sites"].as_array().unwrap().as_slice() else { panic!("{look}") };
    assert_eq!((&site["site"], &site["layer"], &site["head"]), (&"cross".into(), &0.into(), &0.into()));
    site["weights"].as_array().unwrap().iter().map(numbers).collect()
}

/// With Moses' tokenizer around a model, BLEU in its training is that of Moses' tokens on both sides.
#[test]
fn validation_bleu_is_that_of_moses_tokens() {
    let place = Place::new();
    let recipe = place.recipe();
    // Punctuation that Moses' tokenizer cuts off.
    for name in ["train.en", "train.fr"] {
        let text = fs::read_to_string(place.at(name)).unwrap();
        place.write(name, text.replace('\n', ", \"yes\".\n"));
    }
    let run = place.at("run");
    let sets = [
        "tokenizer.moses=raw",
        "data.valid_source=train.en",
        "data.valid_target=train.fr",
        "validation.metric=bleu",
        "validation.max_lines=40",
        "training.updates=60",
        "training.validate_every=60",
    ];
    train(&recipe, &run, &sets);
    let log = json_lines(&fs::read_to_string(format!("{run}/training_log.jsonl")).unwrap());
    let logged = log.last().unwrap()["valid"]["bleu"].as_f64().unwrap();

    let moses = |name: &str, language| {
        let text = fs::read_to_string(place.at(name)).unwrap();
        let moses = Moses { language, escape: true };
        let lines = text.lines().take(40).map(|line| moses.tokenize(line).join(" ") + "\n");
        lines.collect::<String>()
    };
    let source = moses("train.en", MosesLanguage::En);
    let hypothesis = place.write("hyp", translate(&run, &["--pretokenized"], source));
    let reference = place.write("ref", moses("train.fr", MosesLanguage::Fr));
    let call =
        ["evaluate", &hypothesis, "--ref", &reference, "--metrics", "bleu", "--tokenize", "none", "--json"];
    let evaluated = json(&regard(&call).ok());
    assert!(logged > 5.0, "{logged}");
    assert_close(logged, evaluated[0]["score"].as_f64().unwrap(), 1e-9);
}

#[test]
fn look_sees_what_translate_returns() {
    for record in json_lines(&translate(attention_model(), &ALL, source())) {
        let (source, best) = (record["source"].as_str().unwrap(), &record["translations"][0]);
        let seen = look(&[], source);
        assert_eq!((&seen["text"], &seen["source_tokens"]), (&best["text"], &best["source_tokens"]));
        assert_eq!(strings(&seen["target_tokens"]), [strings(&best["tokens"]), vec!["</s>"]].concat());
        assert_eq!(seen["sites"][0]["weights"], best["attention"]);
        // The same weights when it reads that translation instead of writing it.
        let forced = look(&["--tgt", best["text"].as_str().unwrap()], source);
        assert_eq!(forced["target_tokens"], seen["target_tokens"]);
        for (forced, free) in weights(&forced).iter().zip(weights(&seen)) {
            for (forced, free) in forced.iter().zip(free) {
                assert_close(*forced, free, 1e-5);
            }
        }
    }
}

#[test]
fn look_says_what_the_model_has_not_known() {
    let options = ["--tgt", "le zèbre noir"];
    let seen = look(&options, "the zebra sleeps");
    assert_eq!(strings(&seen["source_tokens"]), ["the", "zebra", "sleeps", "</s>"]);
    assert_eq!(strings(&seen["target_tokens"]), ["le", "zèbre", "noir", "</s>"]);
    assert_eq!((&seen["source_unknown"], &seen["target_unknown"]), (&[1].into(), &[1].into()));
    let shown = |options: &[&str]| {
        let call = ["look", attention_model(), "the zebra sleeps", "--plain", "--width", "100"];
        regard(&[call.as_slice(), options].concat()).ok()
    };
    let (free, forced) = (shown(&[]), shown(&options));
    assert!(free.contains("<unk> (zebra)") && !free.contains("<unk> (</s>)"), "{free}");
    assert!(forced.contains("<unk> (zebra)") && forced.contains("<unk> (zèbre)"), "{forced}");
    let known = look(&[], "the black cat sleeps");
    assert_eq!(
        (&known["source_unknown"], &known["target_unknown"]),
        (&Value::from([0; 0]), &Value::from([0; 0]))
    );
}

#[test]
fn a_low_temperature_sharpens_and_a_high_one_flattens() {
    let [line, target] = ["the black cat sleeps on the red chair", "le chat noir dort sur la chaise rouge"];
    let entropy = |options: &[&str]| {
        let seen = look(&[&["--tgt", target], options].concat(), line);
        let rows = weights(&seen);
        let entropy = |row: &Vec<f64>| -row.iter().filter(|w| **w > 0.0).map(|w| w * w.ln()).sum::<f64>();
        for row in &rows {
            assert_close(row.iter().sum(), 1.0, 1e-5);
        }
        entropy(&rows[0])
    };
    let (sharp, plain, flat) =
        (entropy(&["--temperature", "0.2"]), entropy(&[]), entropy(&["--temperature", "4"]));
    assert!(sharp < plain && plain < flat, "{sharp} {plain} {flat}");
}

#[test]
fn an_intervention_shows_before_and_after() {
    let line = "the black cat sleeps on the red chair";
    let plain = look(&[], line);
    let specs = ["--intervene", "uniform", "--intervene", "remove:src=0,1@step=2"];
    let seen = look(&specs, line);
    let effect = &seen["intervention"];
    assert_eq!(strings(&effect["spec"]), ["uniform", "remove:src=0,1@step=2"]);
    assert_eq!((&seen["text"], &seen["sites"]), (&plain["text"], &plain["sites"]));
    assert_ne!(effect["text"], plain["text"]);
    let (before, after) = (strings(&seen["target_tokens"]), strings(&effect["target_tokens"]));
    let first = effect["first_change"].as_u64().unwrap() as usize;
    assert_eq!(before[..first], after[..first]);
    assert_ne!(before.get(first), after.get(first));
    let steps = effect["steps"].as_array().unwrap();
    assert_eq!(steps.iter().map(|step| step["token"].as_str().unwrap()).collect::<Vec<_>>(), before);
    for (step, log_prob) in steps.iter().zip(seen["token_log_probs"].as_array().unwrap()) {
        assert_eq!(&step["log_prob"], log_prob);
        let (tvd, jsd) = (step["tvd"].as_f64().unwrap(), step["jsd"].as_f64().unwrap());
        // Lin 1991: the divergence is at most ln 2 times the total variation, and at least half its square.
        assert!(jsd <= tvd * 2_f64.ln() + 1e-6 && jsd >= tvd * tvd / 2.0 - 1e-6, "{tvd} {jsd}");
        // One word's probability moves by no more than the total variation.
        let moved =
            (step["log_prob"].as_f64().unwrap().exp() - step["log_prob_after"].as_f64().unwrap().exp()).abs();
        assert!(moved <= tvd + 1e-6);
    }
    for row in weights(effect) {
        assert!(row.iter().all(|weight| (weight - row[0]).abs() < 1e-6), "{row:?}");
    }
    let call = ["look", attention_model(), line, "--plain", "--intervene", "remove:src=1"];
    let shown = regard(&call).ok();
    assert!(shown.contains("remove:src=1") && shown.contains("JSD"), "{shown}");
}

#[test]
fn a_model_without_attention_says_so() {
    let ran = regard(&["look", fixed_vector_model(), "the cat sleeps", "--json"]);
    assert_eq!(ran.err, "this model hands the source over as one vector: there is no attention to look at\n");
    let seen = json(&ran.ok());
    assert_eq!(strings(&seen["source_tokens"]), ["the", "cat", "sleeps", "</s>"]);
    assert_eq!(seen["sites"].as_array().unwrap().len(), 0);
}

#[test]
fn evaluate_is_what_sacrebleu_says() {
    // P20: sacreBLEU 2.6.0 says 75.15, brevity penalty 0.751.
    let place = Place::new();
    let hyp = place.write("hyp", "a small dog sleeps here\n\nthe end\n");
    let reference = place.write("ref", "a small dog sleeps here\nrain tomorrow\nthe end\n");
    let found = json(&regard(&["evaluate", &hyp, "--ref", &reference, "--json", "--sentence"]).ok());
    let [bleu] = found.as_array().unwrap().as_slice() else { panic!("{found}") };
    assert_eq!((&bleu["system"], &bleu["name"]), (&hyp.as_str().into(), &"BLEU".into()));
    assert_close(bleu["score"].as_f64().unwrap(), 75.15, 0.005);
    assert_close(bleu["brevity_penalty"].as_f64().unwrap(), 0.751, 0.0005);
    assert_eq!((&bleu["hyp_len"], &bleu["ref_len"]), (&7.into(), &9.into()));
    let signature = bleu["signature"].as_str().unwrap();
    assert!(signature.starts_with("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|"), "{signature}");
    let sentences = numbers(&bleu["sentences"]);
    assert_close(sentences[0], 100.0, 1e-9);
    assert_close(sentences[1], 0.0, 0.0);
    assert_close(sentences[2], 100.0, 1e-9);
    assert!(bleu["by_length"].is_null());

    let text = regard(&["evaluate", &hyp, "--ref", &reference]).ok();
    assert!(text.starts_with(&format!("BLEU|{signature} = 75.1 ")), "{text}");
    let lower = regard(&["evaluate", &hyp, "--ref", &reference, "--lowercase", "--tokenize", "none"]).ok();
    assert!(lower.contains("case:lc|eff:no|tok:none|"), "{lower}");
}

#[test]
fn evaluate_by_length_counts_the_lines_of_each_bucket() {
    let place = Place::new();
    let words = |count: usize| (1..=count).map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ");
    let lengths = [3, 10, 11, 20, 21, 45, 60, 61, 80];
    let src = place.write("src", lengths.map(words).join("\n"));
    // Right but for the lines of 11 to 20 words.
    let hyp = lengths
        .map(|length| if (11..=20).contains(&length) { "nothing of it".to_owned() } else { words(length) });
    let hyp = place.write("hyp", hyp.join("\n"));
    let args = ["evaluate", &hyp, "--ref", &src, "--src", &src, "--by-length"];
    let found = json(&regard(&[args.as_slice(), &["--json"]].concat()).ok());
    let buckets = found[0]["by_length"].as_array().unwrap();
    let numbers = |key: &str| buckets.iter().map(|bucket| bucket[key].as_u64()).collect::<Vec<_>>();
    assert_eq!(numbers("from"), [1, 11, 21, 31, 41, 51, 61].map(Some));
    assert_eq!(numbers("to"), [Some(10), Some(20), Some(30), Some(40), Some(50), Some(60), None]);
    assert_eq!(numbers("lines"), [2, 2, 1, 0, 1, 1, 2].map(Some));
    let scores: Vec<Option<f64>> = buckets.iter().map(|bucket| bucket["score"].as_f64()).collect();
    for (place, score) in scores.iter().enumerate() {
        match place {
            1 => assert!(score.unwrap() < 1.0),
            3 => assert_eq!(*score, None, "no line, no score"),
            _ => assert_close(score.unwrap(), 100.0, 1e-9),
        }
    }
    let text = regard(&args).ok();
    assert!(text.contains("   31-40 words       0 lines       - BLEU\n"), "{text}");
    assert!(text.contains("     61+ words       2 lines   100.0 BLEU (95 %: 100.0 to 100.0)\n"), "{text}");

    // `curve` has the same numbers, in a table, as JSON and as CSV; two files of one name are told apart.
    let other = place.at("other");
    std::fs::create_dir(&other).unwrap();
    let other = place.write("other/hyp", std::fs::read(&src).unwrap());
    let csv = place.at("curve.csv");
    let args = ["curve", &hyp, &other, "--ref", &src, "--src", &src, "--csv", &csv, "--json"];
    let curves = json(&regard(&args).ok());
    assert_eq!(&curves[0]["by_length"], &found[0]["by_length"]);
    assert_eq!(
        [&curves[0]["system"], &curves[1]["system"]],
        [&Value::from(hyp.as_str()), &other.as_str().into()]
    );
    let csv = std::fs::read_to_string(&csv).unwrap();
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows.len(), 1 + 2 * 7);
    assert_eq!(rows[0], "system,from,to,lines,bleu,low,high");
    assert_eq!(rows[4], format!("\"{hyp}\",31,40,0,,,"));
    assert_eq!(rows[14], format!("\"{other}\",61,,2,100,100,100"));
}

#[test]
fn info_describes_the_model() {
    let info = json(&regard(&["info", attention_model(), "--json"]).ok());
    assert_eq!((&info["source_language"], &info["target_language"]), (&"en".into(), &"fr".into()));
    // The words of the language and the four special tokens.
    assert_eq!((&info["source_vocabulary"], &info["target_vocabulary"]), (&56.into(), &70.into()));
    assert_eq!((&info["attention"], &info["config"]["encoder"]["hidden"]), (&true.into(), &24.into()));
    let weights = std::fs::metadata(format!("{}/model.safetensors", attention_model())).unwrap().len();
    let parameters = info["parameters"].as_u64().unwrap();
    assert!((4 * parameters..4 * parameters + 4000).contains(&weights), "{parameters} and {weights} bytes");
    let fixed = json(&regard(&["info", fixed_vector_model(), "--json"]).ok());
    assert_eq!(fixed["attention"], false);
}
