//! Arrays, reverse-mode differentiation and the kernels below them: the engine of Regard.
//!
//! A [`Tensor`] is a shape and a shared buffer; a [`Tape`] records the coarse operations of [`ops`], each with a
//! hand-written backward pass; [`optim`] changes the weights. Every fast kernel has a plain twin in
//! [`kernels::reference`], generic over `f32` and `f64`, so that finite differences run in `f64`.
//!
//! What a result depends on: the values alone. The order of each sum depends on its index, never on the number of
//! rows, on padding or on threads, so the same sentence gives the same bits in any company.
//!
//! ```
//! use regard_tensor::{Tape, Tensor, Threads, ops};
//! let threads = Threads::single();
//! let tape = Tape::new(&threads);
//! let x = tape.leaf(Tensor::new([1, 2], vec![1.0_f32, 2.0])?);
//! let w = tape.leaf(Tensor::new([1, 2], vec![3.0, 4.0])?);
//! let y = ops::linear(&tape, &x, &w, None)?;
//! assert_eq!(y.value().item(), 11.0);
//! let gradients = tape.backward(&y)?;
//! assert_eq!(gradients.get(&w).unwrap().values(), [1.0, 2.0]);
//! # Ok::<(), regard_tensor::TensorError>(())
//! ```

mod element;
mod error;
mod gradient;
pub mod gradient_check;
pub mod kernels;
mod log_probs;
pub mod ops;
pub mod optim;
pub mod pool;
mod precision;
pub mod random;
mod recycle;
mod shape;
mod tape;
mod tensor;
mod threads;

pub use element::{Element, Number};
pub use error::{Result, TensorError};
pub use gradient::{Gradient, RowGradient};
pub use log_probs::{ColumnList, LogProbRow, LogProbs};
pub use precision::Precision;
pub use recycle::List;
pub use shape::Shape;
pub use tape::{Gradients, Tape, Var};
pub use tensor::Tensor;
pub use threads::Threads;
