//! Hooks: an intervention is an input of a run.

use regard_tensor::{Tape, Var, ops};

use crate::error::Result;
use crate::seq2seq::Row;

/// Which attention of a model: its kind, layer and head, both from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct AttentionSite {
    /// Who looks at what.
    pub kind: SiteKind,
    /// The layer.
    pub layer: usize,
    /// The head.
    pub head: usize,
}

impl AttentionSite {
    /// The one attention of a recurrent decoder.
    pub const CROSS: Self = Self { kind: SiteKind::Cross, layer: 0, head: 0 };
}

/// Who looks at what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SiteKind {
    /// The decoder at the source.
    Cross,
    /// The source at itself.
    EncoderSelf,
    /// The decoder at what it has written.
    DecoderSelf,
}

/// What a hook is told beside the values: where it is, and what each row is.
#[derive(Clone, Copy)]
pub struct HookCall<'a> {
    /// Computes, and records what is differentiable.
    pub tape: &'a Tape,
    /// The attention.
    pub site: AttentionSite,
    /// What each row is; in an encoder, `position` is the place in the source.
    pub rows: &'a [Row],
    /// Source positions of each sentence.
    pub lengths: &'a [usize],
}

/// A part of a layer of a Transformer, with a way around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Block {
    /// What it does.
    pub kind: BlockKind,
    /// The layer, from 0.
    pub layer: usize,
}

/// What a part of a layer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BlockKind {
    /// An attention.
    Attention(SiteKind),
    /// The feed-forward part of the encoder's layer.
    EncoderFeedForward,
    /// The feed-forward part of the decoder's layer.
    DecoderFeedForward,
}

/// Where in a model a value is that a hook may see and replace, beside what an attention computes. A row is a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// The vectors of the source words as the table has them: `[rows, width]`.
    SourceWords,
    /// Those of the target words that the decoder reads: `[rows, width]`.
    TargetWords,
    /// The source as the decoder reads it: `[sentences, positions, width]`, where the rows are the positions in turn.
    Memory,
    /// The values of all heads of an attention of a Transformer: `[rows, heads · width]`, or by sentences as the memory is.
    Values(SiteKind, usize),
    /// What goes around a block: `[rows, width]`.
    Around(Block),
    /// What a block adds to that: `[rows, width]`.
    Branch(Block),
    /// What leaves both, normalised where the model does that: `[rows, width]`.
    Output(Block),
}

/// What a hook is told beside a value.
#[derive(Clone, Copy)]
pub struct ValueCall<'a> {
    /// Computes, and records what is differentiable.
    pub tape: &'a Tape,
    /// Where the value is.
    pub place: Place,
    /// What each row is; on the source side `position` is the place in the source.
    pub rows: &'a [Row],
}

/// Sees what an attention computes, and may replace it; other values too, where it wants them. Every method returns its
/// input by default.
pub trait AttentionHook: Send + Sync {
    /// Which attentions it is called for: the decoder's looks at the source where it does not say.
    fn wants(&self, site: AttentionSite) -> bool {
        site.kind == SiteKind::Cross
    }

    /// The scores before the softmax: `[rows, positions]`, of the source or of what the decoder has written so far.
    ///
    /// # Errors
    /// As the hook decides.
    fn scores(&self, call: &HookCall, scores: Var) -> Result<Var> {
        let _ = call;
        Ok(scores)
    }

    /// The weights after the softmax: `[rows, positions]`.
    ///
    /// # Errors
    /// As the hook decides.
    fn weights(&self, call: &HookCall, weights: Var) -> Result<Var> {
        let _ = call;
        Ok(weights)
    }

    /// The weighted average: `[rows, width]`.
    ///
    /// # Errors
    /// As the hook decides.
    fn context(&self, call: &HookCall, context: Var) -> Result<Var> {
        let _ = call;
        Ok(context)
    }

    /// Which other values it is called for: none where it does not say.
    fn wants_value(&self, place: Place) -> bool {
        let _ = place;
        false
    }

    /// A value of another place.
    ///
    /// # Errors
    /// As the hook decides.
    fn value(&self, call: &ValueCall, value: Var) -> Result<Var> {
        let _ = call;
        Ok(value)
    }
}

/// Divides the scores of the decoder's look at the source before the softmax: below 1 sharpens, above 1 flattens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Temperature(f32);

impl Temperature {
    /// A temperature above 0; `None` for anything else, and for one so small that scores would leave the range of `f32`.
    #[must_use]
    pub fn new(temperature: f32) -> Option<Self> {
        let is_usable = temperature.is_finite() && temperature > 0.0 && (1.0 / temperature).is_finite();
        is_usable.then_some(Self(temperature))
    }
}

impl AttentionHook for Temperature {
    fn scores(&self, call: &HookCall, scores: Var) -> Result<Var> {
        Ok(ops::scale(call.tape, &scores, 1.0 / self.0)?)
    }
}
