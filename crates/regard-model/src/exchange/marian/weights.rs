//! Their weights by our names, the rows of the tables in our order.

use std::collections::BTreeSet;

use regard_tensor::Tensor;
use regard_text::special_tokens::{BOS, PAD};

use super::options::{MODEL_YML, Options};
use super::vocabulary::Words;
use crate::config::TiedEmbeddings;
use crate::error::Result;
use crate::exchange::npz::Npz;

/// The output's bias for what is never written: e to it is 0, and sums with it stay finite.
const NEVER: f32 = -1e4;

/// What nobody has taken yet, and what has been taken over. Marian's matrices are `[in, out]`, ours `[out, in]`.
pub(super) struct Weights<'a> {
    npz: &'a Npz,
    left: BTreeSet<&'a str>,
    converted: Vec<(String, Tensor)>,
}

impl<'a> Weights<'a> {
    pub(super) fn new(npz: &'a Npz) -> Self {
        Self { npz, left: npz.names().filter(|&name| name != MODEL_YML).collect(), converted: Vec::new() }
    }

    /// Ends the conversion: nothing may be left.
    pub(super) fn finish(self) -> Result<Vec<(String, Tensor)>> {
        match self.left.first() {
            None => Ok(self.converted),
            Some(name) => {
                Err(self.npz.problem(format!("\"{name}\" is no weight of the model in {MODEL_YML}")))
            }
        }
    }

    pub(super) fn put(&mut self, name: &str, value: Tensor) {
        self.converted.push((name.to_owned(), value));
    }

    /// A map, `[out, in]`.
    pub(super) fn matrix(&mut self, name: &str, out: usize, input: usize) -> Result<Tensor> {
        self.left.remove(name);
        let stored = self.npz.tensor(name, [input, out])?;
        Ok(Tensor::build([out, input], |values| {
            for (row, values) in values.chunks_exact_mut(input.max(1)).enumerate() {
                for (column, value) in values.iter_mut().enumerate() {
                    *value = stored.row(column)[row];
                }
            }
        }))
    }

    /// A vector.
    pub(super) fn vector(&mut self, name: &str, size: usize) -> Result<Tensor> {
        self.left.remove(name);
        self.npz.tensor(name, [size])
    }

    /// `ours.weight`, `ours.bias` from a map and its bias.
    pub(super) fn affine(
        &mut self,
        ours: &str,
        [weight, bias]: [&str; 2],
        [out, input]: [usize; 2],
    ) -> Result<()> {
        let (weight, bias) = (self.matrix(weight, out, input)?, self.vector(bias, out)?);
        self.put(&format!("{ours}.weight"), weight);
        self.put(&format!("{ours}.bias"), bias);
        Ok(())
    }

    /// The tables of words, the output layer and its bias, which they call `output`.
    pub(super) fn tables(
        &mut self,
        options: &Options,
        output: &str,
        (source, target): (&Words, &Words),
        [embedding, readout]: [usize; 2],
    ) -> Result<()> {
        let (shared, tied) = options.tied()?;
        let [source_name, target_name] = table_names(shared);
        let target_table = self.table(target_name, target, embedding)?;
        if tied == TiedEmbeddings::All {
            if !source.is_same(target) {
                return Err(
                    options.problem("one table serves both sides, and their vocabularies differ".to_owned())
                );
            }
            self.put("embedding.weight", target_table);
        } else {
            let source_table = self.table(source_name, source, embedding)?;
            self.put("source_embedding.weight", source_table);
            self.put("target_embedding.weight", target_table);
        }
        if tied == TiedEmbeddings::None {
            let weight = self.output_weight(output, target, readout)?;
            self.put("output.weight", weight);
        }
        self.output_bias(options, output, target)
    }

    /// A table `[ids, width]` in our order; what they do not have is zeros, as the word before the first one is there.
    fn table(&mut self, name: &str, words: &Words, width: usize) -> Result<Tensor> {
        self.left.remove(name);
        let stored = self.npz.tensor(name, [their_size(words), width])?;
        Ok(reordered(&stored, words))
    }

    /// The output layer, which old versions stored the other way around.
    fn output_weight(&mut self, output: &str, target: &Words, width: usize) -> Result<Tensor> {
        let untransposed = format!("{output}_W");
        if self.left.contains(untransposed.as_str()) {
            let stored = self.matrix(&untransposed, their_size(target), width)?;
            return Ok(reordered(&stored, target));
        }
        self.table(&format!("{output}_Wt"), target, width)
    }

    fn output_bias(&mut self, options: &Options, output: &str, target: &Words) -> Result<()> {
        let stored = if options.flag("output-omit-bias")? {
            Tensor::zeros([their_size(target)])
        } else {
            self.vector(&format!("{output}_b"), their_size(target))?
        };
        let stored = stored.reshape([their_size(target), 1])?;
        let mut bias = reordered(&stored, target).values().to_vec();
        for id in [PAD, BOS] {
            bias[id as usize] = NEVER;
        }
        self.put("output.bias", Tensor::new([bias.len()], bias)?);
        Ok(())
    }
}

/// What the tables of source and target are called.
pub(super) fn table_names(shared: bool) -> [&'static str; 2] {
    if shared { ["Wemb", "Wemb"] } else { ["encoder_Wemb", "decoder_Wemb"] }
}

/// The rows of their tables.
fn their_size(words: &Words) -> usize {
    words.rows.iter().flatten().count()
}

/// The rows of a table in our order; what they do not have is zeros.
fn reordered(stored: &Tensor, words: &Words) -> Tensor {
    let width = stored.shape().last();
    Tensor::build([words.rows.len(), width], |values| {
        for (values, row) in values.chunks_exact_mut(width.max(1)).zip(&words.rows) {
            match row {
                Some(row) => values.copy_from_slice(stored.row(*row)),
                None => values.fill(0.0),
            }
        }
    })
}
