//! Models of other programs.

pub mod hf_marian;
pub mod marian;
pub mod npz;
