//! `g2p_en`: how English words are pronounced, by a GRU encoder-decoder without attention.
//!
//! The model of the Python package g2p-en 2.1.0 (Kyubyong Park and Jongseok Kim, Apache-2.0), trained in `PyTorch`: one
//! layer each side, the source handed over once as the encoder's last state. The weights need nothing but new names,
//! since Regard's GRU has `PyTorch`'s gate order r, z, n and `PyTorch`'s two biases.

use std::path::Path;

use regard::decode::{Decoding, Hypothesis, MaxLength, SearchOptions};
use regard::model::exchange::npz::Npz;
use regard::model::{
    Bidirectional, CellKind, ContextKind, DecoderConfig, EncoderConfig, InitialState, Readout, ReadoutState,
    RecurrentConfig, RecurrentModel,
};
use regard::tensor::Threads;
use regard::text::Padded;
use serde::Deserialize;

use crate::foreign::{Result, fill, read_json};

/// The model and its symbols.
pub(crate) struct G2p {
    model: RecurrentModel,
    config: Config,
}

/// What the model says to a word.
pub(crate) struct Pronunciation {
    /// Symbols of the CMU dictionary, vowels with their stress, with spaces between.
    pub(crate) phonemes: String,
    /// The natural logarithm of their probability, the end symbol included.
    pub(crate) log_prob: f64,
}

/// `config.json`: the symbols in the order of their ids.
#[derive(Deserialize)]
struct Config {
    graphemes: Vec<String>,
    /// They begin as every target vocabulary of Regard does: padding, unknown, start, end.
    phonemes: Vec<String>,
    hidden: usize,
    embedding: usize,
    /// The longest output, the end symbol included.
    max_steps: usize,
}

impl G2p {
    /// Reads `config.json` and `checkpoint20.npz`.
    pub(crate) fn load(directory: &Path) -> Result<Self> {
        let config: Config = read_json(&directory.join("config.json"))?;
        let npz = Npz::read(&directory.join("checkpoint20.npz"))?;
        let (graphemes, phonemes) = (config.graphemes.len(), config.phonemes.len());
        let (embedding, gates, hidden) = (config.embedding, 3 * config.hidden, config.hidden);
        let weights = vec![
            ("source_embedding.weight".into(), npz.tensor("enc_emb", [graphemes, embedding])?),
            ("encoder.0.forward.input.weight".into(), npz.tensor("enc_w_ih", [gates, embedding])?),
            ("encoder.0.forward.input.bias".into(), npz.tensor("enc_b_ih", [gates])?),
            ("encoder.0.forward.hidden.weight".into(), npz.tensor("enc_w_hh", [gates, hidden])?),
            ("encoder.0.forward.hidden.bias".into(), npz.tensor("enc_b_hh", [gates])?),
            ("target_embedding.weight".into(), npz.tensor("dec_emb", [phonemes, embedding])?),
            ("decoder.0.input.weight".into(), npz.tensor("dec_w_ih", [gates, embedding])?),
            ("decoder.0.input.bias".into(), npz.tensor("dec_b_ih", [gates])?),
            ("decoder.0.hidden.weight".into(), npz.tensor("dec_w_hh", [gates, hidden])?),
            ("decoder.0.hidden.bias".into(), npz.tensor("dec_b_hh", [gates])?),
            ("output.weight".into(), npz.tensor("fc_w", [phonemes, hidden])?),
            ("output.bias".into(), npz.tensor("fc_b", [phonemes])?),
        ];
        let mut model = RecurrentModel::new(&network(&config), graphemes, phonemes, 0)?;
        fill(&mut model, weights)?;
        Ok(Self { model, config })
    }

    /// The most probable pronunciation of each word, symbol by symbol.
    pub(crate) fn pronounce(&self, threads: &Threads, words: &[&str]) -> Result<Vec<Pronunciation>> {
        let rows = words.iter().map(|word| self.row(word)).collect::<Result<Vec<_>>>()?;
        let max_length = MaxLength::Fixed(self.config.max_steps);
        let options = SearchOptions { max_length, ..SearchOptions::greedy() };
        let found = Decoding::new(&self.model, threads).search(&Padded::from_rows(&rows), &options)?;
        let pronunciation = |best: Hypothesis| {
            let ids = best.tokens.iter();
            let phonemes = ids.filter_map(|&id| self.config.phonemes.get(id as usize)).map(String::as_str);
            let phonemes = phonemes.collect::<Vec<_>>().join(" ");
            Pronunciation { phonemes, log_prob: best.log_prob }
        };
        Ok(found.into_iter().flatten().map(pronunciation).collect())
    }

    /// The ids of a word's letters and of the source side's own end symbol, which has another id than the target's.
    fn row(&self, word: &str) -> Result<Vec<u32>> {
        let known = |symbol: &str| self.config.graphemes.iter().position(|grapheme| grapheme == symbol);
        let id = |symbol: &str| known(symbol).or_else(|| known("<unk>")).map(|id| id as u32);
        let letters = word.chars().map(String::from).chain(["</s>".to_owned()]);
        let ids: Option<Vec<u32>> = letters.map(|letter| id(&letter)).collect();
        ids.ok_or_else(|| "config.json: the graphemes have no \"<unk>\"".into())
    }
}

/// The network as a configuration of Regard.
fn network(config: &Config) -> RecurrentConfig {
    RecurrentConfig {
        cell: CellKind::GruResetAfter,
        embedding: config.embedding,
        encoder: EncoderConfig {
            layers: 1,
            hidden: config.hidden,
            bidirectional: Bidirectional::None,
            reverse_source: false,
        },
        decoder: DecoderConfig {
            layers: 1,
            hidden: config.hidden,
            initial_state: InitialState::Last,
            readout: Readout::Linear,
            readout_state: ReadoutState::Current,
            ..RecurrentConfig::sutskever().decoder
        },
        context: ContextKind::Once,
        ..RecurrentConfig::sutskever()
    }
}
