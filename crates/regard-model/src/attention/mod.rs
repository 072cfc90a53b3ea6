//! Attention: score, normalise, average. One file a scoring function.

mod additive;
mod dot;
mod hook;
mod multi_head;
mod sought;
mod window;

pub use hook::{
    AttentionHook, AttentionSite, Block, BlockKind, HookCall, Place, SiteKind, Temperature, ValueCall,
};
pub(crate) use multi_head::{Asking, MultiHead};
pub(crate) use sought::{Sought, WholeReach};

use regard_tensor::ops;
use regard_tensor::{List, Var};

use crate::config::{CrossAttention, RecurrentConfig, Score, Window};
use crate::error::Result;
use crate::parameters::Builder;
use crate::pass::Pass;
use crate::seq2seq::Row;

/// A soft lookup of the source: a scoring function and a window.
pub(crate) struct Attention {
    scoring: Scoring,
    window: window::Window,
    /// Whether the query has no say: all scores are zero.
    uniform: bool,
}

enum Scoring {
    Additive(additive::Additive),
    Dot(dot::Dot),
}

/// What an attention returns. Scores and weights are `[rows, positions]`, the context is `[rows, width]`.
pub(crate) struct AttentionOutput {
    pub(crate) context: Var,
    pub(crate) scores: Var,
    pub(crate) weights: Var,
}

/// The source as attention reads it.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    /// `[sentences, positions, width]`.
    pub(crate) states: &'a Var,
    /// The same, as the scoring function wants it: [`Attention::keys`].
    pub(crate) keys: &'a Var,
    /// Positions that count: true positions of each sentence.
    pub(crate) lengths: &'a [usize],
}

impl Attention {
    pub(crate) fn new(builder: &mut Builder, config: &RecurrentConfig) -> Self {
        let (query, memory) = (config.decoder.hidden, config.memory_width());
        let attention = &config.attention;
        let scoring = match attention.score {
            Score::Additive | Score::Concat => Scoring::Additive(additive::Additive::new(builder, config)),
            Score::Dot => Scoring::Dot(dot::Dot::plain(1.0)),
            Score::ScaledDot => Scoring::Dot(dot::Dot::plain(1.0 / (query as f32).sqrt())),
            Score::General => Scoring::Dot(dot::Dot::general(builder, query, memory)),
        };
        let radius = attention.radius;
        let window = match attention.window {
            Window::Global => window::Window::Global,
            Window::LocalM => window::Window::Monotonic { radius },
            Window::LocalP => window::Window::predictive(builder, query, attention.width, radius),
        };
        Self { scoring, window, uniform: config.cross_attention == CrossAttention::Uniform }
    }

    /// The source states as the scoring function wants them, computed once a sentence.
    pub(crate) fn keys(&self, pass: &Pass, states: &Var) -> Result<Var> {
        match &self.scoring {
            Scoring::Additive(additive) => additive.keys(pass, states),
            Scoring::Dot(dot) => dot.keys(pass, states),
        }
    }

    /// Looks the source up for each query `[rows, width]`.
    pub(crate) fn attend(
        &self,
        pass: &Pass,
        source: Source,
        query: &Var,
        rows: &[Row],
    ) -> Result<AttentionOutput> {
        let sentences: List<usize> = rows.iter().map(|row| row.sentence).collect();
        let mut scores = match &self.scoring {
            _ if self.uniform => Pass::zeros(rows.len(), source.states.shape().inner().first()),
            Scoring::Additive(additive) => additive.scores(pass, query, source, &sentences)?,
            Scoring::Dot(dot) => dot.scores(pass, query, source, &sentences)?,
        };
        let call = HookCall { tape: pass.tape, site: AttentionSite::CROSS, rows, lengths: source.lengths };
        let hook = pass.hook().filter(|hook| hook.wants(call.site));
        if let Some(hook) = hook {
            scores = hook.scores(&call, scores)?;
        }
        let mut weights = self.window.weights(pass, query, &scores, rows, source.lengths)?;
        if let Some(hook) = hook {
            weights = hook.weights(&call, weights)?;
        }
        let mut context = ops::weighted_sum(pass.tape, &weights, source.states, &sentences, source.lengths)?;
        if let Some(hook) = hook {
            context = hook.context(&call, context)?;
        }
        Ok(AttentionOutput { context, scores, weights })
    }
}
