//! Numbers that mean what they say.

use std::fs;

use regard::model::{ModelInfo, Preset, checkpoint};
use regard::tensor::Tensor;
use regard::text::{Normalizer, Pipeline, Tokenizer};

use crate::common::{Place, assert_close, assert_same_run, json, json_lines, numbers, regard, train, tree};

#[test]
fn p10_resume_means_continue() {
    let place = Place::new();
    let recipe = place.recipe();
    let [whole, halves] = ["whole", "halves"].map(|name| place.at(name));
    let run = |out: &str, updates: &str| {
        regard(&["train", &recipe, "--out", out, "--quiet", "--set", updates, "--resume"]).ok()
    };
    run(&whole, "training.updates=60");
    run(&halves, "training.updates=30");
    let log = |out: &str| json_lines(&fs::read_to_string(format!("{out}/training_log.jsonl")).unwrap());
    assert_eq!(log(&halves).len(), 3);
    run(&halves, "training.updates=60");
    let (a, b) = (log(&whole), log(&halves));
    assert_eq!((a.len(), b.len()), (6, 6));
    for (a, b) in a.iter().zip(&b) {
        for field in ["step", "epoch", "tokens", "loss", "perplexity", "learning_rate"] {
            assert_eq!(a[field], b[field], "{field}");
        }
        assert!(b["seconds"].as_f64() > Some(0.0));
    }
    let seconds: Vec<f64> = b.iter().map(|record| record["seconds"].as_f64().unwrap()).collect();
    assert!(seconds.is_sorted(), "the clock goes on: {seconds:?}");
    assert_same_run(&halves, &whole);
    // A finished run with the same limit does nothing and ends well.
    let before = tree(&halves);
    run(&halves, "training.updates=60");
    assert!(tree(&halves) == before);
}

/// A model that gives every target token the same probability at every step, `probabilities` by id.
fn model_of_one_distribution(place: &Place, probabilities: [f32; 4]) -> String {
    let pipeline = Pipeline::build(Normalizer::None, Tokenizer::Word, [""; 0], None, 1);
    let small = serde_json::json!({ "embedding": 2, "encoder": { "hidden": 2 }, "decoder": { "hidden": 2 } });
    let info = ModelInfo {
        config: Preset::Bahdanau.config().with_changes(&small).unwrap(),
        source_language: String::new(),
        target_language: String::new(),
        source: pipeline.clone(),
        target: pipeline,
    };
    let mut network = info.build(1).unwrap();
    let parameters = network.parameters_mut();
    let zeros = parameters.get("output.weight").unwrap().shape();
    parameters.set("output.weight", Tensor::new(zeros, vec![0.0; zeros.len()]).unwrap()).unwrap();
    let bias = parameters.get("output.bias").unwrap().shape();
    parameters.set("output.bias", Tensor::new(bias, probabilities.map(f32::ln).to_vec()).unwrap()).unwrap();
    let directory = place.at("model");
    fs::create_dir(&directory).unwrap();
    checkpoint::save(directory.as_ref(), &info, network.parameters()).unwrap();
    directory
}

#[test]
fn p19_perplexity_is_about_the_true_words_only() {
    // One target token, the end symbol of an empty line, whose probability is 0.7.
    let place = Place::new();
    let model = model_of_one_distribution(&place, [0.1, 0.1, 0.1, 0.7]);
    let (src, tgt) = (place.write("src", "x\n"), place.write("tgt", "\n"));
    let report = json(&regard(&["score", &model, "--src", &src, "--tgt", &tgt, "--json"]).ok());
    assert_eq!((&report["tokens"], &report["lines"][0]["length"]), (&1.into(), &1.into()));
    assert_close(report["log_prob"].as_f64().unwrap(), -0.3567, 5e-5);
    assert_close(report["perplexity"].as_f64().unwrap(), 1.4286, 5e-5);
    // Padding is no token: a longer line in the same batch changes nothing.
    let (src, tgt) = (place.write("src", "x\nx\n"), place.write("tgt", "\na b c\n"));
    let report = json(&regard(&["score", &model, "--src", &src, "--tgt", &tgt, "--json"]).ok());
    assert_eq!((&report["tokens"], &report["lines"][0]["length"]), (&5.into(), &1.into()));
    assert_close(report["lines"][0]["log_prob"].as_f64().unwrap(), -0.3567, 5e-5);
    assert_eq!(numbers(&report["lines"][1]["token_log_probs"]).len(), 4);

    let empty = place.write("empty", "");
    let ran = regard(&["score", &model, "--src", &empty, "--tgt", &empty]);
    assert_eq!(ran.err, "there are no tokens, and so no perplexity\n");
    assert_eq!(ran.ok(), "");
    let report = json(&regard(&["score", &model, "--src", &empty, "--tgt", &empty, "--json"]).ok());
    assert_eq!(
        report,
        serde_json::json!({"lines": [], "log_prob": 0.0, "tokens": 0, "perplexity": null,
        "words": 0, "word_perplexity": null})
    );
}

#[test]
fn p19_the_log_leaves_the_smoothing_out() {
    let place = Place::new();
    let recipe = place.recipe();
    let first = |smoothing: &str| {
        let out = place.at(smoothing);
        // A rate at which nothing is learned, all pairs in one batch and no noise: what is logged is the model as it is.
        let changes = [
            smoothing,
            "training.updates=1",
            "training.report_every=1",
            "training.batch_sentences=300",
            "model.dropout=0.0",
            "training.schedule.learning_rate=1e-12",
        ];
        train(&recipe, &out, &changes);
        let log = json_lines(&fs::read_to_string(format!("{out}/training_log.jsonl")).unwrap());
        ["loss", "perplexity"].map(|field| log[0][field].as_f64().unwrap())
    };
    let [plain_loss, plain] = first("training.label_smoothing=0.0");
    let [smooth_loss, smooth] = first("training.label_smoothing=0.3");
    assert_close(plain, smooth, 1e-6 * plain);
    assert_close(plain_loss.exp(), plain, 1e-6 * plain);
    assert!((smooth_loss - plain_loss).abs() > 1e-4, "{smooth_loss} and {plain_loss}");
    let (model, src, tgt) =
        (place.at("training.label_smoothing=0.0"), place.at("train.en"), place.at("train.fr"));
    let report = json(&regard(&["score", &model, "--src", &src, "--tgt", &tgt, "--json"]).ok());
    assert_close(report["perplexity"].as_f64().unwrap(), plain, 1e-5 * plain);
}
