//! Our weights by their names, the rows of the tables in their order.

use std::collections::BTreeMap;

use regard_tensor::Tensor;
use regard_text::special_tokens::BOS;

use super::super::names::{self, DECODER_TABLE, ENCODER_TABLE, NEVER, OUTPUT, OUTPUT_BIAS, SHARED, Stream};
use super::vocabulary::Vocabularies;
use crate::checkpoint::named;
use crate::config::{Positions, TiedEmbeddings, TransformerConfig};
use crate::error::{ModelError, Result};
use crate::parameters::Parameters;

/// All tensors of the file.
pub(super) fn convert(
    config: &TransformerConfig,
    parameters: &Parameters,
    vocabularies: &Vocabularies,
) -> Result<Vec<(String, Tensor)>> {
    let mut network = Network { config, weights: named(parameters).into_iter().collect() };
    network.start_from_zero()?;
    if config.positions == Positions::Sinusoidal {
        network.put_sines_first()?;
    }
    let mut tensors = network.tables(vocabularies)?;
    tensors.push((OUTPUT_BIAS.to_owned(), network.output_bias(vocabularies)?));
    for weight in names::layers(config) {
        tensors.push((weight.theirs, network.weight(&weight.ours)?.clone()));
    }
    Ok(tensors)
}

/// The weights by our names, on their way.
struct Network<'a> {
    config: &'a TransformerConfig,
    weights: BTreeMap<String, Tensor>,
}

impl Network<'_> {
    fn weight(&self, name: &str) -> Result<&Tensor> {
        self.weights.get(name).ok_or_else(|| missing(name))
    }

    fn weight_mut(&mut self, name: &str) -> Result<&mut Tensor> {
        self.weights.get_mut(name).ok_or_else(|| missing(name))
    }

    /// The tables of words: of both sides, or of the source and the target.
    fn table_names(&self) -> &'static [&'static str] {
        match self.config.tied_embeddings {
            TiedEmbeddings::All => &["embedding.weight"],
            TiedEmbeddings::None | TiedEmbeddings::TargetOutput => {
                &["source_embedding.weight", "target_embedding.weight"]
            }
        }
    }

    /// Makes the row of `<s>` zero, which is what the decoder starts with in every model that Marian has trained, and all
    /// that converters provide for. All rows of the target's table lose that vector b, which changes
    /// - the logits, where the output layer is that table, by −h·b, the same for all tokens: no probability changes;
    /// - what the first layer of a reader of the table gets, by −s·b at every place, s being the factor of the embeddings:
    ///   its first part adds s·b to the biases through which it reads, W·(x − s·b) + (c + s·W·b) = W·x + c, and to what it
    ///   writes beside x, so that its norm sees what it saw before.
    fn start_from_zero(&mut self) -> Result<()> {
        let shares = self.config.tied_embeddings == TiedEmbeddings::All;
        let table = if shares { "embedding.weight" } else { "target_embedding.weight" };
        let start = self.weight(table)?.row(BOS as usize).to_vec();
        if start.iter().all(|&value| value == 0.0) {
            return Ok(());
        }
        for row in self.weight_mut(table)?.values_mut().chunks_exact_mut(start.len()) {
            row.iter_mut().zip(&start).for_each(|(value, start)| *value -= start);
        }
        let factor = if self.config.scale_embeddings { (self.config.d_model as f64).sqrt() } else { 1.0 };
        let shift: Vec<f64> = start.iter().map(|&value| f64::from(value) * factor).collect();
        for stack in if shares { &["encoder", "decoder"][..] } else { &["decoder"] } {
            let part = format!("{stack}.0.self_attention");
            for map in ["query", "key", "value"] {
                let weight = self.weight(&format!("{part}.{map}.weight"))?;
                let through: Vec<f64> =
                    weight.values().chunks_exact(shift.len()).map(|row| dot(row, &shift)).collect();
                self.add(&format!("{part}.{map}.bias"), &through)?;
            }
            self.add(&format!("{part}.output.bias"), &shift)?;
        }
        Ok(())
    }

    fn add(&mut self, name: &str, change: &[f64]) -> Result<()> {
        for (value, change) in self.weight_mut(name)?.values_mut().iter_mut().zip(change) {
            *value = (f64::from(*value) + change) as f32;
        }
        Ok(())
    }

    /// Gives the vectors between the layers another order of their places, in which sines and cosines in turn become all
    /// sines before all cosines. Norms and sums do not mind the order, so it is enough that all weights agree on it.
    fn put_sines_first(&mut self) -> Result<()> {
        let width = self.config.d_model;
        let order: Vec<usize> = (0..width).step_by(2).chain((1..width).step_by(2)).collect();
        for weight in names::layers(self.config) {
            let value = self.weight(&weight.ours)?;
            let value = match weight.stream {
                Stream::Inner => continue,
                Stream::Read => select_columns(value, &order)?,
                Stream::Written => select_first(value, &order)?,
            };
            self.weights.insert(weight.ours, value);
        }
        let output = (self.config.tied_embeddings == TiedEmbeddings::None).then_some("output.weight");
        for &name in self.table_names().iter().chain(output.as_ref()) {
            let value = select_columns(self.weight(name)?, &order)?;
            self.weights.insert(name.to_owned(), value);
        }
        Ok(())
    }

    fn tables(&self, vocabularies: &Vocabularies) -> Result<Vec<(String, Tensor)>> {
        let (source, target) = (&vocabularies.source.rows, &vocabularies.target.rows);
        let tables: &[(&str, &str, &Vec<usize>)] = match self.config.tied_embeddings {
            TiedEmbeddings::All => &[(SHARED, "embedding.weight", target)],
            TiedEmbeddings::TargetOutput => &[
                (ENCODER_TABLE, "source_embedding.weight", source),
                (DECODER_TABLE, "target_embedding.weight", target),
            ],
            TiedEmbeddings::None => &[
                (ENCODER_TABLE, "source_embedding.weight", source),
                (DECODER_TABLE, "target_embedding.weight", target),
                (OUTPUT, "output.weight", target),
            ],
        };
        let table = |&(theirs, ours, rows): &(&str, &str, &Vec<usize>)| {
            Ok((theirs.to_owned(), self.weight(ours)?.select_rows(rows)?))
        };
        tables.iter().map(table).collect()
    }

    /// The bias of every token, and of `<pad>` one that makes it impossible.
    fn output_bias(&self, vocabularies: &Vocabularies) -> Result<Tensor> {
        let rows = &vocabularies.target.rows;
        let mut bias = match self.weights.get("output.bias") {
            Some(bias) => select_first(bias, rows)?,
            None => Tensor::zeros([rows.len()]),
        };
        bias.values_mut()[vocabularies.pad] = NEVER;
        Ok(bias.reshape([1, rows.len()])?)
    }
}

fn missing(name: &str) -> ModelError {
    ModelError::Config(format!("weight \"{name}\" is missing"))
}

fn dot(row: &[f32], vector: &[f64]) -> f64 {
    row.iter().zip(vector).map(|(&a, b)| f64::from(a) * b).sum()
}

/// The rows of a matrix, or the entries of a vector, in another order.
fn select_first(value: &Tensor, order: &[usize]) -> Result<Tensor> {
    if value.shape().sizes().len() > 1 {
        return Ok(value.select_rows(order)?);
    }
    let entries = value.reshape([value.shape().len(), 1])?.select_rows(order)?;
    Ok(entries.reshape([order.len()])?)
}

/// The columns of a matrix in another order.
fn select_columns(value: &Tensor, order: &[usize]) -> Result<Tensor> {
    let rows = value.values().chunks_exact(order.len());
    let values = rows.flat_map(|row| order.iter().map(|&column| row[column])).collect();
    Ok(Tensor::new(value.shape(), values)?)
}
