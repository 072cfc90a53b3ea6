//! `netra`: Khmer words from the Latin letters that people type, by a Bahdanau model.
//!
//! Trained in Keras (netra transliterate, Yut, MIT). It differs from Regard in three ways, and none of them needs code in
//! the model:
//!
//! - A Keras matrix is `[in, out]` and a Keras GRU has the gate order z, r, n: matrices are transposed, gates reordered.
//! - The encoder's states pass through one more linear map P h + b, and attention reads its output, as keys and as
//!   values. The score v · tanh(q + P h + b) is Regard's additive one with W = 1, U = P and b as its bias. The values'
//!   map goes into the output layer: weights sum to 1, so W\_c Σ w (P h + b) = (W\_c P) Σ w h + W\_c b.
//! - Start and end symbol have the last target ids instead of 2 and 3: rows of embedding and output are reordered.
//!
//! Every source is filled with padding to 25 letters that are read and attended to like any others.

use std::collections::BTreeMap;
use std::path::Path;

use regard::decode::{Decoding, Hypothesis, Look, MaxLength, SearchOptions};
use regard::look::Heatmap;
use regard::model::exchange::npz::Npz;
use regard::model::{
    AttentionConfig, Bidirectional, CellKind, ContextKind, DecoderConfig, EncoderConfig, InitialState, Query,
    Readout, ReadoutState, RecurrentConfig, RecurrentModel, Score,
};
use regard::tensor::{Tensor, Threads};
use regard::text::Padded;
use regard::text::special_tokens::EOS_TOKEN;
use serde::Deserialize;

use crate::foreign::{Result, fill, read_json};

/// The width of the embeddings.
const EMBEDDING: usize = 32;
/// The width of every GRU, of the attention and of the projected encoder states.
const HIDDEN: usize = 64;
/// The width of the encoder's states, both directions side by side.
const MEMORY: usize = 2 * HIDDEN;

/// The model and its symbols.
pub(crate) struct Netra {
    model: RecurrentModel,
    config: Config,
    /// The target letters in the order of Regard's ids; the four control symbols are empty.
    letters: Vec<String>,
}

/// What the model writes for a word.
pub(crate) struct Transliteration {
    /// The word in Khmer.
    pub(crate) text: String,
    /// The natural logarithm of its probability, the end symbol included.
    pub(crate) log_prob: f64,
    /// Where it looked: a row for each letter and one for the end symbol, a column for each of 25 source positions.
    pub(crate) look: Heatmap,
}

/// `config.json`: the ids of the symbols, and the lengths.
#[derive(Deserialize)]
struct Config {
    src_vocab: BTreeMap<String, u32>,
    tgt_vocab: BTreeMap<String, u32>,
    pad_id: u32,
    bos: String,
    eos: String,
    max_src_len: usize,
    max_tgt_len: usize,
}

impl Netra {
    /// Reads `config.json` and `weights.npz`.
    pub(crate) fn load(directory: &Path) -> Result<Self> {
        let config: Config = read_json(&directory.join("config.json"))?;
        let npz = Npz::read(&directory.join("weights.npz"))?;
        let order = target_order(&config)?;
        // The padding has an id but no name.
        let sizes = (config.src_vocab.len() + 1, config.tgt_vocab.len() + 1);
        let mut model = RecurrentModel::new(&network(), sizes.0, sizes.1, 0)?;
        fill(&mut model, weights(&npz, sizes, &order)?)?;
        let mut letters = vec![String::new(); order.len()];
        for (letter, &id) in &config.tgt_vocab {
            let place = order.iter().position(|&theirs| theirs == id as usize);
            if let Some(place) = place.filter(|&place| place >= 4) {
                letters[place].clone_from(letter);
            }
        }
        Ok(Self { model, config, letters })
    }

    /// The most probable transliteration of each word, letter by letter, and where the model looked.
    pub(crate) fn transliterate(&self, threads: &Threads, words: &[&str]) -> Result<Vec<Transliteration>> {
        let rows = words.iter().map(|word| self.row(word)).collect::<Result<Vec<_>>>()?;
        let max_length = MaxLength::Fixed(self.config.max_tgt_len);
        let options =
            SearchOptions { max_length, attention: Some(Look::default()), ..SearchOptions::greedy() };
        let found = Decoding::new(&self.model, threads).search(&Padded::from_rows(&rows), &options)?;
        let best = found.into_iter().flatten();
        words.iter().zip(best).map(|(word, best)| self.transliteration(word, best)).collect()
    }

    fn transliteration(&self, word: &str, best: Hypothesis) -> Result<Transliteration> {
        let letters = best.tokens.iter().filter_map(|&id| self.letters.get(id as usize));
        let mut targets: Vec<String> = letters.cloned().collect();
        let text = targets.concat();
        targets.extend(best.finished.then(|| EOS_TOKEN.to_owned()));
        let padding = std::iter::repeat("·".to_owned());
        let sources = word.chars().map(String::from).chain(padding).take(self.config.max_src_len).collect();
        let look = Heatmap::new(sources, targets, best.attention.unwrap_or_default())?;
        Ok(Transliteration { text, log_prob: best.log_prob, look })
    }

    /// The ids of a word's letters and of the padding after them. The model knows no end symbol on this side.
    fn row(&self, word: &str) -> Result<Vec<u32>> {
        let known = |symbol: &str| self.config.src_vocab.get(symbol).copied();
        let id = |letter: char| known(&String::from(letter)).or_else(|| known("<unk>"));
        let ids: Option<Vec<u32>> = word.chars().map(id).collect();
        let mut ids = ids.ok_or("config.json: src_vocab has no \"<unk>\"")?;
        if ids.len() > self.config.max_src_len {
            return Err(format!("\"{word}\" has more than {} letters", self.config.max_src_len).into());
        }
        ids.resize(self.config.max_src_len, self.config.pad_id);
        Ok(ids)
    }
}

/// The network as a configuration of Regard.
fn network() -> RecurrentConfig {
    let base = RecurrentConfig::bahdanau();
    RecurrentConfig {
        cell: CellKind::GruResetAfter,
        embedding: EMBEDDING,
        encoder: EncoderConfig {
            layers: 1,
            hidden: HIDDEN,
            bidirectional: Bidirectional::All,
            reverse_source: false,
        },
        decoder: DecoderConfig {
            layers: 1,
            hidden: HIDDEN,
            initial_state: InitialState::Zero,
            readout: Readout::Concat,
            readout_state: ReadoutState::Current,
            ..base.decoder
        },
        context: ContextKind::Attention,
        attention: AttentionConfig {
            score: Score::Additive,
            width: HIDDEN,
            bias: true,
            query: Query::Current,
            ..base.attention
        },
        ..base
    }
}

/// The model's target ids in the order of Regard's: padding, unknown, start, end, then all others as they come.
fn target_order(config: &Config) -> Result<Vec<usize>> {
    let id = |symbol: &str| {
        let id = config.tgt_vocab.get(symbol).map(|&id| id as usize);
        id.ok_or_else(|| format!("config.json: tgt_vocab has no {symbol:?}"))
    };
    let control = [config.pad_id as usize, id("<unk>")?, id(&config.bos)?, id(&config.eos)?];
    let others = (0..=config.tgt_vocab.len()).filter(|id| !control.contains(id));
    Ok(control.into_iter().chain(others).collect())
}

/// Every weight of the model; `order` is the order of the target rows.
fn weights(npz: &Npz, (sources, targets): (usize, usize), order: &[usize]) -> Result<Vec<(String, Tensor)>> {
    let mut weights = gru(npz, "bidirectional.forward_layer.cell", "encoder.0.forward")?;
    weights.extend(gru(npz, "bidirectional.backward_layer.cell", "encoder.0.backward")?);
    weights.extend(gru(npz, "gru.cell", "decoder.0")?);
    let projection = transposed(&npz.tensor("time_distributed.layer.0", [MEMORY, HIDDEN])?);
    let bias = npz.tensor("time_distributed.layer.1", [HIDDEN])?;
    let dense = transposed(&npz.tensor("dense.0", [2 * HIDDEN, targets])?);
    let dense_bias = npz.tensor("dense.1", [targets])?;
    let (output, output_bias) = folded(&dense, &dense_bias, &projection, &bias)?;
    let target_embedding = npz.tensor("embedding_1.0", [targets, EMBEDDING])?;
    weights.extend([
        ("source_embedding.weight".into(), npz.tensor("embedding.0", [sources, EMBEDDING])?),
        ("target_embedding.weight".into(), target_embedding.select_rows(order)?),
        ("attention.query.weight".into(), identity(HIDDEN)),
        ("attention.query.bias".into(), bias),
        ("attention.key.weight".into(), projection),
        ("attention.score.weight".into(), npz.tensor("additive_attention.0", [HIDDEN])?),
        ("output.weight".into(), output.select_rows(order)?),
        ("output.bias".into(), output_bias.select_rows(order)?.reshape([targets])?),
    ]);
    Ok(weights)
}

/// The output layer over [state; Σ w h] from the one over [state; Σ w (P h + b)], and its bias as a column. Summed in f64.
fn folded(
    dense: &Tensor,
    dense_bias: &Tensor,
    projection: &Tensor,
    bias: &Tensor,
) -> Result<(Tensor, Tensor)> {
    let targets = dense_bias.shape().len();
    let (mut weights, mut biases) = (Vec::new(), Vec::new());
    for target in 0..targets {
        let (state, context) = dense.row(target).split_at(HIDDEN);
        let through = |values: &mut dyn Iterator<Item = f32>| -> f64 {
            context.iter().zip(values).map(|(&weight, value)| f64::from(weight) * f64::from(value)).sum()
        };
        weights.extend_from_slice(state);
        for unit in 0..MEMORY {
            weights.push(through(&mut (0..HIDDEN).map(|row| projection.row(row)[unit])) as f32);
        }
        let own = f64::from(dense_bias.values()[target]);
        biases.push((own + through(&mut bias.values().iter().copied())) as f32);
    }
    Ok((Tensor::new([targets, HIDDEN + MEMORY], weights)?, Tensor::new([targets, 1], biases)?))
}

/// The weights of a GRU: Keras has the kernel, the recurrent kernel and both biases in `NAME.0` to `NAME.2`.
fn gru(npz: &Npz, keras: &str, name: &str) -> Result<Vec<(String, Tensor)>> {
    const GATES: usize = 3 * HIDDEN;
    let order: Vec<usize> = (HIDDEN..2 * HIDDEN).chain(0..HIDDEN).chain(2 * HIDDEN..GATES).collect();
    let input = transposed(&npz.tensor(&format!("{keras}.0"), [EMBEDDING, GATES])?);
    let hidden = transposed(&npz.tensor(&format!("{keras}.1"), [HIDDEN, GATES])?);
    let biases = npz.tensor(&format!("{keras}.2"), [2, GATES])?;
    let bias = |row: usize| -> Result<Tensor> {
        Ok(biases.slice(row)?.reshape([GATES, 1])?.select_rows(&order)?.reshape([GATES])?)
    };
    Ok(vec![
        (format!("{name}.input.weight"), input.select_rows(&order)?),
        (format!("{name}.input.bias"), bias(0)?),
        (format!("{name}.hidden.weight"), hidden.select_rows(&order)?),
        (format!("{name}.hidden.bias"), bias(1)?),
    ])
}

fn transposed(matrix: &Tensor) -> Tensor {
    let (rows, columns) = (matrix.shape().first(), matrix.shape().last());
    Tensor::build([columns, rows], |values| {
        for (place, value) in values.iter_mut().enumerate() {
            *value = matrix.row(place % rows)[place / rows];
        }
    })
}

fn identity(size: usize) -> Tensor {
    Tensor::build([size, size], |values| {
        for (place, value) in values.iter_mut().enumerate() {
            *value = f32::from(u8::from(place / size == place % size));
        }
    })
}
