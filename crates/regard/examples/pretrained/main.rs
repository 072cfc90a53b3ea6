//! Brings the weights of models that others trained into Regard, and runs them.
//!
//! ```text
//! cargo run --release --example pretrained -- g2p_en DIRECTORY transformer attention
//! cargo run --release --example pretrained -- netra DIRECTORY angkor phnompenh
//! ```
//!
//! Four steps, the same for every network that a [`RecurrentConfig`](regard::model::RecurrentConfig) can describe:
//!
//! 1. Write down what the network is: `network` in `g2p_en.rs` and `netra.rs`. Cell, directions, where the first state
//!    comes from, which state asks the attention, what goes into the output layer.
//! 2. `RecurrentModel::new` then has a place for every weight; `model.parameters()` lists names and shapes. All matrices
//!    are `[out, in]`; gates are in the order i, f, g, o (LSTM) and r, z, n (GRU).
//! 3. Put a weight into every place: `fill` in `foreign.rs` refuses what is missing, unknown or of another shape. What is
//!    done differently elsewhere can mostly be said by the weights: rows in another order, a product of two linear maps
//!    written as one, a map that is not there as the identity.
//! 4. Ids of the target side must begin with Regard's four control symbols (padding, unknown, start, end): reorder the
//!    rows of embedding and output layer. Source ids are free, as long as each row holds what the network was trained on.
//!
//! Then hold the result against numbers of the original program, as `tests/pretrained_models.rs` does: text
//! that looks right is no proof.

mod foreign;
mod g2p_en;
mod netra;

use std::path::Path;
use std::process::ExitCode;

use foreign::Result;
use g2p_en::G2p;
use netra::Netra;
use regard::look::{Colour, TerminalOptions, heatmap_terminal};
use regard::tensor::Threads;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, directory, words @ ..] = arguments.as_slice() else {
        return Err("usage: pretrained g2p_en|netra DIRECTORY WORD...".into());
    };
    let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match model.as_str() {
        "g2p_en" => pronounce(Path::new(directory), &words),
        "netra" => transliterate(Path::new(directory), &words),
        other => Err(format!("unknown model \"{other}\": g2p_en or netra").into()),
    }
}

fn pronounce(directory: &Path, words: &[&str]) -> Result<()> {
    let found = G2p::load(directory)?.pronounce(&Threads::all(), words)?;
    for (word, found) in words.iter().zip(found) {
        println!("{word}\t{}\tlog p = {:.5}", found.phonemes, found.log_prob);
    }
    Ok(())
}

fn transliterate(directory: &Path, words: &[&str]) -> Result<()> {
    let found = Netra::load(directory)?.transliterate(&Threads::all(), words)?;
    let options = TerminalOptions { width: 80, colour: Colour::Plain, sums: false };
    for (word, found) in words.iter().zip(found) {
        println!("{word}\t{}\tlog p = {:.5}", found.text, found.log_prob);
        println!("{}", heatmap_terminal(&found.look, options));
    }
    Ok(())
}
