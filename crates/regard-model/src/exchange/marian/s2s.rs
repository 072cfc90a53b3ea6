//! `type: s2s`: an encoder of GRU cells in both directions, a conditional GRU and additive attention, as in Nematus
//! (Sennrich et al. 2017).

use regard_tensor::Tensor;

use super::EPSILON;
use super::options::{Fixed, Options};
use super::vocabulary::Words;
use super::weights::Weights;
use crate::config::{
    AttentionConfig, Bidirectional, CellKind, DecoderConfig, EncoderConfig, InitialState, LayerNorm, Query,
    QueryLayer, Readout, ReadoutState, RecurrentConfig,
};
use crate::error::Result;

/// Options that change the network and may have these values only.
const FIXED: [Fixed; 5] = [
    ("enc-cell", &["gru"]),
    ("dec-cell", &["gru"]),
    ("enc-cell-depth", &["1"]),
    ("dec-cell-base-depth", &["2"]),
    ("dec-cell-high-depth", &["1"]),
];
/// The inputs of the readout in their order.
const READOUT: [&str; 3] = ["embedding", "state", "context"];

/// The network that the options describe.
pub(super) fn network(options: &Options) -> Result<RecurrentConfig> {
    options.allow(&FIXED)?;
    let (hidden, embedding) = (options.size("dim-rnn")?, options.size("dim-emb")?);
    let (layers, decoder_layers) = (options.size("enc-depth")?, options.size("dec-depth")?);
    let bidirectional = match options.word("enc-type").as_deref() {
        Some("bidirectional") if layers > 1 => Bidirectional::Stacks,
        Some("bidirectional") => Bidirectional::All,
        Some("bi-unidirectional") => Bidirectional::Bottom,
        _ => return Err(options.refusal("enc-type", "bidirectional and bi-unidirectional are")),
    };
    let skips = options.flag("skip")?;
    if skips && bidirectional == Bidirectional::Bottom && layers > 1 {
        return Err(options.refusal("skip", "only false is with enc-type = \"bi-unidirectional\""));
    }
    let base = RecurrentConfig::bahdanau();
    let encoder = EncoderConfig { layers, hidden, bidirectional, reverse_source: false };
    let normed = options.flag("layer-normalization")?;
    let (_, tied_embeddings) = options.tied()?;
    Ok(RecurrentConfig {
        cell: CellKind::GruResetAfter,
        layer_norm: if normed { LayerNorm::Everywhere } else { LayerNorm::None },
        norm_epsilon: normed.then_some(EPSILON),
        embedding,
        tied_embeddings,
        encoder,
        decoder: DecoderConfig {
            layers: decoder_layers,
            hidden,
            initial_state: InitialState::MeanBridge,
            readout: Readout::Tanh,
            readout_state: ReadoutState::Current,
            readout_width: embedding,
            ..base.decoder
        },
        residual_from: if skips { 2 } else { 0 },
        attention: AttentionConfig {
            width: encoder.width(layers.saturating_sub(1)),
            bias: true,
            query: Query::Intermediate,
            query_layer: QueryLayer::Bottom,
            ..base.attention
        },
        ..base
    })
}

/// Takes all weights over.
pub(super) fn convert(
    weights: &mut Weights,
    options: &Options,
    config: &RecurrentConfig,
    words: (&Words, &Words),
) -> Result<()> {
    weights.tables(options, "decoder_ff_logit_l2", words, [config.embedding, config.embedding])?;
    let mut conversion = Conversion { weights, config };
    conversion.encoder()?;
    conversion.decoder()?;
    conversion.attention()?;
    conversion.readout()
}

/// Where a GRU's bias of the candidate is added.
#[derive(Clone, Copy, PartialEq)]
enum Bias {
    /// To the input: tanh(x + r ∘ u + b).
    Input,
    /// To the state: tanh(x + r ∘ (u + b)), in the second half of a conditional cell.
    State,
}

struct Conversion<'a, 'b> {
    weights: &'a mut Weights<'b>,
    config: &'a RecurrentConfig,
}

impl Conversion<'_, '_> {
    fn encoder(&mut self) -> Result<()> {
        let encoder = self.config.encoder;
        for layer in 0..encoder.layers {
            let widths = [encoder.hidden, encoder.input_width(layer, self.config.embedding)];
            let end = if layer == 0 { String::new() } else { format!("_l{}_cell1", layer + 1) };
            let forward =
                if layer == 0 || encoder.is_bidirectional(layer) { "encoder_bi" } else { "encoder" };
            self.cell(&format!("encoder.{layer}.forward"), &format!("{forward}{end}"), widths, Bias::Input)?;
            if encoder.is_bidirectional(layer) {
                let name = format!("encoder.{layer}.backward");
                self.cell(&name, &format!("encoder_bi_r{end}"), widths, Bias::Input)?;
            }
        }
        Ok(())
    }

    fn decoder(&mut self) -> Result<()> {
        let (hidden, embedding) = (self.config.decoder.hidden, self.config.embedding);
        let memory = self.config.memory_width();
        self.cell("decoder.0", "decoder_cell1", [hidden, embedding], Bias::Input)?;
        self.cell("decoder.0.conditional", "decoder_cell2", [hidden, memory], Bias::State)?;
        for layer in 1..self.config.decoder.layers {
            let theirs = format!("decoder_l{}_cell1", layer + 1);
            self.cell(&format!("decoder.{layer}"), &theirs, [hidden, hidden], Bias::Input)?;
        }
        // All layers begin with the same state.
        for layer in 0..self.config.decoder.layers {
            let names = ["W", "b", "gamma"].map(|part| format!("decoder_ff_state_{part}"));
            self.map(
                &format!("bridge.{layer}.hidden"),
                names.each_ref().map(String::as_str),
                [hidden, memory],
            )?;
        }
        Ok(())
    }

    fn attention(&mut self) -> Result<()> {
        let (width, hidden) = (self.config.attention.width, self.config.decoder.hidden);
        let query = self.weights.matrix("decoder_W_comb_att", width, hidden)?;
        let key = self.weights.matrix("decoder_Wc_att", width, self.config.memory_width())?;
        let bias = self.weights.vector("decoder_b_att", width)?;
        let score = self.weights.matrix("decoder_U_att", 1, width)?;
        self.weights.put("attention.query.weight", query);
        self.weights.put("attention.key.weight", key);
        self.weights.put("attention.score.weight", score.reshape([width])?);
        if self.config.layer_norm == LayerNorm::None {
            self.weights.put("attention.query.bias", bias);
            return Ok(());
        }
        let zeros = Tensor::zeros([width]);
        for (ours, theirs, bias) in [("key", "gamma1", bias), ("query", "gamma2", zeros)] {
            let gain = self.weights.vector(&format!("decoder_att_{theirs}"), width)?;
            self.weights.put(&format!("attention.{ours}.norm.gain"), gain);
            self.weights.put(&format!("attention.{ours}.norm.bias"), bias);
        }
        Ok(())
    }

    /// tanh of a sum of maps; they have a bias for each, we have one where nothing is normalised.
    fn readout(&mut self) -> Result<()> {
        let width = self.config.readout_width();
        let inputs = [self.config.embedding, self.config.decoder.hidden, self.config.memory_width()];
        let mut sum = vec![0.0; width];
        for (number, (part, input)) in READOUT.into_iter().zip(inputs).enumerate() {
            let theirs = |kind: &str| format!("decoder_ff_logit_l1_{kind}{number}");
            let weight = self.weights.matrix(&theirs("W"), width, input)?;
            self.weights.put(&format!("readout.{part}.weight"), weight);
            let bias = self.weights.vector(&theirs("b"), width)?;
            if self.config.layer_norm == LayerNorm::None {
                sum.iter_mut().zip(bias.values()).for_each(|(sum, bias)| *sum += bias);
                continue;
            }
            let gain = self.weights.vector(&theirs("gamma"), width)?;
            self.weights.put(&format!("readout.{part}.norm.gain"), gain);
            self.weights.put(&format!("readout.{part}.norm.bias"), bias);
        }
        if self.config.layer_norm == LayerNorm::None {
            self.weights.put("readout.bias", Tensor::new([width], sum)?);
        }
        Ok(())
    }

    /// A map with a bias, normalised where the network is.
    fn map(&mut self, ours: &str, [weight, bias, gain]: [&str; 3], shape: [usize; 2]) -> Result<()> {
        if self.config.layer_norm == LayerNorm::None {
            return self.weights.affine(ours, [weight, bias], shape);
        }
        let [out, input] = shape;
        let weight = self.weights.matrix(weight, out, input)?;
        self.weights.put(&format!("{ours}.weight"), weight);
        for (end, theirs) in [("gain", gain), ("bias", bias)] {
            let vector = self.weights.vector(theirs, out)?;
            self.weights.put(&format!("{ours}.norm.{end}"), vector);
        }
        Ok(())
    }

    /// A GRU, whose gates r and z they keep apart from the candidate.
    fn cell(&mut self, ours: &str, theirs: &str, [hidden, input]: [usize; 2], place: Bias) -> Result<()> {
        for (part, theirs_part, input) in [("input", "W", input), ("hidden", "U", hidden)] {
            let gates = self.weights.matrix(&format!("{theirs}_{theirs_part}"), 2 * hidden, input)?;
            let candidate = self.weights.matrix(&format!("{theirs}_{theirs_part}x"), hidden, input)?;
            let rows = [gates.values(), candidate.values()].concat();
            self.weights.put(&format!("{ours}.{part}.weight"), Tensor::new([3 * hidden, input], rows)?);
        }
        let gates = self.weights.vector(&format!("{theirs}_b"), 2 * hidden)?;
        let candidate = self.weights.vector(&format!("{theirs}_bx"), hidden)?;
        let (zeros, no_gates) = (vec![0.0; hidden], vec![0.0; 2 * hidden]);
        let biases = match place {
            Bias::Input => [[gates.values(), candidate.values()], [&no_gates, &zeros]],
            Bias::State => [[gates.values(), &zeros], [&no_gates, candidate.values()]],
        };
        for ((part, gain), bias) in [("input", "gamma1"), ("hidden", "gamma2")].into_iter().zip(biases) {
            let bias = Tensor::new([3 * hidden], bias.concat())?;
            if self.config.layer_norm == LayerNorm::None {
                self.weights.put(&format!("{ours}.{part}.bias"), bias);
                continue;
            }
            let gain = self.weights.vector(&format!("{theirs}_{gain}"), 3 * hidden)?;
            self.weights.put(&format!("{ours}.{part}_norm.gain"), gain);
            self.weights.put(&format!("{ours}.{part}_norm.bias"), bias);
        }
        Ok(())
    }
}
