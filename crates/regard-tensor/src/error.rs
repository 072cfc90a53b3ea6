//! What can go wrong in an operation: always the operation's name and the shapes that did not fit.

use crate::Shape;

/// An operation was called with arguments that do not fit together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TensorError {
    /// Two arguments of an operation have shapes that do not go together.
    #[error("{op}: shapes {left} and {right} do not fit")]
    ShapeMismatch {
        /// The operation.
        op: &'static str,
        /// The shape of the first argument.
        left: Shape,
        /// The shape of the second argument.
        right: Shape,
    },
    /// A list of values has another length than the shape says.
    #[error("{op}: {found} values for the shape {shape}")]
    Length {
        /// The operation.
        op: &'static str,
        /// The shape.
        shape: Shape,
        /// How many values came.
        found: usize,
    },
    /// An index lies outside of what it indexes.
    #[error("{op}: index {index} is outside 0..{limit}")]
    Index {
        /// The operation.
        op: &'static str,
        /// The index.
        index: usize,
        /// The first index that is too large.
        limit: usize,
    },
    /// A gradient was asked of something that is not one number, or was not recorded.
    #[error("backward: the start must be one recorded number, found the shape {shape}")]
    NotALoss {
        /// The shape that was found.
        shape: Shape,
    },
}

/// The result of an operation.
pub type Result<V> = std::result::Result<V, TensorError>;
