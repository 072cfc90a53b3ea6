//! The demonstration: a small language that the program speaks perfectly, to learn from and to be measured on.

pub mod grammar;

mod generator;
mod lexicon;
mod phrase;
mod random;
