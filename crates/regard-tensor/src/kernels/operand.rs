//! The right-hand side of a product, in the precision that the product is computed in.

use super::{Narrow, PANEL, Packed};
use crate::element::Element;
use crate::{Precision, Threads, pool};

/// A matrix B\[k,n\], packed.
#[derive(Debug)]
pub enum Operand<T: Element> {
    /// As it is.
    Exact(Packed<T>),
    /// In fewer bits.
    Narrow(Narrow),
}

impl<T: Element> Operand<T> {
    /// Packs `w` \[n,k\], row-major, for products A·Wᵀ.
    ///
    /// # Panics
    /// If `w` does not have n·k elements.
    #[must_use]
    pub fn from_transposed(threads: &Threads, precision: Precision, w: &[T], n: usize, k: usize) -> Self {
        match precision {
            Precision::F32 => Self::Exact(Packed::from_transposed(threads, w, n, k)),
            Precision::Bf16 => Self::Narrow(Narrow::bf16_from_transposed(threads, w, n, k)),
            Precision::Int8 => Self::Narrow(Narrow::int8_from_transposed(threads, w, n, k)),
        }
    }

    /// Packs `b` \[k,n\], row-major, for products A·B. There is no such matrix in 8 bits, which have a scale for each
    /// column: it stays as it is.
    ///
    /// # Panics
    /// If `b` does not have k·n elements.
    #[must_use]
    pub fn from_rows(threads: &Threads, precision: Precision, b: &[T], k: usize, n: usize) -> Self {
        match precision {
            Precision::F32 | Precision::Int8 => Self::Exact(Packed::from_rows(threads, b, k, n)),
            Precision::Bf16 => Self::Narrow(Narrow::bf16_from_rows(threads, b, k, n)),
        }
    }

    /// Some columns of the matrix, in the given order: what a product gives in a column does not depend on the others.
    ///
    /// # Panics
    /// Where there is no such column.
    pub(crate) fn select(&self, threads: &Threads, columns: &[usize]) -> Self {
        match self {
            Self::Exact(b) => Self::Exact(b.select(threads, columns)),
            Self::Narrow(b) => Self::Narrow(b.select(threads, columns)),
        }
    }

    /// The matrix \[n,k\], row-major, as products see it.
    pub(crate) fn transposed(&self) -> Vec<T> {
        let (k, n) = match self {
            Self::Exact(b) => (b.k(), b.n()),
            Self::Narrow(b) => (b.k(), b.n()),
        };
        let mut rows = pool::take(n * k);
        rows.chunks_exact_mut(k.max(1)).enumerate().for_each(|(column, row)| self.copy_column(column, row));
        rows
    }

    /// Copies a column, as products see it: a row of what was packed.
    pub(crate) fn copy_column(&self, column: usize, to: &mut [T]) {
        match self {
            Self::Exact(b) => {
                let panel = &b.panels()[column / PANEL * PANEL * b.k()..][..PANEL * b.k()];
                for (to, line) in to.iter_mut().zip(panel.chunks_exact(PANEL)) {
                    *to = line[column % PANEL];
                }
            }
            Self::Narrow(b) => {
                for (depth, to) in to.iter_mut().enumerate() {
                    *to = T::from_f64(f64::from(b.number(depth, column) * b.scale(column)));
                }
            }
        }
    }

    /// `C = A·B` for `A [m, k]` and `C [m, n]`, dense; plus C if `accumulate`, plus `bias [n]` on each row.
    ///
    /// # Panics
    /// If the sizes do not fit.
    pub fn multiply(
        &self,
        threads: &Threads,
        a: &[T],
        m: usize,
        c: &mut [T],
        accumulate: bool,
        bias: Option<&[T]>,
    ) {
        match self {
            Self::Exact(b) => T::gemm(threads, a, m, b, c, accumulate, bias),
            Self::Narrow(b) => T::gemm_narrow(threads, a, m, b, c, accumulate, bias),
        }
    }
}
