//! Models of other programs.

pub mod hf_marian;
