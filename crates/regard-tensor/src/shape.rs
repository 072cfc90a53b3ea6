//! Shapes of at most four dimensions, kept without an allocation.

use std::fmt;

/// The sizes of a tensor's dimensions, outermost first.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    sizes: [usize; Shape::MAX_RANK],
    rank: usize,
}

impl Shape {
    /// The largest number of dimensions.
    pub const MAX_RANK: usize = 4;

    /// A shape from its sizes; sizes past the fourth are multiplied into the fourth.
    ///
    /// ```
    /// use regard_tensor::Shape;
    /// let shape = Shape::new(&[2, 3, 5]);
    /// assert_eq!((shape.len(), shape.rows(), shape.last()), (30, 6, 5));
    /// ```
    #[must_use]
    pub fn new(sizes: &[usize]) -> Self {
        let mut kept = [1; Self::MAX_RANK];
        for (axis, &size) in sizes.iter().enumerate() {
            if axis < Self::MAX_RANK {
                kept[axis] = size;
            } else {
                kept[Self::MAX_RANK - 1] *= size;
            }
        }
        Self { sizes: kept, rank: sizes.len().min(Self::MAX_RANK) }
    }

    /// The sizes, outermost first.
    #[must_use]
    pub fn sizes(&self) -> &[usize] {
        &self.sizes[..self.rank]
    }

    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sizes().iter().product()
    }

    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The size of the last dimension; 1 for a scalar.
    #[must_use]
    pub fn last(&self) -> usize {
        self.sizes().last().copied().unwrap_or(1)
    }

    /// The number of rows when all but the last dimension are counted as one.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.sizes().split_last().map_or(1, |(_, outer)| outer.iter().product())
    }

    /// The size of the first dimension; 1 for a scalar.
    #[must_use]
    pub fn first(&self) -> usize {
        self.sizes().first().copied().unwrap_or(1)
    }

    /// The shape without its first dimension.
    #[must_use]
    pub fn inner(&self) -> Self {
        Self::new(self.sizes().split_first().map_or(&[], |(_, inner)| inner))
    }

    /// The same shape with another last dimension.
    #[must_use]
    pub fn with_last(&self, last: usize) -> Self {
        let mut shape = *self;
        if shape.rank == 0 {
            shape.rank = 1;
        }
        shape.sizes[shape.rank - 1] = last;
        shape
    }

    /// This shape inside a new first dimension; see [`Shape::new`] for more than four.
    #[must_use]
    pub fn with_outer(&self, first: usize) -> Self {
        let mut sizes = [first; Self::MAX_RANK + 1];
        sizes[1..=self.rank].copy_from_slice(self.sizes());
        Self::new(&sizes[..=self.rank])
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.sizes())
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.sizes())
    }
}

impl<const N: usize> From<[usize; N]> for Shape {
    fn from(sizes: [usize; N]) -> Self {
        Self::new(&sizes)
    }
}
