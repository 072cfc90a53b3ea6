//! The audit: its values from its steps by other code, the same for any number of threads, what it says of known models, and the
//! models that it trains to hold against one.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::process::Command;

use common::{
    Place, assert_close, attention_model, corpus, fixed_vector_model, json, numbers, regard, train,
    transformer_model, uniform_model,
};
use serde_json::Value;

/// An audit of some sentences, and the file of its steps.
fn audit(place: &Place, model: &str, name: &str, options: &[&str]) -> (Value, String) {
    let [source, target] = corpus(9, 24, (5, 12));
    let (src, tgt) = (place.write("test.en", source), place.write("test.fr", target));
    let steps = place.at(&format!("{name}.steps.json"));
    let call = ["audit", model, "--src", &src, "--tgt", &tgt, "--json", "--quiet", "--steps-json", &steps];
    let document = regard(&[&call, options].concat()).ok();
    place.write(&format!("{name}.json"), &document);
    (json(&document), steps)
}

fn test<'a>(document: &'a Value, name: &str) -> &'a Value {
    document["tests"].as_array().unwrap().iter().find(|test| test["name"] == name).unwrap()
}

/// Runs `tests/recompute_audit.py` on an audit and its steps; nothing where there is no Python.
fn recompute(document: &str, steps: &str) -> Option<std::process::Output> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/recompute_audit.py");
    let python = Command::new("python3").args(["-B", script, document, steps]).output().ok();
    if python.is_none() {
        println!("skipped: no python3");
    }
    python
}

/// Every value of an audit is what its steps give: its value, its baseline and both ends of its interval.
fn assert_recomputed(place: &Place, name: &str, document: &Value) {
    let files = [format!("{name}.json"), format!("{name}.steps.json")].map(|name| place.at(&name));
    let Some(python) = recompute(&files[0], &files[1]) else { return };
    let said = String::from_utf8_lossy(&python.stdout).into_owned();
    assert!(python.status.success(), "{said}{}", String::from_utf8_lossy(&python.stderr));
    let values: usize = said.split(' ').next().unwrap().parse().unwrap();
    assert_eq!(values, 4 * document["tests"].as_array().unwrap().len());
}

#[test]
fn every_value_can_be_computed_again() {
    let place = Place::new();
    for (name, model) in [("recurrent", attention_model()), ("transformer", transformer_model())] {
        let (document, _) = audit(&place, model, name, &[]);
        assert_eq!(document["steps"].as_u64(), Some(96));
        assert_recomputed(&place, name, &document);
    }
}

/// The check sees a changed value, and a test that it does not know.
#[test]
fn what_cannot_be_computed_again_is_noticed() {
    let place = Place::new();
    let (document, steps) = audit(&place, attention_model(), "few", &["--sentences", "3"]);
    let refused = |edit: &dyn Fn(&mut Value), reason: &str| {
        let mut document = document.clone();
        edit(&mut document["tests"]);
        let edited = place.write("edited.json", document.to_string());
        let Some(python) = recompute(&edited, &steps) else { return };
        let said = String::from_utf8_lossy(&python.stderr).into_owned();
        assert!(!python.status.success() && said.contains(reason), "{said}");
    };
    refused(
        &|tests| tests[0]["name"] = "new".into(),
        "new (all words): there is no recomputation of this test",
    );
    refused(&|tests| tests[0]["baseline"] = 0.987.into(), "tau-gradient-states (all words) baseline");
    refused(&|tests| tests[0]["high"] = Value::Null, "tau-gradient-states (all words) high");
    let bleu = |tests: &mut Value| {
        let head = tests.as_array_mut().unwrap().iter_mut().find(|test| test["name"] == "bleu-without-head");
        head.unwrap()["value"] = 0.987.into();
    };
    refused(&bleu, "bleu-without-head (head 0.0)");
}

/// Every sample of one sentence is the same, which is no certainty.
#[test]
fn one_sentence_has_no_interval() {
    let place = Place::new();
    let html = place.at("one.html");
    let options = ["--sentences", "1", "--html", &html];
    let (document, _) = audit(&place, attention_model(), "one", &options);
    for test in document["tests"].as_array().unwrap() {
        assert_eq!((&test["low"], &test["high"]), (&Value::Null, &Value::Null), "{test}");
        assert!(test["value"].is_number() || test["steps"] == 0, "{test}");
    }
    assert_recomputed(&place, "one", &document);
    assert!(!fs::read_to_string(html).unwrap().contains(" to 0."));
    let [src, tgt] = ["test.en", "test.fr"].map(|name| place.at(name));
    let call = ["audit", attention_model(), "--src", &src, "--tgt", &tgt, "--sentences", "1", "--quiet"];
    let table = regard(&call).ok();
    let row = table.lines().find(|line| line.starts_with("permutation ")).unwrap();
    assert_eq!(row.split_whitespace().nth(6), Some("-"), "{row}");
}

/// The adversary, the uniform model and the other seed, trained by the model's own recipe.
#[test]
fn rivals_are_trained_and_held_against_the_model() {
    let place = Place::new();
    let recipe = place.recipe();
    let model = place.at("model");
    // Adversaries learn without a validation text, whatever the recipe has.
    let valid = "data.valid_source='train.en'";
    let changes = ["model.preset=bahdanau", valid, "data.valid_target='train.fr'", "validation.patience=3"];
    train(&recipe, &model, &changes);
    let (document, steps) = audit(&place, &model, "rivals", &["--adversary", "--threads", "1"]);
    assert_recomputed(&place, "rivals", &document);

    let value = |name: &str, site: &str, key: &str| {
        let tests = document["tests"].as_array().unwrap();
        tests.iter().find(|test| test["name"] == name && test["site"] == site).unwrap()[key].as_f64()
    };
    for name in ["rival-jsd", "rival-tvd"] {
        for site in ["adversary", "uniform"] {
            assert_eq!(value(name, site, "baseline"), value(name, "seed", "value"));
        }
        assert_eq!(value(name, "seed", "baseline"), None);
    }
    // The weights of the uniform model are even, so that its divergence is that of the model's own rows from even ones.
    let records = json(&fs::read_to_string(&steps).unwrap());
    let steps_of = records["steps"].as_array().unwrap();
    let to_even = |step: &Value| {
        let mut row = numbers(&step["attention"]);
        row.push(step["attention_on_end"].as_f64().unwrap());
        assert_close(row.iter().sum(), 1.0, 1e-6);
        let even = 1.0 / row.len() as f64;
        let nats = |x: f64, m: f64| if x > 0.0 { 0.5 * x * (x / m).ln() } else { 0.0 };
        let terms = row.iter().map(|&p| nats(p, 0.5 * (p + even)) + nats(even, 0.5 * (p + even)));
        terms.sum::<f64>()
    };
    let mean = steps_of.iter().map(to_even).sum::<f64>() / steps_of.len() as f64;
    assert_close(value("rival-jsd", "uniform", "value").unwrap(), mean, 1e-6);
    // The adversary was told to look elsewhere, and does, further than chance.
    assert!(value("rival-jsd-over-seed", "adversary", "low").unwrap() > 0.0, "{document}");
    let [seed, uniform] = ["seed", "uniform"].map(|site| value("rival-log-probability", site, "value"));
    assert!(seed > uniform, "{document}");
    let verdict = document["verdict"].as_str().unwrap();
    assert!(
        verdict.contains("trained adversary's attention is") && verdict.contains("frozen uniform"),
        "{verdict}"
    );
    assert!(document["limits"].to_string().contains("One adversary, one uniform model"));

    // What was trained is used again: the logs, times of training included, are the same.
    let logs = || {
        ["adversary", "uniform", "seed"]
            .map(|kind| fs::read(format!("{model}/adversary/{kind}/training_log.jsonl")))
    };
    let before = logs().map(Result::unwrap);
    let (again, _) = audit(&place, &model, "again", &["--adversary"]);
    assert_eq!(again["tests"], document["tests"]);
    assert_eq!(logs().map(Result::unwrap), before);
    // Not those of another model in its place.
    train(&recipe, &place.at("other"), &["model.preset=bahdanau", "seed=8", "training.updates=20"]);
    fs::rename(format!("{model}/adversary"), place.at("other/adversary")).unwrap();
    let [src, tgt] = ["test.en", "test.fr"].map(|name| place.at(name));
    regard(&["audit", &place.at("other"), "--src", &src, "--tgt", &tgt, "--adversary", "--quiet"])
        .fails_with(
            1,
            &["other/adversary/adversary (where it is of another model", "remove it to train it anew"],
        );
}

#[test]
fn rivals_that_cannot_be_trained_are_said() {
    let place = Place::new();
    let one = place.write("one", "the cat\n");
    let call =
        |model: &str| regard(&["audit", model, "--src", &one, "--tgt", &one, "--adversary", "--quiet"]);
    call(fixed_vector_model()).fails_with(2, &["audit: this model has one vector and nothing to look at"]);
    call(uniform_model()).fails_with(2, &["frozen uniform", "nothing to look away from"]);
    // Its text went away with the directory in which it was trained.
    let gone = ["recipe.toml: the text", "train.en is not there", "correct the path"];
    call(attention_model()).fails_with(1, &gone);
    let model = place.copy_of(attention_model(), "model");
    fs::remove_file(format!("{model}/recipe.toml")).unwrap();
    call(&model).fails_with(1, &["model/recipe.toml", "trains by the recipe that `regard train` leaves"]);
    assert!(!fs::exists(format!("{model}/adversary")).unwrap());
}

/// Before the work: the lines, of which none can be audited, are not looked at yet.
#[test]
fn a_path_that_cannot_be_written_is_told_first() {
    let place = Place::new();
    let (blank, nowhere) = (place.write("blank", "\n"), place.at("nowhere/file"));
    for option in ["--steps-json", "--html"] {
        regard(&["audit", attention_model(), "--src", &blank, "--tgt", &blank, option, &nowhere])
            .fails_with(1, &["nowhere/file: cannot be written"]);
    }
    // A run that fails leaves nothing behind.
    let page = place.at("page.html");
    regard(&["audit", attention_model(), "--src", &blank, "--tgt", &blank, "--html", &page])
        .fails_with(1, &["no line is left to audit"]);
    assert_eq!(fs::read_dir(place.at("")).unwrap().count(), 1);
}

#[test]
fn the_look_of_a_trained_model_is_load_bearing() {
    let place = Place::new();
    let (document, _) = audit(&place, attention_model(), "attention", &[]);
    assert!(document["verdict"].as_str().unwrap().starts_with("The attention is load-bearing"), "{document}");
    let strongest = test(&document, "strongest-removed");
    assert!(strongest["value"].as_f64().unwrap() > 3.0 * strongest["baseline"].as_f64().unwrap());
    let tau = test(&document, "tau-gradient-states");
    assert!(tau["low"].as_f64().unwrap() > 0.2 && tau["baseline"].as_f64().unwrap().abs() < 0.15, "{tau}");
    // Without its only head, the model is lost.
    let bleu = test(&document, "bleu-without-head");
    assert_eq!(bleu["site"], "head 0.0");
    assert!(bleu["value"].as_f64().unwrap() < -0.5 * bleu["baseline"].as_f64().unwrap(), "{bleu}");
}

#[test]
fn a_look_that_is_frozen_is_not_load_bearing() {
    let place = Place::new();
    let (document, _) = audit(&place, uniform_model(), "uniform", &[]);
    assert!(
        document["verdict"].as_str().unwrap().starts_with("The attention is not load-bearing"),
        "{document}"
    );
    // Even weights stay what they are, however they are shuffled, and have no order to agree with.
    assert!(test(&document, "permutation")["high"].as_f64().unwrap() < 1e-6);
    assert_eq!(test(&document, "tau-gradient-states")["value"], Value::Null);
    // The source is needed all the same.
    assert!(test(&document, "source-removed")["low"].as_f64().unwrap() > 0.1);
}

#[test]
fn another_look_leaves_the_words_alone_or_none_is_found() {
    let place = Place::new();
    let (_, steps) = audit(&place, attention_model(), "adversary", &[]);
    let records = json(&fs::read_to_string(steps).unwrap());
    let found: Vec<&Value> = records["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| &step["adversary"])
        .filter(|a| !a.is_null())
        .collect();
    assert_eq!(found.len(), 20);
    for adversary in &found {
        let (Some(jsd), Some(tvd)) = (adversary["jsd"].as_f64(), adversary["tvd"].as_f64()) else { continue };
        assert!((0.0..=2_f64.ln()).contains(&jsd) && (0.0..=0.05).contains(&tvd), "{adversary}");
    }
    assert!(found.iter().any(|adversary| adversary["jsd"].as_f64().is_some_and(|jsd| jsd > 0.05)));
}

/// Where the server finds it.
#[test]
fn the_last_audit_stays_with_the_model() {
    let place = Place::new();
    let model = place.copy_of(attention_model(), "model");
    let (document, _) = audit(&place, &model, "stored", &["--sentences", "3"]);
    assert_eq!(json(&fs::read_to_string(format!("{model}/audit.json")).unwrap()), document);
    assert_eq!(regard(&["translate", &model, "-i", &place.at("test.en"), "-o", &place.at("out")]).ok(), "");
}

#[test]
fn an_audit_is_the_same_for_any_number_of_threads() {
    let place = Place::new();
    let (one, steps) = audit(&place, transformer_model(), "one", &["--threads", "1"]);
    let (three, others) = audit(&place, transformer_model(), "three", &["--threads", "3"]);
    assert_eq!(one, three);
    assert_eq!(fs::read(steps).unwrap(), fs::read(others).unwrap());
    let (other, _) = audit(&place, transformer_model(), "seed", &["--seed", "2"]);
    assert_ne!(one["tests"], other["tests"]);
}

#[test]
fn a_page_has_the_verdict_and_pictures() {
    let place = Place::new();
    let html = place.at("audit.html");
    let (document, _) = audit(&place, attention_model(), "page", &["--html", &html]);
    let page = fs::read_to_string(html).unwrap();
    assert!(page.contains(document["verdict"].as_str().unwrap()));
    assert!(page.matches("<svg").count() >= 6 && page.contains("tau-gradient-states"));
    for limit in document["limits"].as_array().unwrap() {
        assert!(
            page.contains(&limit.as_str().unwrap().replace('\'', "&#39;"))
                || page.contains(limit.as_str().unwrap())
        );
    }
}

#[test]
fn what_cannot_be_audited_is_said() {
    let place = Place::new();
    let (blank, one) = (place.write("blank", "\n \n"), place.write("one", "the cat\n"));
    let call =
        |model: &'static str, src: &str, tgt: &str| regard(&["audit", model, "--src", src, "--tgt", tgt]);
    call(fixed_vector_model(), &one, &one).fails_with(2, &["one vector", "nothing to look at"]);
    let few = regard(&["audit", attention_model(), "--src", &one, "--tgt", &one, "--quiet"]).ok();
    assert!(few.contains("No verdict: 1 sentences are too few"), "{few}");
    call(attention_model(), &blank, &blank).fails_with(1, &["no line is left to audit"]);
    call(attention_model(), &one, &blank).fails_with(1, &["1 lines", "2", "belong together"]);
    regard(&["audit", attention_model(), "--src", &one, "--tgt", &one, "--sentences", "0"])
        .fails_with(2, &["--sentences 0"]);
}
