//! Regard: sequence-to-sequence learning with attention, and a look at where it looks.

pub mod demo;
