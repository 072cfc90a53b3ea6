//! Arrays: a shape and a shared, immutable buffer that goes back to the pool when nobody holds it.

use std::sync::OnceLock;

use crate::element::Element;
use crate::error::{Result, TensorError};
use crate::kernels::Operand;
use crate::recycle::Shared;
use crate::{Precision, Shape, Threads, pool};

/// An array of numbers. A clone shares the buffer; values are changed only by who holds it alone.
#[derive(Clone)]
pub struct Tensor<T: Element = f32> {
    shape: Shape,
    offset: usize,
    buffer: Shared<Buffer<T>>,
}

struct Buffer<T: Element> {
    len: usize,
    /// The values; of a tensor that was packed only, what they are taken from when first asked for.
    values: OnceLock<Vec<T>>,
    /// The values as the right side of `x · Wᵀ` in each precision, made when first used.
    packed: PerPrecision<T>,
    /// The values as the right side of `y · W`, likewise.
    packed_transposed: PerPrecision<T>,
}

type PerPrecision<T> = [OnceLock<Shared<Operand<T>>>; 3];

impl<T: Element> Buffer<T> {
    fn new(values: Vec<T>) -> Self {
        Self::with(values.len(), values.into())
    }

    fn with(len: usize, values: OnceLock<Vec<T>>) -> Self {
        Self { len, values, packed: PerPrecision::default(), packed_transposed: PerPrecision::default() }
    }

    fn values(&self) -> &[T] {
        self.values.get_or_init(|| {
            let packed = self.packed.iter().find_map(|packed| packed.get());
            packed.map_or_else(
                || unreachable!("a buffer has values or is packed"),
                |packed| packed.transposed(),
            )
        })
    }
}

impl<T: Element> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        let mut values = pool::take(self.len);
        values.copy_from_slice(self.values());
        Self::new(values)
    }
}

impl<T: Element> Drop for Buffer<T> {
    fn drop(&mut self) {
        if let Some(values) = self.values.take() {
            pool::give(values);
        }
    }
}

impl<T: Element> Tensor<T> {
    /// A tensor of the given values, in row-major order.
    ///
    /// # Errors
    /// Where the number of values is not what the shape says.
    ///
    /// ```
    /// use regard_tensor::Tensor;
    /// let x = Tensor::new([2, 3], vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// assert_eq!(x.row(1), [4.0, 5.0, 6.0]);
    /// # Ok::<(), regard_tensor::TensorError>(())
    /// ```
    pub fn new(shape: impl Into<Shape>, values: Vec<T>) -> Result<Self> {
        let shape = shape.into();
        if shape.len() != values.len() {
            return Err(TensorError::Length { op: "tensor", shape, found: values.len() });
        }
        Ok(Self { shape, offset: 0, buffer: Shared::new(Buffer::new(values)) })
    }

    /// A tensor of zeros.
    #[must_use]
    pub fn zeros(shape: impl Into<Shape>) -> Self {
        let shape = shape.into();
        Self { shape, offset: 0, buffer: Shared::new(Buffer::new(pool::take_zeroed(shape.len()))) }
    }

    /// A tensor that `fill` writes. What it finds there is unspecified.
    pub fn build(shape: impl Into<Shape>, fill: impl FnOnce(&mut [T])) -> Self {
        let shape = shape.into();
        let mut values = pool::take(shape.len());
        fill(&mut values);
        Self { shape, offset: 0, buffer: Shared::new(Buffer::new(values)) }
    }

    /// A tensor of one number.
    #[must_use]
    pub fn scalar(value: T) -> Self {
        Self::build(Shape::new(&[]), |values| values[0] = value)
    }

    /// The shape.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The values in row-major order.
    #[must_use]
    pub fn values(&self) -> &[T] {
        &self.buffer.values()[self.offset..self.offset + self.shape.len()]
    }

    /// Row `index` of the tensor seen as `[rows, last]`.
    ///
    /// # Panics
    /// Where there is no such row.
    #[must_use]
    pub fn row(&self, index: usize) -> &[T] {
        let width = self.shape.last();
        &self.values()[index * width..(index + 1) * width]
    }

    /// The one value of a tensor of length 1, else its first; zero where it is empty.
    #[must_use]
    pub fn item(&self) -> T {
        self.values().first().copied().unwrap_or(T::ZERO)
    }

    /// The values for writing; a buffer that others hold too is copied first.
    pub fn values_mut(&mut self) -> &mut [T] {
        if !self.is_whole() {
            *self = self.deep_copy();
        }
        let buffer = self.buffer.make_mut();
        buffer.values();
        buffer.packed = PerPrecision::default();
        buffer.packed_transposed = PerPrecision::default();
        buffer.values.get_mut().map_or(&mut [], Vec::as_mut_slice)
    }

    /// A copy with a buffer of its own.
    #[must_use]
    pub fn deep_copy(&self) -> Self {
        Self::build(self.shape, |values| values.copy_from_slice(self.values()))
    }

    /// The same values under another shape of the same length.
    ///
    /// # Errors
    /// Where the lengths differ.
    pub fn reshape(&self, shape: impl Into<Shape>) -> Result<Self> {
        let shape = shape.into();
        if shape.len() != self.shape.len() {
            return Err(TensorError::ShapeMismatch { op: "reshape", left: self.shape, right: shape });
        }
        Ok(Self { shape, offset: self.offset, buffer: self.buffer.clone() })
    }

    /// Entry `index` of the first dimension, without a copy.
    ///
    /// # Errors
    /// Where there is no such entry.
    pub fn slice(&self, index: usize) -> Result<Self> {
        if index >= self.shape.first() {
            return Err(TensorError::Index { op: "slice", index, limit: self.shape.first() });
        }
        let shape = self.shape.inner();
        Ok(Self { shape, offset: self.offset + index * shape.len(), buffer: self.buffer.clone() })
    }

    /// The rows of a `[rows, last]` tensor at the given places.
    ///
    /// # Errors
    /// Where a place is outside.
    pub fn select_rows(&self, places: &[usize]) -> Result<Self> {
        let (rows, width) = (self.shape.rows(), self.shape.last());
        if let Some(&index) = places.iter().find(|&&place| place >= rows) {
            return Err(TensorError::Index { op: "select_rows", index, limit: rows });
        }
        Ok(Self::build([places.len(), width], |out| {
            for (row, &place) in out.chunks_exact_mut(width.max(1)).zip(places) {
                self.copy_row(place, row);
            }
        }))
    }

    /// Copies row `index` of the tensor seen as `[rows, last]`, from its packed form where that is all that there is.
    pub(crate) fn copy_row(&self, index: usize, to: &mut [T]) {
        let packed = self.buffer.packed.iter().find_map(|packed| packed.get());
        match (self.buffer.values.get(), packed) {
            (None, Some(packed)) if self.is_whole() => packed.copy_column(index, to),
            _ => to.copy_from_slice(self.row(index)),
        }
    }

    /// This `[out, in]` weight as the right side of `x · Wᵀ`; packed once as long as the values stay.
    pub(crate) fn packed(&self, threads: &Threads, precision: Precision) -> Shared<Operand<T>> {
        let (n, k) = (self.shape.rows(), self.shape.last());
        self.kept(&self.buffer.packed, precision, || {
            Operand::from_transposed(threads, precision, self.values(), n, k)
        })
    }

    /// This `[out, in]` weight as the right side of `y · W`; packed once as long as the values stay.
    pub(crate) fn packed_transposed(&self, threads: &Threads, precision: Precision) -> Shared<Operand<T>> {
        let (k, n) = (self.shape.rows(), self.shape.last());
        self.kept(&self.buffer.packed_transposed, precision, || {
            Operand::from_rows(threads, precision, self.values(), k, n)
        })
    }

    /// This `[out, in]` weight in the form alone in which products read it, so that it is in memory once. Its values, where
    /// they are asked for all the same, are those that products see.
    #[must_use]
    pub fn into_packed(mut self, threads: &Threads, precision: Precision) -> Self {
        let packed = self.packed(threads, precision);
        if let Some(old) = self.buffer.get_mut() {
            // Freed, not pooled: nobody will ask for so much again.
            drop(old.values.take());
        }
        Self::of_packed(self.shape, packed, precision)
    }

    /// Some rows of this `[out, in]` weight, in the form alone in which products read them: the columns of `x · Wᵀ` that
    /// are wanted, with the bits that they have among all.
    ///
    /// # Errors
    /// Where a place is outside.
    ///
    /// ```
    /// use regard_tensor::{Precision, Tape, Tensor, Threads, Var, ops};
    /// let threads = Threads::single();
    /// let weight = Tensor::new([3, 1], vec![2.0_f32, 3.0, 5.0])?;
    /// let part = Var::constant(weight.select_packed(&threads, Precision::F32, &[2, 0])?);
    /// let x = Var::constant(Tensor::new([1, 1], vec![7.0])?);
    /// let y = ops::linear(&Tape::inference(&threads), &x, &part, None)?;
    /// assert_eq!(y.value().values(), [35.0, 14.0]);
    /// # Ok::<(), regard_tensor::TensorError>(())
    /// ```
    pub fn select_packed(&self, threads: &Threads, precision: Precision, places: &[usize]) -> Result<Self> {
        let (rows, width) = (self.shape.rows(), self.shape.last());
        if let Some(&index) = places.iter().find(|&&place| place >= rows) {
            return Err(TensorError::Index { op: "select_packed", index, limit: rows });
        }
        let packed = self.packed(threads, precision).select(threads, places);
        Ok(Self::of_packed([places.len(), width].into(), Shared::new(packed), precision))
    }

    /// A weight of which the packed form is all that there is.
    fn of_packed(shape: Shape, packed: Shared<Operand<T>>, precision: Precision) -> Self {
        let buffer = Buffer::with(shape.len(), OnceLock::new());
        buffer.packed[precision as usize].get_or_init(|| packed);
        Self { shape, offset: 0, buffer: Shared::new(buffer) }
    }

    fn kept(
        &self,
        places: &PerPrecision<T>,
        precision: Precision,
        pack: impl FnOnce() -> Operand<T>,
    ) -> Shared<Operand<T>> {
        let pack = || Shared::new(pack());
        if self.is_whole() { places[precision as usize].get_or_init(pack).clone() } else { pack() }
    }

    fn is_whole(&self) -> bool {
        self.offset == 0 && self.buffer.len == self.shape.len()
    }
}

impl<T: Element> std::fmt::Debug for Tensor<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = &self.values()[..self.shape.len().min(8)];
        let more = if self.shape.len() > 8 { ", …" } else { "" };
        write!(f, "Tensor{} {shown:?}{more}", self.shape)
    }
}
