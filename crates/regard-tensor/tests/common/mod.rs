//! Stored numbers of PyTorch: reading them, and how far ours are from them.

use regard_tensor::{Element, Tensor};
use serde_json::Value;

/// A stored tensor: `{"shape": […], "values": […]}`, where `null` is minus infinity.
pub(crate) fn tensor<T: Element>(stored: &Value) -> Tensor<T> {
    let sizes: Vec<usize> = indices(&stored["shape"]);
    let value = |value: &Value| T::from_f64(value.as_f64().unwrap_or(f64::NEG_INFINITY));
    Tensor::new(regard_tensor::Shape::new(&sizes), list(stored, "values").iter().map(value).collect())
        .unwrap()
}

/// The stored tensors of a list.
pub(crate) fn tensors<T: Element>(stored: &Value) -> Vec<Tensor<T>> {
    stored.as_array().unwrap().iter().map(tensor).collect()
}

/// A list of whole numbers.
pub(crate) fn indices(stored: &Value) -> Vec<usize> {
    stored.as_array().unwrap().iter().map(|index| index.as_u64().unwrap() as usize).collect()
}

fn list<'a>(stored: &'a Value, key: &str) -> &'a [Value] {
    stored[key].as_array().unwrap()
}

/// Fails unless ‖ours − theirs‖ ≤ tolerance · ‖theirs‖. Infinite values must be the same.
pub(crate) fn assert_close<T: Element>(what: &str, ours: &Tensor<T>, theirs: &Tensor<f64>, tolerance: f64) {
    assert_eq!(ours.shape(), theirs.shape(), "{what}: shape");
    let (mut distance, mut norm) = (0.0, 0.0);
    for (a, b) in ours.values().iter().map(|value| value.to_f64()).zip(theirs.values()) {
        if b.is_finite() {
            distance += (a - b).powi(2);
            norm += b.powi(2);
        } else {
            assert!(a.to_bits() == b.to_bits(), "{what}: {a}, PyTorch has {b}");
        }
    }
    let (distance, norm) = (f64::sqrt(distance), f64::sqrt(norm));
    assert!(
        distance <= tolerance * norm,
        "{what}: the distance from PyTorch is {distance:e}, its norm {norm:e}"
    );
}
