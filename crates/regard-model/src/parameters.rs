//! The weights of a model: named tensors in a fixed order.

use regard_tensor::{Shape, Tape, Tensor, Var, random};

use crate::error::{ModelError, Result};

/// Named weights, in the order in which the model was built.
#[derive(Clone, Debug, Default)]
pub struct Parameters {
    names: Vec<String>,
    values: Vec<Tensor>,
}

/// The place of a weight in its [`Parameters`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterId(usize);

impl ParameterId {
    /// The weight in a list that has the order of the [`Parameters`].
    pub(crate) fn of(self, weights: &[Var]) -> &Var {
        &weights[self.0]
    }
}

impl Parameters {
    /// The names, in order.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The values, in order.
    #[must_use]
    pub fn values(&self) -> &[Tensor] {
        &self.values
    }

    /// The values, to be changed.
    pub fn values_mut(&mut self) -> &mut [Tensor] {
        &mut self.values
    }

    /// The number of weights.
    #[must_use]
    pub fn count(&self) -> usize {
        self.values.iter().map(|value| value.shape().len()).sum()
    }

    /// A weight by its name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Tensor> {
        self.names.iter().position(|known| known == name).map(|index| &self.values[index])
    }

    /// Replaces a weight by its name.
    ///
    /// # Errors
    /// Where there is no such weight or it has another shape.
    pub fn set(&mut self, name: &str, value: Tensor) -> Result<()> {
        let index = self.names.iter().position(|known| known == name);
        let index =
            index.ok_or_else(|| ModelError::Config(format!("this model has no weight \"{name}\"")))?;
        let (wanted, found) = (self.values[index].shape(), value.shape());
        if wanted != found {
            return Err(ModelError::Config(format!("weight \"{name}\" has the shape {wanted}, not {found}")));
        }
        self.values[index] = value;
        Ok(())
    }

    /// The weights as values whose gradient is wanted.
    #[must_use]
    pub fn leaves(&self, tape: &Tape) -> Vec<Var> {
        self.values.iter().map(|value| tape.leaf(value.clone())).collect()
    }

    /// The weights as values without a gradient.
    #[must_use]
    pub fn constants(&self) -> Vec<Var> {
        self.values.iter().cloned().map(Var::constant).collect()
    }
}

/// Makes weights, each drawn from its own name and the seed, so that one more weight changes no other.
pub(crate) struct Builder {
    seed: u64,
    parameters: Parameters,
    /// Counts what it would make, and makes nothing.
    counting: bool,
    count: usize,
}

impl Builder {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, parameters: Parameters::default(), counting: false, count: 0 }
    }

    /// A builder that only counts weights: nothing is allocated for a size that nobody has.
    pub(crate) fn counting() -> Self {
        Self { counting: true, ..Self::new(0) }
    }

    /// The weights that were asked for.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn finish(self) -> Parameters {
        self.parameters
    }

    /// A `[out, in]` map of `blocks` gates, uniform within ±√(6 / (in + out of one gate)) (Glorot & Bengio 2010).
    pub(crate) fn matrix(&mut self, name: &str, out: usize, input: usize, blocks: usize) -> ParameterId {
        let limit = (6.0 / (input + out / blocks.max(1)) as f64).sqrt();
        self.uniform(name, [out, input].into(), limit)
    }

    /// A table of word vectors of variance 1 / width.
    pub(crate) fn table(&mut self, name: &str, rows: usize, width: usize) -> ParameterId {
        self.uniform(name, [rows, width].into(), (3.0 / width as f64).sqrt())
    }

    /// A vector with the entries of `range` one, the others zero.
    pub(crate) fn vector(&mut self, name: &str, size: usize, ones: std::ops::Range<usize>) -> ParameterId {
        self.count = self.count.saturating_add(size);
        if self.counting {
            return ParameterId(0);
        }
        self.add(
            name,
            Tensor::build([size], |values| {
                for (index, value) in values.iter_mut().enumerate() {
                    *value = f32::from(u8::from(ones.contains(&index)));
                }
            }),
        )
    }

    /// A vector drawn like one row of a matrix.
    pub(crate) fn row(&mut self, name: &str, size: usize) -> ParameterId {
        self.uniform(name, [size].into(), (6.0 / (size + 1) as f64).sqrt())
    }

    fn uniform(&mut self, name: &str, shape: Shape, limit: f64) -> ParameterId {
        self.count = self.count.saturating_add(shape.len());
        if self.counting {
            return ParameterId(0);
        }
        let key = name.bytes().fold(self.seed, |key, byte| random::mix(key, u64::from(byte)));
        self.add(
            name,
            Tensor::build(shape, |values| {
                for (index, value) in values.iter_mut().enumerate() {
                    *value = ((random::unit(key, index as u64) * 2.0 - 1.0) * limit) as f32;
                }
            }),
        )
    }

    fn add(&mut self, name: &str, value: Tensor) -> ParameterId {
        self.parameters.names.push(name.to_owned());
        self.parameters.values.push(value);
        ParameterId(self.parameters.values.len() - 1)
    }
}
