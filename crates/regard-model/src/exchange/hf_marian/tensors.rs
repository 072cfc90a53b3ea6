//! `model.safetensors`, whose tensors are taken out by name.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use regard_tensor::{Shape, Tensor};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use super::damaged;
use crate::error::{ModelError, Result};

/// The tensors that nobody has taken yet.
pub(super) struct Tensors {
    path: PathBuf,
    left: BTreeMap<String, Tensor>,
}

impl Tensors {
    pub(super) fn read(dir: &Path) -> Result<Self> {
        let path = dir.join("model.safetensors");
        if !path.exists() && dir.join("pytorch_model.bin").exists() {
            return Err(damaged(&dir.join("pytorch_model.bin"), convert_first(dir)));
        }
        let bytes = fs::read(&path).map_err(|source| ModelError::Io { path: path.clone(), source })?;
        let file = SafeTensors::deserialize(&bytes)
            .map_err(|error| damaged(&path, format!("is not a whole safetensors file: {error}")))?;
        let mut left = BTreeMap::new();
        for (name, view) in file.iter() {
            let tensor = widened(&view).map_err(|problem| damaged(&path, format!("\"{name}\" {problem}")))?;
            left.insert(name.to_owned(), tensor);
        }
        Ok(Self { path, left })
    }

    /// A tensor that must be there.
    pub(super) fn take(&mut self, name: &str, shape: impl Into<Shape>) -> Result<Tensor> {
        let found = self.take_optional(name, shape)?;
        found.ok_or_else(|| self.problem(format!("\"{name}\" is missing")))
    }

    /// A tensor that may be there.
    pub(super) fn take_optional(&mut self, name: &str, shape: impl Into<Shape>) -> Result<Option<Tensor>> {
        let shape = shape.into();
        match self.left.remove(name) {
            Some(tensor) if tensor.shape() != shape => Err(self.problem(format!(
                "\"{name}\" has the shape {}, not {shape} as config.json and vocab.json say",
                tensor.shape()
            ))),
            found => Ok(found),
        }
    }

    /// One tensor that may be there by several names.
    pub(super) fn take_shared(&mut self, names: &[&str], shape: [usize; 2]) -> Result<Tensor> {
        let mut shared: Option<(&str, Tensor)> = None;
        for &name in names {
            let Some(tensor) = self.take_optional(name, shape)? else { continue };
            match &shared {
                Some((first, value)) if value.values() != tensor.values() => {
                    let problem = "differ, and config.json says that they are one table";
                    return Err(self.problem(format!("\"{first}\" and \"{name}\" {problem}")));
                }
                Some(_) => {}
                None => shared = Some((name, tensor)),
            }
        }
        let missing = || self.problem(format!("\"{}\" is missing", names.join("\" or \"")));
        shared.map(|(_, tensor)| tensor).ok_or_else(missing)
    }

    /// Ends the reading: nothing may be left.
    pub(super) fn finish(self) -> Result<()> {
        match self.left.keys().next() {
            Some(name) => Err(self.problem(format!("\"{name}\" is no weight of the model in config.json"))),
            None => Ok(()),
        }
    }

    pub(super) fn problem(&self, problem: String) -> ModelError {
        damaged(&self.path, problem)
    }
}

/// What to do with a file of pickled tensors.
fn convert_first(dir: &Path) -> String {
    let dir = dir.display();
    format!(
        "is not read, model.safetensors is; this makes it: python -c \"from transformers import MarianMTModel as M; \
         M.from_pretrained('{dir}').save_pretrained('{dir}')\""
    )
}

/// A tensor as f32.
fn widened(view: &TensorView) -> std::result::Result<Tensor, String> {
    let (data, shape) = (view.data(), view.shape());
    if shape.len() > 2 {
        return Err(format!("has {} dimensions, a weight has at most 2", shape.len()));
    }
    let halves = || data.as_chunks::<2>().0.iter().map(|&bytes| u16::from_le_bytes(bytes));
    let values: Vec<f32> = match view.dtype() {
        Dtype::F32 => data.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect(),
        Dtype::BF16 => halves().map(|bits| f32::from_bits(u32::from(bits) << 16)).collect(),
        Dtype::F16 => halves().map(from_f16).collect(),
        other => return Err(format!("is {other:?}; F32, F16 and BF16 are read")),
    };
    Tensor::new(Shape::new(shape), values).map_err(|error| error.to_string())
}

/// The value of a binary16 (IEEE 754): 5 bits of exponent with a bias of 15, 10 of mantissa.
fn from_f16(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, mantissa) = (i32::from(bits >> 10 & 0x1f), f32::from(bits & 0x3ff));
    sign * match exponent {
        0 => mantissa * 2f32.powi(-24),
        0x1f if mantissa == 0.0 => f32::INFINITY,
        0x1f => f32::NAN,
        _ => (1024.0 + mantissa) * 2f32.powi(exponent - 25),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that numpy gives: `numpy.array([bits], "u2").view("f2")`.
    #[test]
    fn sixteen_bits_are_widened_exactly() {
        for (bits, value) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x7bff, 65504.0),
            (0x0001, 5.960_464_5e-8),
            (0x03ff, 1023.0 / 16_777_216.0),
            (0x0400, 6.103_515_6e-5),
            (0xfc00, f32::NEG_INFINITY),
        ] {
            assert_eq!(from_f16(bits).to_bits(), f32::to_bits(value), "{bits:#x}");
        }
        assert!(from_f16(0x7e00).is_nan());
    }
}
