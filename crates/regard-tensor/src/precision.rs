//! What matrix products are computed in.

/// What matrix products with weights are computed in. Their sums, and all else, are f32.
///
/// A product in another precision than f32 has the same bits for any batch and number of threads, but in bf16 not on
/// every kind of processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// The numbers as they are.
    #[default]
    F32,
    /// Both sides rounded to the upper 16 bits of f32: 8 bits of precision, the whole range. For training.
    Bf16,
    /// Both sides in 8 bits with a scale for each row of numbers and of weights (as `CTranslate2` and Marian do). For
    /// running a trained model; what is recorded for a backward pass should not use it.
    Int8,
}
