//! Five steps of each optimizer, and clipping, against `torch.optim` in float64 (`tests/goldens/make_optim.py`).

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{assert_close, tensors};
use regard_tensor::optim::{Optimizer, Rule, clip_by_global_norm, global_norm};
use regard_tensor::{Element, Gradient, Tensor, Threads};
use serde_json::Value;

fn stored() -> Value {
    serde_json::from_str(include_str!("data/optim.json")).unwrap()
}

#[test]
fn optimizers_agree_with_pytorch() {
    let stored = stored();
    for (name, numbers) in stored["rules"].as_object().unwrap() {
        check::<f32>(&stored, name, numbers, 1e-6);
        check::<f64>(&stored, name, numbers, 1e-12);
    }
}

fn check<T: Element>(stored: &Value, name: &str, numbers: &Value, tolerance: f64) {
    let mut weights: Vec<Tensor<T>> = tensors(&stored["start"]);
    let mut optimizer = Optimizer::new(rule(numbers), &weights);
    let steps = stored["gradients"].as_array().unwrap().iter().zip(numbers["after"].as_array().unwrap());
    for (step, (gradients, after)) in steps.enumerate() {
        let gradients: Vec<_> =
            tensors(gradients).into_iter().map(|values| Some(Gradient::Dense(values))).collect();
        optimizer.update(&Threads::single(), &mut weights, &gradients, numbers["lr"].as_f64().unwrap());
        for (weight, expected) in weights.iter().zip(tensors(after)) {
            assert_close(&format!("{name}, step {step}"), weight, &expected, tolerance);
        }
    }
    assert_eq!(optimizer.step(), 5);
}

/// The rule whose numbers PyTorch was given.
fn rule(numbers: &Value) -> Rule {
    let number = |key: &str| numbers[key].as_f64();
    let epsilon = number("eps").unwrap_or_default();
    match (numbers["betas"].as_array(), number("rho")) {
        (Some(betas), _) => Rule::Adam {
            beta1: betas[0].as_f64().unwrap(),
            beta2: betas[1].as_f64().unwrap(),
            epsilon,
            weight_decay: number("weight_decay").unwrap_or(0.0),
        },
        (None, Some(rho)) => Rule::Adadelta { rho, epsilon },
        (None, None) => Rule::Sgd { momentum: number("momentum").unwrap_or(0.0) },
    }
}

/// PyTorch divides by the norm + 1e-6, so the agreement is no closer than 1e-6 over the norm.
#[test]
fn clipping_agrees_with_pytorch() {
    let (stored, threads) = (stored(), Threads::single());
    let mut gradients: Vec<Option<Gradient<f64>>> =
        tensors(&stored["gradients"][0]).into_iter().map(|values| Some(Gradient::Dense(values))).collect();
    let (norm, limit) = (stored["clip"]["norm"].as_f64().unwrap(), stored["clip"]["limit"].as_f64().unwrap());
    assert!((global_norm(&threads, &gradients) - norm).abs() < 1e-12 * norm);
    clip_by_global_norm(&threads, &mut gradients, norm, limit);
    for (gradient, expected) in gradients.iter().flatten().zip(tensors(&stored["clip"]["clipped"])) {
        assert_close("clipped", &gradient.to_dense(), &expected, 1e-6);
    }
    assert!((global_norm(&threads, &gradients) - limit).abs() < 1e-12);
    let before = gradients.clone();
    clip_by_global_norm(&threads, &mut gradients, limit, 3.0);
    for (gradient, before) in gradients.iter().flatten().zip(before.iter().flatten()) {
        assert_eq!(gradient.to_dense().values(), before.to_dense().values());
    }
}
