//! Faults seen in the field, by number, at the level of the program: each test has the exact input of its report.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../common/mod.rs"]
mod common;

mod crashes;
mod families;
mod lines;
mod metrics;
mod numbers;
mod streams;
mod vocabularies;
