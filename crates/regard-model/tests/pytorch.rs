//! Losses and gradients against plain PyTorch in float64, for every piece of the configuration
//! (`tests/goldens/make_models.py`).
//!
//! Per weight ‖g − g′‖ ≤ 1e-5 · ‖g′‖, however small g′ is beside the whole gradient.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use regard_model::{ModelConfig, Parameters, Preset, Row, Run, Scored, Seq2Seq, Training};
use regard_tensor::{Tape, Tensor, Threads};
use regard_text::{Batch, Pair, special_tokens::BOS};
use serde_json::Value;

const TOLERANCE: f64 = 1e-5;

#[test]
fn losses_and_gradients_agree_with_pytorch() {
    let stored = stored();
    let failures: Vec<_> = cases(&stored).flat_map(|case| disagreements(case, &batch(&stored))).collect();
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// The way of translation, one step after the other, gives the right tokens the same probabilities.
#[test]
fn single_steps_agree_with_pytorch() {
    let stored = stored();
    let wrong = |case: &&Value| {
        let expected = case["negative_log_likelihood"].as_f64().unwrap();
        (forced(&*model(case), &batch(&stored)) - expected).abs() > TOLERANCE * expected
    };
    let failures: Vec<_> = cases(&stored).filter(wrong).map(|case| &case["name"]).collect();
    assert!(failures.is_empty(), "{failures:?}");
}

fn stored() -> Value {
    serde_json::from_str(include_str!("data/models.json")).unwrap()
}

fn cases(stored: &Value) -> impl Iterator<Item = &Value> {
    stored["cases"].as_array().unwrap().iter()
}

fn batch(stored: &Value) -> Batch {
    let ids = |list: &Value| list.as_array().unwrap().iter().map(|id| id.as_u64().unwrap() as u32).collect();
    let pair = |pair: &Value| Pair { source: ids(&pair["source"]), target: ids(&pair["target"]) };
    let pairs: Vec<_> = stored["batch"].as_array().unwrap().iter().map(pair).collect();
    Batch::collate(&pairs, &(0..pairs.len()).collect::<Vec<_>>())
}

fn model(case: &Value) -> Box<dyn Seq2Seq> {
    let preset: Preset = serde_json::from_value(case["preset"].clone()).unwrap();
    let config: ModelConfig = preset.config().with_changes(&case["changes"]).unwrap();
    let vocabulary = |side: usize| case["vocabularies"][side].as_u64().unwrap() as usize;
    let mut model = config.build(vocabulary(0), vocabulary(1), 1).unwrap();
    draw(model.parameters_mut(), case["scale"].as_f64().unwrap());
    model
}

/// Weights within ±5/16 · scale (gains: ±5/16 around 1) that f32 holds exactly: a linear congruential generator started
/// at the 32-bit FNV-1a hash of the name.
fn draw(parameters: &mut Parameters, scale: f64) {
    let names = parameters.names().to_vec();
    for (name, value) in names.iter().zip(parameters.values_mut()) {
        let hash = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        let mut state = name.bytes().fold(0x811C_9DC5, hash);
        let (centre, factor) =
            if name.rsplit('.').next() == Some("gain") { (1.0, 1.0) } else { (0.0, scale) };
        for value in value.values_mut() {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let unit = f64::from(state >> 12) / f64::from(1 << 19) - 1.0;
            *value = (centre + unit * 5.0 / 16.0 * factor) as f32;
        }
    }
}

/// What a case has otherwise than PyTorch, in words.
fn disagreements(case: &Value, batch: &Batch) -> Vec<String> {
    let (name, model) = (&case["name"], model(case));
    let threads = Threads::single();
    let tape = Tape::new(&threads);
    let weights = model.parameters().leaves(&tape);
    let number = |key: &str| case[key].as_f64().unwrap();
    let (label_smoothing, factor) = (number("label_smoothing"), number("factor"));
    let training = Training {
        tape: &tape,
        weights: &weights,
        noise: None,
        label_smoothing,
        scored: Scored::All,
        factor,
        hook: None,
    };
    let output = model.loss(&training, batch).unwrap();
    let mut found = Vec::new();
    let mut compare = |what: &str, ours: f64, theirs: f64| {
        if (ours - theirs).abs() > 1e-6 * theirs {
            found.push(format!("{name}: {what} {ours}, PyTorch has {theirs}"));
        }
    };
    compare("loss", output.loss.value().item().into(), number("loss"));
    compare("negative log-likelihood", output.negative_log_likelihood, number("negative_log_likelihood"));
    assert_eq!(output.tokens, batch.target.tokens());
    let gradients = tape.backward(&output.loss).unwrap();
    let expected = case["gradients"].as_object().unwrap();
    let mut names: Vec<_> = model.parameters().names().iter().collect();
    names.sort();
    assert_eq!(names, expected.keys().collect::<Vec<_>>(), "{name}: the names of the weights");
    for (weight, leaf) in model.parameters().names().iter().zip(&weights) {
        let ours = gradients.get(leaf).unwrap_or_else(|| Tensor::zeros(leaf.shape()));
        let sizes = serde_json::json!(ours.shape().sizes());
        assert_eq!(sizes, expected[weight][0], "{name}: the shape of {weight}");
        let theirs = decode(&expected[weight][1]);
        let distance = norm(ours.values().iter().zip(&theirs).map(|(&a, b)| f64::from(a) - b));
        let mut size = norm(theirs.into_iter());
        if let Some(layer) = weight.strip_suffix("key.bias").filter(|_| size == 0.0) {
            // What shifts all scores of a row alike changes nothing; ours is rounding, beside the query's gradient.
            size = norm(decode(&expected[&format!("{layer}query.bias")][1]).into_iter());
        }
        assert!(size > 0.0, "{name}: {weight} has no gradient");
        if distance > TOLERANCE * size {
            found.push(format!("{name}: the gradient of {weight} is off by {:.1e}", distance / size));
        }
    }
    found
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

/// Little-endian float32 in base64.
fn decode(text: &Value) -> Vec<f64> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for digit in text.as_str().unwrap().trim_end_matches('=').chars() {
        bits = bits << 6 | DIGITS.find(digit).unwrap() as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    let (words, rest) = bytes.as_chunks();
    assert!(rest.is_empty());
    words.iter().map(|&word| f64::from(f32::from_le_bytes(word))).collect()
}

/// Σ −log p of the right tokens, all sentences side by side, step by step.
fn forced(model: &dyn Seq2Seq, batch: &Batch) -> f64 {
    let threads = Threads::single();
    let tape = Tape::inference(&threads);
    let run = Run::new(&tape);
    let memory = model.encode(&run, &batch.source).unwrap();
    let mut sentences: Vec<usize> = (0..batch.target.rows()).collect();
    let mut state = model.start(&run, &memory, &sentences).unwrap();
    let mut total = 0.0;
    for position in 0..batch.target.width {
        let alive: Vec<usize> =
            (0..sentences.len()).filter(|&row| position < batch.target.lengths[sentences[row]]).collect();
        state = state.select(&alive).unwrap();
        sentences = alive.iter().map(|&row| sentences[row]).collect();
        let last =
            |&sentence: &usize| position.checked_sub(1).map_or(BOS, |at| batch.target.row(sentence)[at]);
        let tokens: Vec<u32> = sentences.iter().map(last).collect();
        let rows: Vec<_> =
            sentences.iter().map(|&sentence| Row { sentence, hypothesis: 0, parent: 0, position }).collect();
        let step = model.step(&run, &memory, &state, &tokens, &rows).unwrap();
        for (row, &sentence) in sentences.iter().enumerate() {
            total -= f64::from(step.log_probs.row(row).get(batch.target.row(sentence)[position] as usize));
        }
        state = step.state;
    }
    total
}
