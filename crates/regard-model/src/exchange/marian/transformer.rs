//! `type: transformer`.

use super::EPSILON;
use super::options::{Fixed, Options};
use super::vocabulary::Words;
use super::weights::Weights;
use crate::config::{Activation, Norm, NormPosition, Positions, StackConfig, TransformerConfig};
use crate::error::Result;

/// Options that change the network and may have these values only.
const FIXED: [Fixed; 13] = [
    ("transformer-decoder-autoreg", &["self-attention"]),
    ("transformer-tied-layers", &[""]),
    ("transformer-postprocess-emb", &["d", ""]),
    ("transformer-ffn-depth", &["2"]),
    ("transformer-decoder-ffn-depth", &["0", "2"]),
    ("transformer-train-position-embeddings", &["false"]),
    ("transformer-disable-position-embeddings", &["false"]),
    ("transformer-attention-mask", &["default"]),
    ("transformer-alibi-shift", &["false"]),
    ("transformer-no-affine", &["false"]),
    ("transformer-no-bias", &["false"]),
    ("transformer-no-projection", &["false"]),
    ("transformer-pool", &["false"]),
];
/// The maps of an attention: ours, theirs.
const MAPS: [(&str, &str); 4] = [("query", "q"), ("key", "k"), ("value", "v"), ("output", "o")];

/// The network that the options describe.
pub(super) fn network(options: &Options) -> Result<TransformerConfig> {
    options.allow(&FIXED)?;
    let inner = options.size("transformer-dim-ffn")?;
    let decoder_inner = options.word("transformer-decoder-dim-ffn");
    if decoder_inner.is_some_and(|word| word != "0" && word != inner.to_string()) {
        return Err(options.refusal("transformer-decoder-dim-ffn", "only that of the encoder is"));
    }
    let activation = match options.word("transformer-ffn-activation").as_deref() {
        Some("relu") => Activation::Relu,
        Some("gelu") => Activation::Gelu,
        Some("swish") | None => Activation::Swish,
        Some(_) => return Err(options.refusal("transformer-ffn-activation", "relu, gelu and swish are")),
    };
    let (norm, norm_position) = normalisation(options)?;
    let heads = options.size("transformer-heads")?;
    let (_, tied_embeddings) = options.tied()?;
    Ok(TransformerConfig {
        d_model: options.size("dim-emb")?,
        d_ff: inner,
        tied_embeddings,
        scale_embeddings: true,
        positions: Positions::SinusoidalTensor2tensor,
        norm,
        norm_epsilon: Some(EPSILON),
        norm_position,
        activation,
        gated: false,
        output_bias: true,
        encoder: StackConfig { layers: options.size("enc-depth")?, heads },
        decoder: StackConfig { layers: options.size("dec-depth")?, heads },
        ..TransformerConfig::base()
    })
}

/// Which normalisation stands where: their options list what is done before and after each part and at the end, `d` for
/// dropout, `a` for the way around, `n` and `r` for the two normalisations.
fn normalisation(options: &Options) -> Result<(Norm, NormPosition)> {
    let keys = ["transformer-preprocess", "transformer-postprocess", "transformer-postprocess-top"];
    let words = keys.map(|key| options.word(key).unwrap_or_default());
    let [before, after, last] = words.each_ref().map(|word| word.replace('d', ""));
    match [&*before, &*after, &*last] {
        ["", "an", ""] => Ok((Norm::Layer, NormPosition::Post)),
        ["", "ar", ""] => Ok((Norm::Rms, NormPosition::Post)),
        ["n", "a", "n"] => Ok((Norm::Layer, NormPosition::Pre)),
        ["r", "a", "r"] => Ok((Norm::Rms, NormPosition::Pre)),
        ["n", "a", ""] => Ok((Norm::Layer, NormPosition::PreOnly)),
        ["r", "a", ""] => Ok((Norm::Rms, NormPosition::PreOnly)),
        _ => {
            let [before, after, last] = words;
            Err(options.problem(format!(
                "{} = \"{before}\" with {} = \"{after}\" and {} = \"{last}\" is not supported; \"\", \"dan\", \"\" and \
                 \"n\", \"da\", \"n\" or \"\" are, and the same with r for n",
                keys[0], keys[1], keys[2]
            )))
        }
    }
}

/// Takes all weights over.
pub(super) fn convert(
    weights: &mut Weights,
    options: &Options,
    config: &TransformerConfig,
    words: (&Words, &Words),
) -> Result<()> {
    weights.tables(options, "decoder_ff_logit_out", words, [config.d_model, config.d_model])?;
    for (stack, layers) in [("encoder", config.encoder.layers), ("decoder", config.decoder.layers)] {
        for layer in 0..layers {
            let (ours, theirs) = (format!("{stack}.{layer}"), format!("{stack}_l{}", layer + 1));
            attention(weights, config, &format!("{ours}.self_attention"), &format!("{theirs}_self"))?;
            if stack == "decoder" {
                attention(weights, config, &format!("{ours}.cross_attention"), &format!("{theirs}_context"))?;
            }
            feed_forward(weights, config, &format!("{ours}.feed_forward"), &format!("{theirs}_ffn"))?;
        }
        if config.norm_position == NormPosition::Pre {
            norm(weights, config, &format!("{stack}.norm"), &format!("{stack}_top"), "")?;
        }
    }
    Ok(())
}

fn attention(weights: &mut Weights, config: &TransformerConfig, ours: &str, theirs: &str) -> Result<()> {
    let width = config.d_model;
    for (our_map, their_map) in MAPS {
        let names = ["W", "b"].map(|part| format!("{theirs}_{part}{their_map}"));
        weights.affine(&format!("{ours}.{our_map}"), names.each_ref().map(String::as_str), [width, width])?;
    }
    norm(weights, config, &format!("{ours}.norm"), &format!("{theirs}_Wo"), before(config))
}

fn feed_forward(weights: &mut Weights, config: &TransformerConfig, ours: &str, theirs: &str) -> Result<()> {
    let (width, inner) = (config.d_model, config.d_ff);
    for (our_map, number, shape) in [("input", 1, [inner, width]), ("output", 2, [width, inner])] {
        let names = ["W", "b"].map(|part| format!("{theirs}_{part}{number}"));
        weights.affine(&format!("{ours}.{our_map}"), names.each_ref().map(String::as_str), shape)?;
    }
    norm(weights, config, &format!("{ours}.norm"), &format!("{theirs}_ffn"), before(config))
}

/// The end of the names of normalisations that stand before.
fn before(config: &TransformerConfig) -> &'static str {
    if config.norm_position == NormPosition::Post { "" } else { "_pre" }
}

fn norm(
    weights: &mut Weights,
    config: &TransformerConfig,
    ours: &str,
    theirs: &str,
    end: &str,
) -> Result<()> {
    let kind = if config.norm == Norm::Layer { "ln" } else { "rms" };
    let gain = weights.vector(&format!("{theirs}_{kind}_scale{end}"), config.d_model)?;
    weights.put(&format!("{ours}.gain"), gain);
    if config.norm == Norm::Layer {
        let bias = weights.vector(&format!("{theirs}_{kind}_bias{end}"), config.d_model)?;
        weights.put(&format!("{ours}.bias"), bias);
    }
    Ok(())
}
