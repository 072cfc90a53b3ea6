//! What a weight is called on both sides, and how it touches the vectors that go from layer to layer.

use regard_tensor::Shape;

use crate::config::TransformerConfig;

/// One table for the words of both sides.
pub(super) const SHARED: &str = "model.shared.weight";
/// The table of the source side.
pub(super) const ENCODER_TABLE: &str = "model.encoder.embed_tokens.weight";
/// The table of the target side.
pub(super) const DECODER_TABLE: &str = "model.decoder.embed_tokens.weight";
/// The output layer.
pub(super) const OUTPUT: &str = "lm_head.weight";
/// Its bias, `[1, target vocabulary]`.
pub(super) const OUTPUT_BIAS: &str = "final_logits_bias";

/// The output's bias for what is never written: e to it is 0, and sums with it stay finite.
pub(super) const NEVER: f32 = -1e4;

/// The attentions of a layer: ours, theirs.
const ATTENTIONS: [(&str, &str); 2] = [("self_attention", "self_attn"), ("cross_attention", "encoder_attn")];

/// Which of a weight's sizes counts the places of the vectors between layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    /// The columns: it reads such a vector.
    Read,
    /// The rows: it makes such a vector.
    Written,
    /// None.
    Inner,
}

/// A weight of a layer.
pub(super) struct LayerWeight {
    pub(super) ours: String,
    pub(super) theirs: String,
    pub(super) shape: Shape,
    pub(super) stream: Stream,
}

/// The weights of all layers of both stacks.
pub(super) fn layers(config: &TransformerConfig) -> Vec<LayerWeight> {
    let mut names = Names { weights: Vec::new(), width: config.d_model, inner: config.d_ff };
    for (stack, layers) in [("encoder", config.encoder.layers), ("decoder", config.decoder.layers)] {
        for layer in 0..layers {
            names.layer(stack, layer);
        }
    }
    names.weights
}

struct Names {
    weights: Vec<LayerWeight>,
    width: usize,
    inner: usize,
}

impl Names {
    fn layer(&mut self, stack: &str, layer: usize) {
        let (ours, theirs) = (format!("{stack}.{layer}"), format!("model.{stack}.layers.{layer}"));
        let (width, inner) = (self.width, self.inner);
        let attentions = if stack == "encoder" { &ATTENTIONS[..1] } else { &ATTENTIONS[..] };
        for (our_part, their_part) in attentions {
            for (our_map, their_map) in [("query", "q_proj"), ("key", "k_proj"), ("value", "v_proj")] {
                let names =
                    [format!("{ours}.{our_part}.{our_map}"), format!("{theirs}.{their_part}.{their_map}")];
                self.affine(names, [width, width], Stream::Read);
            }
            let names = [format!("{ours}.{our_part}.output"), format!("{theirs}.{their_part}.out_proj")];
            self.affine(names, [width, width], Stream::Written);
            self.norm(&format!("{ours}.{our_part}"), &format!("{theirs}.{their_part}_layer_norm"));
        }
        let part = format!("{ours}.feed_forward");
        self.affine([format!("{part}.input"), format!("{theirs}.fc1")], [inner, width], Stream::Read);
        self.affine([format!("{part}.output"), format!("{theirs}.fc2")], [width, inner], Stream::Written);
        self.norm(&part, &format!("{theirs}.final_layer_norm"));
    }

    fn affine(&mut self, [ours, theirs]: [String; 2], shape: [usize; 2], stream: Stream) {
        let of_bias = if stream == Stream::Written { Stream::Written } else { Stream::Inner };
        self.put(format!("{ours}.weight"), format!("{theirs}.weight"), shape.into(), stream);
        self.put(format!("{ours}.bias"), format!("{theirs}.bias"), [shape[0]].into(), of_bias);
    }

    fn norm(&mut self, ours: &str, theirs: &str) {
        let shape = Shape::from([self.width]);
        self.put(format!("{ours}.norm.gain"), format!("{theirs}.weight"), shape, Stream::Written);
        self.put(format!("{ours}.norm.bias"), format!("{theirs}.bias"), shape, Stream::Written);
    }

    fn put(&mut self, ours: String, theirs: String, shape: Shape, stream: Stream) {
        self.weights.push(LayerWeight { ours, theirs, shape, stream });
    }
}
