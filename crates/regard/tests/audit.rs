//! The audit: its values from its steps by other code, the same for any number of threads, and what it says of known models.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::process::Command;

use common::{
    Place, attention_model, corpus, fixed_vector_model, json, regard, transformer_model, uniform_model,
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

#[test]
fn every_value_can_be_computed_again() {
    let place = Place::new();
    for (name, model) in [("recurrent", attention_model()), ("transformer", transformer_model())] {
        let (document, steps) = audit(&place, model, name, &[]);
        assert_eq!(document["steps"].as_u64(), Some(96));
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/recompute_audit.py");
        let python =
            Command::new("python3").arg(script).arg(place.at(&format!("{name}.json"))).arg(&steps).output();
        let Ok(python) = python else {
            println!("skipped: no python3");
            return;
        };
        let said = String::from_utf8_lossy(&python.stdout).into_owned();
        assert!(python.status.success(), "{said}{}", String::from_utf8_lossy(&python.stderr));
        let values: usize = said.split(' ').next().unwrap().parse().unwrap();
        assert!(values >= 2 * document["tests"].as_array().unwrap().len(), "{said}");
    }
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
