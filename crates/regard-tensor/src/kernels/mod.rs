//! The inner loops: matrix products on packed operands, and functions over slices and rows.
//!
//! [`Kernels`] lists them once. For `f32` they are the fast ones in [`cpu`]; for `f64` the plain ones in
//! [`reference`](mod@reference), which are also what the fast ones are tested against.
//!
//! **Bits.** What a kernel returns for a row depends on that row and the shared operand alone. An element of a matrix
//! product is one chain of multiply-adds for each block of the depth, and the blocks depend on the depth alone; a sum
//! over a row goes through lanes chosen by index, so that zeros behind the row's end change nothing. The number of rows,
//! the place in a tile and the number of threads never matter. Processors with and without fused multiply-add differ, and
//! in bf16 those with and without instructions for it.

mod adam;
pub mod cpu;
mod narrow;
mod operand;
mod packed;
pub mod reference;

pub use adam::AdamNumbers;
pub use narrow::Narrow;
pub(crate) use narrow::NarrowForm;
pub use operand::Operand;
pub(crate) use packed::PANEL;
pub use packed::Packed;

use crate::element::Number;
use crate::threads::Threads;
use std::ops::Range;

/// Rows of a weight gradient, see [`Kernels::gemm_tn`].
pub trait Segment<T>: Sync {
    /// The gradient dY `[rows, n_out]`.
    fn dy(&self) -> &[T];
    /// The input X `[rows, n_in]`.
    fn x(&self) -> &[T];
    /// Their number.
    fn rows(&self) -> usize;
}

impl<T: Sync> Segment<T> for (&[T], &[T], usize) {
    fn dy(&self) -> &[T] {
        self.0
    }

    fn x(&self) -> &[T] {
        self.1
    }

    fn rows(&self) -> usize {
        self.2
    }
}

/// Values of a row of which [`Kernels::log_softmax_terms`] finds the largest.
pub const PEAK_BLOCK: usize = 64;

/// Declares [`Kernels`] and implements it for both types from one list of signatures.
macro_rules! kernels {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)?;)*) => {
        /// The kernels of an element type. Lengths that do not fit together panic: the ops above check shapes first.
        pub trait Kernels: Number {
            $($(#[$doc])* fn $name($($arg: $ty),*) $(-> $ret)?;)*
        }
        impl Kernels for f32 {
            $(#[inline] fn $name($($arg: $ty),*) $(-> $ret)? { cpu::$name(cpu::Isa::detect(), $($arg),*) })*
        }
        impl Kernels for f64 {
            $(#[inline] fn $name($($arg: $ty),*) $(-> $ret)? { reference::$name($($arg),*) })*
        }
    };
}

kernels! {
    /// `C = A·B` for `A [m, k]`, `B [k, n]` and `C [m, n]`, dense; plus C if `accumulate`, plus `bias [n]` on each row.
    fn gemm(
        threads: &Threads, a: &[Self], m: usize, b: &Packed<Self>, c: &mut [Self], accumulate: bool,
        bias: Option<&[Self]>,
    );
    /// The weight gradient `C = Σ dYᵀ·X`, `C [n_out, n_in]`, plus C if `accumulate`: one sum over the rows of all segments in
    /// order.
    fn gemm_tn(
        threads: &Threads, segments: &[impl Segment<Self>], n_out: usize, n_in: usize, c: &mut [Self],
        accumulate: bool,
    );
    /// As [`Kernels::gemm`], in the precision of `b`.
    fn gemm_narrow(
        threads: &Threads, a: &[Self], m: usize, b: &Narrow, c: &mut [Self], accumulate: bool,
        bias: Option<&[Self]>,
    );
    /// As [`Kernels::gemm_tn`], of numbers rounded to bf16.
    fn gemm_tn_bf16(
        threads: &Threads, segments: &[impl Segment<Self>], n_out: usize, n_in: usize, c: &mut [Self],
        accumulate: bool,
    );
    /// Rounds a row to bf16 (to nearest, ties to even), two numbers a word, the first one low.
    fn bf16_words(row: &[Self], words: &mut [u32]);
    /// Rounds two rows to bf16, a word for each column, the first row low.
    fn bf16_pair_words(first: &[Self], second: &[Self], words: &mut [u32]);
    /// The scale of a row in 8 bits: its largest size over 127. NaN where one of its numbers is.
    fn int8_scale(row: &[Self]) -> f32;
    /// The row over its scale, rounded (ties to even), four signed bytes a word, the first one lowest; with the bits of
    /// `flip` turned over in each word.
    fn int8_words(row: &[Self], scale: f32, flip: u32, words: &mut [u32]);
    /// `Σ a·b`.
    fn dot(a: &[Self], b: &[Self]) -> Self;
    /// `y += alpha·x`.
    fn axpy(alpha: Self, x: &[Self], y: &mut [Self]);
    /// `y += x`.
    fn add_assign(y: &mut [Self], x: &[Self]);
    /// `y *= x`, element by element.
    fn mul_assign(y: &mut [Self], x: &[Self]);
    /// `x *= by`.
    fn scale(x: &mut [Self], by: Self);
    /// `x = (x − less)·by`.
    fn subtract_and_scale(x: &mut [Self], less: Self, by: Self);
    /// Adds each row of `rows [r, n]` to `sums [n]`, in order: the gradient of a bias.
    fn add_column_sums(rows: &[Self], sums: &mut [Self]);
    /// Layer normalisation without its weights: `out = (x − mean)·s`; returns `s = 1 / √(variance + ε)`.
    fn normalise_row(x: &[Self], epsilon: Self, out: &mut [Self]) -> Self;
    /// `x = x·by + plus`, element by element.
    fn scale_and_shift(x: &mut [Self], by: &[Self], plus: &[Self]);
    /// `Σ x`.
    fn sum_slice(x: &[Self]) -> Self;
    /// `Σ x²`, in f64.
    fn sum_squares(x: &[Self]) -> f64;
    /// `x = e^x`.
    fn exp_slice(x: &mut [Self]);
    /// `x = tanh x`.
    fn tanh_slice(x: &mut [Self]);
    /// `x = σ(x) = 1 / (1 + e^−x)`.
    fn sigmoid_slice(x: &mut [Self]);
    /// `x = x·Φ(x)`, Φ the normal distribution function: GELU in its exact form.
    fn gelu_slice(x: &mut [Self]);
    /// Its backward pass: `dx += dy·(Φ(x) + x·φ(x))`.
    fn gelu_backward_slice(x: &[Self], dy: &[Self], dx: &mut [Self]);
    /// `x = x·σ(x)`: swish, also `SiLU`.
    fn swish_slice(x: &mut [Self]);
    /// Its backward pass: `dx += dy·σ(x)·(1 + x·(1 − σ(x)))`.
    fn swish_backward_slice(x: &[Self], dy: &[Self], dx: &mut [Self]);
    /// `log Σ e^x`, natural; −∞ for an empty row or one of −∞ only.
    fn log_sum_exp(x: &[Self]) -> Self;
    /// The largest number; −∞ for an empty row. NaN is passed over.
    fn largest(x: &[Self]) -> Self;
    /// `x = softmax x`. A row of −∞ only, where nothing may be attended, becomes zeros.
    fn softmax_row(x: &mut [Self]);
    /// `x = log softmax x`, natural. A row of −∞ only stays as it is.
    fn log_softmax_row(x: &mut [Self]);
    /// What [`log_softmax_row`](Self::log_softmax_row) subtracts from each value, one after the other: the largest one and
    /// log Σ e^(x − largest); zeros where it changes nothing. `peaks [blocks]` receives the largest value of each block of
    /// [`PEAK_BLOCK`].
    fn log_softmax_terms(x: &[Self], peaks: &mut [Self]) -> (Self, Self);
    /// Scores of many heads for one row: `out [heads, len] = factor·q_h·k_jh`, for the query `q [heads·width]` and `len` keys
    /// like it.
    fn head_scores_row(q: &[Self], keys: &[&[Self]], heads: usize, factor: Self, out: &mut [Self]);
    /// Contexts of many heads for one row: `out [heads·width] = Σ w_hj·v_jh` in the order of j, for the weights `w [heads, len]`
    /// and `len` values like `out`.
    fn head_contexts_row(w: &[Self], values: &[&[Self]], heads: usize, out: &mut [Self]);
    /// One LSTM cell (PyTorch's `LSTMCell`): `gates [4H]` holds i, f, g, o before their functions;
    /// `c = σ(f)∘c_prev + σ(i)∘tanh g`, `h = σ(o)∘tanh c`. `saved [5H]` receives the four functions' values and `tanh c`.
    fn lstm_cell_row(gates: &[Self], c_prev: &[Self], h: &mut [Self], c: &mut [Self], saved: &mut [Self]);
    /// Its backward pass from `saved`: writes the gradients of `gates [4H]` and of `c_prev [H]`.
    fn lstm_cell_backward_row(
        saved: &[Self], c_prev: &[Self], dh: &[Self], dc: &[Self], dgates: &mut [Self], dc_prev: &mut [Self],
    );
    /// One GRU cell with the reset gate after the product (PyTorch's `GRUCell`): `r = σ(x_r + u_r)`, `z = σ(x_z + u_z)`,
    /// `n = tanh(x_n + r∘u_n)`, `h = (1 − z)∘n + z∘h_prev`. `x_gates [3H]` and `h_gates [3H]` hold x and u, the products of
    /// input and state with their biases, in the order r, z, n; `saved [3H]` receives r, z, n.
    fn gru_cell_row(x_gates: &[Self], h_gates: &[Self], h_prev: &[Self], h: &mut [Self], saved: &mut [Self]);
    /// Its backward pass: writes the gradients of `x_gates [3H]` and `h_gates [3H]`, and the part of that of `h_prev [H]`
    /// which does not go through `h_gates`.
    fn gru_cell_backward_row(
        saved: &[Self], h_gates: &[Self], h_prev: &[Self], dh: &[Self], gradients: [&mut [Self]; 3],
    );
    /// Additive attention scores `Σ v·tanh(q + k)` of the query `q [A]`, one for each of the `keys [len, A]`.
    fn additive_scores_row(q: &[Self], keys: &[Self], v: &[Self], out: &mut [Self]);
    /// Its backward pass, which computes the tanh again: adds to the gradients of `q [A]`, `keys [len, A]` and `v [A]`.
    fn additive_scores_backward_row(
        q: &[Self], keys: &[Self], v: &[Self], dscores: &[Self], gradients: [&mut [Self]; 3],
    );
    /// One step of Adam or `AdamW` on a parameter with its moments `m` and `v`, see [`AdamNumbers`].
    fn adam_update(param: &mut [Self], grad: &[Self], m: &mut [Self], v: &mut [Self], numbers: &AdamNumbers);
}

/// Panics unless the operands of [`Kernels::gemm`] fit together.
fn check_gemm<T: Number>(a: &[T], m: usize, (k, n): (usize, usize), c: &[T], bias: Option<&[T]>) {
    assert_eq!(a.len(), m * k, "A is [m,k]");
    assert_eq!(c.len(), m * n, "C is [m,n]");
    assert!(bias.is_none_or(|bias| bias.len() == n), "the bias is [n]");
}

/// Panics unless there is one peak for each block of a row.
fn check_peaks<T>(x: &[T], peaks: &[T]) {
    assert_eq!(peaks.len(), x.len().div_ceil(PEAK_BLOCK), "one peak a block");
}

/// The width of a head. Panics unless a row is cut into whole heads, all others are as long, and there is a number for each
/// head and each of them.
fn check_head_rows<T>(row: &[T], others: &[&[T]], heads: usize, numbers: &[T]) -> usize {
    let width = row.len().checked_div(heads).unwrap_or(0);
    assert!(width > 0 && width * heads == row.len(), "a row is [heads·width]");
    assert!(others.iter().all(|other| other.len() == row.len()), "all rows are [heads·width]");
    assert_eq!(numbers.len(), heads * others.len(), "one number for each head and row");
    width
}

/// The rows of all segments. Panics unless the operands of [`Kernels::gemm_tn`] fit together.
fn check_gemm_tn<T>(segments: &[impl Segment<T>], n_out: usize, n_in: usize, c: &[T]) -> usize {
    assert_eq!(c.len(), n_out * n_in, "C is [n_out,n_in]");
    for segment in segments {
        let fits = |x: &[T], width: usize| x.len() == segment.rows() * width;
        assert!(fits(segment.dy(), n_out) && fits(segment.x(), n_in), "dY is [r,n_out] and X is [r,n_in]");
    }
    segments.iter().map(Segment::rows).sum()
}

/// Some rows of a matrix that lies in several blocks, each row-major.
fn rows_of<'a, T: 'a>(
    blocks: impl Iterator<Item = &'a [T]>,
    width: usize,
    rows: Range<usize>,
) -> impl Iterator<Item = &'a [T]> {
    let parts = blocks.scan(0, move |end, block| {
        let start = *end;
        *end += block.len() / width;
        let part = rows.start.clamp(start, *end) - start..rows.end.clamp(start, *end) - start;
        Some(block[part.start * width..part.end * width].chunks_exact(width))
    });
    parts.flatten()
}
