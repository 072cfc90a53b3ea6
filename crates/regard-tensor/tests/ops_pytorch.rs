//! Every operation against PyTorch in float64, values and gradients (`tests/goldens/make_ops.py`).
//!
//! Per tensor ‖g − g′‖ ≤ 1e-5 · ‖g′‖ in f32, where the fast kernels work, and 1e-12 in f64, where their plain twins do.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{assert_close, indices, tensors};
use regard_tensor::ops::{self, Span, Targets};
use regard_tensor::{Element, Result, Tape, Tensor, Threads, Var};
use serde_json::Value;

#[test]
fn fast_kernels_agree_with_pytorch() {
    for case in cases() {
        check::<f32>(&case, &Threads::single(), 1e-5);
        check::<f32>(&case, &Threads::new(2), 1e-5);
    }
}

#[test]
fn reference_kernels_agree_with_pytorch() {
    for case in cases() {
        check::<f64>(&case, &Threads::single(), 1e-12);
    }
}

fn cases() -> Vec<Value> {
    serde_json::from_str(include_str!("data/ops.json")).unwrap()
}

/// Runs a case: outputs, then the gradients of Σ w·y.
fn check<T: Element>(case: &Value, threads: &Threads, tolerance: f64) {
    let name = case["name"].as_str().unwrap();
    let tape = Tape::new(threads);
    let leaves: Vec<_> = tensors(&case["inputs"]).into_iter().map(|input| tape.leaf(input)).collect();
    let outputs = run::<T>(&tape, case, &leaves).unwrap();
    let expected = tensors(&case["outputs"]);
    assert_eq!(outputs.len(), expected.len(), "{name}");
    for (place, (output, expected)) in outputs.iter().zip(&expected).enumerate() {
        assert_close(&format!("{name}: output {place}"), output.value(), expected, tolerance);
    }
    let loss = weighted(&tape, &outputs).unwrap();
    let gradients = tape.backward(&loss).unwrap();
    for (place, (leaf, expected)) in leaves.iter().zip(tensors(&case["gradients"])).enumerate() {
        let gradient = gradients.get(leaf).unwrap_or_else(|| Tensor::zeros(leaf.shape()));
        assert_close(&format!("{name}: gradient {place}"), &gradient, &expected, tolerance);
    }
}

/// Σ w·y over all outputs with weights sin(7i + 3) + 0.2 for each.
fn weighted<T: Element>(tape: &Tape<T>, outputs: &[Var<T>]) -> Result<Var<T>> {
    let mut total = Var::constant(Tensor::scalar(T::ZERO));
    for output in outputs {
        let weights = Tensor::build(output.shape(), |values| {
            for (index, value) in values.iter_mut().enumerate() {
                *value = T::from_f64((7.0 * index as f64 + 3.0).sin() + 0.2);
            }
        });
        let product = ops::mul(tape, output, &Var::constant(weights))?;
        total = ops::add(tape, &total, &ops::sum(tape, &product)?)?;
    }
    Ok(total)
}

fn run<T: Element>(tape: &Tape<T>, case: &Value, x: &[Var<T>]) -> Result<Vec<Var<T>>> {
    let op = case["op"].as_str().unwrap();
    let arguments = &case["arguments"];
    let output = match op {
        "lstm_cell" => return lstm_cell(tape, case, x),
        "linear_cross_entropy" => cross_entropy(tape, arguments, x)?,
        "additive_scores" | "dot_scores" | "weighted_sum" | "head_scores" | "head_contexts" => {
            attention(tape, op, arguments, x)?
        }
        "masked_softmax" | "gaussian_window" => windows(tape, op, arguments, x)?,
        "slice" | "slice_last" | "select_rows" | "embedding" | "transpose_leading" | "reshape" | "carry"
        | "concat" | "stack" => shapes(tape, op, arguments, x)?,
        _ => arithmetic(tape, op, arguments, x)?,
    };
    Ok(vec![output])
}

fn arithmetic<T: Element>(tape: &Tape<T>, op: &str, arguments: &Value, x: &[Var<T>]) -> Result<Var<T>> {
    let number = |key: &str| T::from_f64(arguments[key].as_f64().unwrap());
    match op {
        "relu" => ops::relu(tape, &x[0]),
        "gelu" => ops::gelu(tape, &x[0]),
        "swish" => ops::swish(tape, &x[0]),
        "tanh" => ops::tanh(tape, &x[0]),
        "sigmoid" => ops::sigmoid(tape, &x[0]),
        "add" => ops::add(tape, &x[0], &x[1]),
        "mul" => ops::mul(tape, &x[0], &x[1]),
        "scale" => ops::scale(tape, &x[0], number("factor")),
        "affine" => ops::affine(tape, &x[0], number("factor"), number("offset")),
        "sum" => ops::sum(tape, &x[0]),
        "maxout" => ops::maxout(tape, &x[0]),
        "log_softmax" => ops::log_softmax(tape, &x[0]),
        "layer_norm" => ops::layer_norm(tape, &x[0], &x[1], &x[2], 1e-5),
        "rms_norm" => ops::rms_norm(tape, &x[0], &x[1], 1e-6),
        "rotary" => {
            let heads = arguments["heads"].as_u64().unwrap() as usize;
            ops::rotary(tape, &x[0], heads, &indices(&arguments["positions"]))
        }
        "linear" => ops::linear(tape, &x[0], &x[1], Some(&x[2])),
        "linear_sum" => ops::linear_sum(tape, [(&x[0], &x[1]), (&x[2], &x[3])], Some(&x[4]), Some(&x[5])),
        // Inputs as `torch.gru_cell` has them: x, h, the weights of both, the biases of both.
        "gru_cell" => {
            let x_gates = ops::linear(tape, &x[0], &x[2], Some(&x[4]))?;
            let h_gates = ops::linear(tape, &x[1], &x[3], Some(&x[5]))?;
            ops::gru_cell(tape, &x_gates, &h_gates, &x[1])
        }
        _ => panic!("no operation {op}"),
    }
}

fn shapes<T: Element>(tape: &Tape<T>, op: &str, arguments: &Value, x: &[Var<T>]) -> Result<Var<T>> {
    let list = |key: &str| indices(&arguments[key]);
    match op {
        "slice" => ops::slice(tape, &x[0], arguments["index"].as_u64().unwrap() as usize),
        "slice_last" => ops::slice_last(tape, &x[0], list("range")[0]..list("range")[1]),
        "select_rows" => ops::select_rows(tape, &x[0], &list("places")),
        "embedding" => ops::embedding(tape, &x[0], &ids(arguments)),
        "transpose_leading" => ops::transpose_leading(tape, &x[0]),
        "reshape" => ops::reshape(tape, &x[0], regard_tensor::Shape::new(&list("shape"))),
        "carry" => ops::carry(tape, &x[0], &x[1], &flags(&arguments["active"])),
        "concat" => ops::concat(tape, &x.iter().collect::<Vec<_>>()),
        _ => ops::stack(tape, x),
    }
}

fn attention<T: Element>(tape: &Tape<T>, op: &str, arguments: &Value, x: &[Var<T>]) -> Result<Var<T>> {
    let (sentences, lengths) = (indices(&arguments["sentences"]), indices(&arguments["lengths"]));
    match op {
        "additive_scores" => ops::additive_scores(tape, &x[0], &x[1], &x[2], &sentences, &lengths),
        "dot_scores" => {
            let factor = T::from_f64(arguments["factor"].as_f64().unwrap());
            ops::dot_scores(tape, &x[0], &x[1], factor, &sentences, &lengths)
        }
        "head_scores" => {
            let factor = T::from_f64(arguments["factor"].as_f64().unwrap());
            let heads = arguments["heads"].as_u64().unwrap() as usize;
            ops::head_scores(tape, (&x[0], &x[1]), heads, factor, &sentences, &lengths)
        }
        "head_contexts" => ops::head_contexts(tape, &x[0], &x[1], &sentences, &lengths),
        _ => ops::weighted_sum(tape, &x[0], &x[1], &sentences, &lengths),
    }
}

fn windows<T: Element>(tape: &Tape<T>, op: &str, arguments: &Value, x: &[Var<T>]) -> Result<Var<T>> {
    let spans: Vec<_> = arguments["spans"].as_array().unwrap().iter().map(indices).collect();
    let spans: Vec<_> = spans.iter().map(|span| Span { start: span[0], end: span[1] }).collect();
    if op == "masked_softmax" {
        return ops::masked_softmax(tape, &x[0], &spans);
    }
    let positions = arguments["positions"].as_u64().unwrap() as usize;
    ops::gaussian_window(tape, &x[0], &spans, positions, arguments["sigma"].as_f64().unwrap())
}

/// Inputs as `torch.lstm_cell` has them: x, h, c, the weights of x and h, the bias.
fn lstm_cell<T: Element>(tape: &Tape<T>, case: &Value, x: &[Var<T>]) -> Result<Vec<Var<T>>> {
    let gates = ops::linear_sum(tape, [(&x[0], &x[3]), (&x[1], &x[4])], Some(&x[5]), None)?;
    let (h, c) = ops::lstm_cell(tape, &gates, &x[2])?;
    Ok(match case["name"].as_str().unwrap() {
        "lstm_cell h alone" => vec![h],
        "lstm_cell c alone" => vec![c],
        _ => vec![h, c],
    })
}

fn cross_entropy<T: Element>(tape: &Tape<T>, arguments: &Value, x: &[Var<T>]) -> Result<Var<T>> {
    let (ids, counts) = (ids(arguments), flags(&arguments["counts"]));
    let number = |key: &str| arguments[key].as_f64().unwrap();
    let (label_smoothing, factor) = (number("label_smoothing"), number("factor"));
    let targets = Targets { ids: &ids, counts: &counts, label_smoothing, factor };
    let seen = ops::linear_cross_entropy(tape, &x[0], &x[1], Some(&x[2]), targets)?;
    let expected = number("negative_log_likelihood");
    let tolerance = 1e-6 * expected;
    assert!((seen.negative_log_likelihood - expected).abs() <= tolerance, "{seen:?}: PyTorch has {expected}");
    assert_eq!(seen.correct as u64, arguments["correct"].as_u64().unwrap());
    assert_eq!(seen.tokens, counts.iter().filter(|&&counts| counts).count());
    Ok(seen.loss)
}

fn ids(arguments: &Value) -> Vec<u32> {
    indices(&arguments["ids"]).into_iter().map(|id| id as u32).collect()
}

fn flags(stored: &Value) -> Vec<bool> {
    stored.as_array().unwrap().iter().map(|flag| flag.as_bool().unwrap()).collect()
}
