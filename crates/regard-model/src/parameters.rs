//! The weights of a model: named tensors in a fixed order.

use std::collections::BTreeMap;

use regard_tensor::{List, Precision, Shape, Tape, Tensor, Var, random};

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
    pub fn leaves(&self, tape: &Tape) -> List<Var> {
        self.values.iter().map(|value| tape.leaf(value.clone())).collect()
    }

    /// The weights as values without a gradient.
    #[must_use]
    pub fn constants(&self) -> List<Var> {
        self.values.iter().cloned().map(Var::constant).collect()
    }
}

/// Where a [`Builder`] has weights from.
enum Origin {
    /// Each is drawn from its own name and this seed, so that one more weight changes no other.
    Seed(u64),
    /// Each is taken by its name.
    Stored(BTreeMap<String, Tensor>),
    /// They are counted and not made: nothing is allocated for a size that nobody has.
    Nowhere,
}

/// Makes the weights of a network, in the order in which its parts ask for them.
pub(crate) struct Builder {
    origin: Origin,
    parameters: Parameters,
    count: usize,
    /// The names of the weights that are the right side of products and nothing else.
    maps: Vec<String>,
    /// The name of the table of words that is the right side of a product too.
    tied_table: Option<String>,
    /// The first weight that is not among the stored ones, or has another shape there.
    problem: Option<ModelError>,
}

impl Builder {
    /// Fresh weights.
    pub(crate) fn new(seed: u64) -> Self {
        Self::from(Origin::Seed(seed))
    }

    /// Weights that are there already.
    pub(crate) fn stored(weights: impl IntoIterator<Item = (String, Tensor)>) -> Self {
        Self::from(Origin::Stored(weights.into_iter().collect()))
    }

    /// A builder that only counts weights.
    pub(crate) fn counting() -> Self {
        Self::from(Origin::Nowhere)
    }

    fn from(origin: Origin) -> Self {
        Self {
            origin,
            parameters: Parameters::default(),
            count: 0,
            maps: Vec::new(),
            tied_table: None,
            problem: None,
        }
    }

    /// The weights that were asked for.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The names of the weights of which a model that is run in a precision need keep only what products read: those that
    /// are their right side and nothing else; and where that is the numbers themselves, a table of words too.
    pub(crate) fn into_maps(self, precision: Precision) -> Vec<String> {
        let exact = precision == Precision::F32;
        self.maps.into_iter().chain(self.tied_table.filter(|_| exact)).collect()
    }

    /// The weights.
    ///
    /// # Errors
    /// Where stored weights are not those that were asked for.
    pub(crate) fn finish(self) -> Result<Parameters> {
        match (self.problem, self.origin) {
            (Some(problem), _) => Err(problem),
            (None, Origin::Stored(left)) if !left.is_empty() => {
                let names: Vec<_> = left.into_keys().collect();
                Err(ModelError::Config(format!("this model has no weight \"{}\"", names.join("\", \""))))
            }
            _ => Ok(self.parameters),
        }
    }

    /// A `[out, in]` map of `blocks` gates, uniform within ±√(6 / (in + out of one gate)) (Glorot & Bengio 2010).
    pub(crate) fn matrix(&mut self, name: &str, out: usize, input: usize, blocks: usize) -> ParameterId {
        let limit = (6.0 / (input + out / blocks.max(1)) as f64).sqrt();
        self.maps.push(name.to_owned());
        self.uniform(name, [out, input].into(), limit)
    }

    /// A table of word vectors of variance 1 / width.
    pub(crate) fn table(&mut self, name: &str, rows: usize, width: usize) -> ParameterId {
        self.uniform(name, [rows, width].into(), (3.0 / width as f64).sqrt())
    }

    /// Says that a table is the right side of a product too.
    pub(crate) fn tie(&mut self, table: &str) {
        self.tied_table = Some(table.to_owned());
    }

    /// A vector with the entries of `range` one, the others zero.
    pub(crate) fn vector(&mut self, name: &str, size: usize, ones: std::ops::Range<usize>) -> ParameterId {
        self.add(name, [size].into(), |_, index| f32::from(u8::from(ones.contains(&index))))
    }

    /// A vector drawn like one row of a matrix.
    pub(crate) fn row(&mut self, name: &str, size: usize) -> ParameterId {
        self.uniform(name, [size].into(), (6.0 / (size + 1) as f64).sqrt())
    }

    fn uniform(&mut self, name: &str, shape: Shape, limit: f64) -> ParameterId {
        self.add(name, shape, |key, index| ((random::unit(key, index as u64) * 2.0 - 1.0) * limit) as f32)
    }

    /// A weight whose fresh values are a function of the key of its name and their place.
    fn add(&mut self, name: &str, shape: Shape, fresh: impl Fn(u64, usize) -> f32) -> ParameterId {
        self.count = self.count.saturating_add(shape.len());
        let value = match &mut self.origin {
            Origin::Nowhere => return ParameterId(0),
            Origin::Seed(seed) => {
                let key = name.bytes().fold(*seed, |key, byte| random::mix(key, u64::from(byte)));
                Tensor::build(shape, |values| {
                    for (index, value) in values.iter_mut().enumerate() {
                        *value = fresh(key, index);
                    }
                })
            }
            Origin::Stored(weights) => match weights.remove(name) {
                Some(value) if value.shape() == shape => value,
                found => {
                    let found = found.map_or("is missing".to_owned(), |value| {
                        format!("has the shape {} in place of {shape}", value.shape())
                    });
                    let problem = ModelError::Config(format!("weight \"{name}\" {found}"));
                    self.problem.get_or_insert(problem);
                    return ParameterId(0);
                }
            },
        };
        self.parameters.names.push(name.to_owned());
        self.parameters.values.push(value);
        ParameterId(self.parameters.values.len() - 1)
    }
}
