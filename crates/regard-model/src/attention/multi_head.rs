//! Attention of several heads, each on columns of its own: softmax(q · k / √width) · v (Vaswani et al. 2017).

use regard_tensor::ops;
use regard_tensor::{List, Var};

use super::{AttentionHook, AttentionSite, HookCall, Place, SiteKind, Sought};
use crate::affine::Affine;
use crate::config::{CrossAttention, Positions, TransformerConfig};
use crate::error::Result;
use crate::parameters::Builder;
use crate::pass::Pass;
use crate::seq2seq::{Row, SiteAttention};

/// The four maps of an attention, and its place in the model.
pub(crate) struct MultiHead {
    query: Affine,
    key: Affine,
    value: Affine,
    output: Affine,
    kind: SiteKind,
    layer: usize,
    heads: usize,
    factor: f32,
    rotary: bool,
    /// Whether the query has no say: all queries are zero, and so are the scores.
    uniform: bool,
    dropout: f64,
}

/// Who asks: what a hook is told.
#[derive(Clone, Copy)]
pub(crate) struct Asking<'a> {
    /// What each row is.
    pub(crate) rows: &'a [Row],
    /// Source positions of each sentence.
    pub(crate) source_lengths: &'a [usize],
}

impl MultiHead {
    pub(crate) fn new(
        builder: &mut Builder,
        name: &str,
        config: &TransformerConfig,
        kind: SiteKind,
        layer: usize,
    ) -> Self {
        let stack = if kind == SiteKind::EncoderSelf { config.encoder } else { config.decoder };
        let mut map =
            |part: &str| Affine::new(builder, &format!("{name}.{part}"), config.d_model, config.d_model);
        Self {
            query: map("query"),
            key: map("key"),
            value: map("value"),
            output: map("output"),
            kind,
            layer,
            heads: stack.heads,
            factor: 1.0 / ((config.d_model / stack.heads) as f32).sqrt(),
            rotary: config.positions == Positions::Rotary && kind != SiteKind::Cross,
            uniform: config.cross_attention == CrossAttention::Uniform && kind == SiteKind::Cross,
            dropout: config.attention_dropout,
        }
    }

    /// The keys and values of what can be read: `x` is `[…, width]`, and so are they. Rows have the `positions` in turn.
    pub(crate) fn keys_and_values(
        &self,
        pass: &Pass,
        x: &Var,
        positions: &[usize],
        rows: impl FnOnce() -> List<Row>,
    ) -> Result<(Var, Var)> {
        let keys = self.key.apply(pass, x)?;
        let values = pass.hooked(Place::Values(self.kind, self.layer), self.value.apply(pass, x)?, rows)?;
        Ok((self.placed(pass, keys, positions)?, values))
    }

    /// The queries of rows `[rows, width]`, which have the `positions` in turn.
    pub(crate) fn queries(&self, pass: &Pass, x: &Var, positions: &[usize]) -> Result<Var> {
        if self.uniform {
            return Ok(Pass::zeros(x.shape().rows(), x.shape().last()));
        }
        self.placed(pass, self.query.apply(pass, x)?, positions)
    }

    fn placed(&self, pass: &Pass, x: Var, positions: &[usize]) -> Result<Var> {
        if self.rotary { Ok(ops::rotary(pass.tape, &x, self.heads, positions)?) } else { Ok(x) }
    }

    /// Looks keys and values up. What was looked at comes back where the pass wants it, one site a head. Decoding is without
    /// dropout.
    pub(crate) fn attend(
        &self,
        pass: &Pass,
        queries: &Var,
        sought: &Sought,
        asking: &Asking,
    ) -> Result<(Var, Vec<SiteAttention>)> {
        let (contexts, seen) = match sought {
            Sought::Trails { keys, values, trails } if !pass.attention && self.hook(pass).is_none() => {
                let contexts = ops::trail_attention(
                    pass.tape,
                    queries,
                    (keys, values),
                    self.heads,
                    self.factor,
                    trails,
                )?;
                (contexts, Vec::new())
            }
            _ => self.attend_in_parts(pass, queries, sought, asking)?,
        };
        Ok((self.output.apply(pass, &contexts)?, seen))
    }

    /// The contexts, by way of scores and weights that others may see and replace.
    fn attend_in_parts(
        &self,
        pass: &Pass,
        queries: &Var,
        sought: &Sought,
        asking: &Asking,
    ) -> Result<(Var, Vec<SiteAttention>)> {
        let scores = sought.scores(pass, queries, self.heads, self.factor)?;
        let scores = self.hooked(pass, asking, scores, |hook, call, scores| hook.scores(call, scores))?;
        let weights = sought.weights(pass, &scores, self.heads)?;
        let weights =
            self.hooked(pass, asking, weights, |hook, call, weights| hook.weights(call, weights))?;
        let contexts = sought.contexts(pass, &pass.dropout(&weights, self.dropout)?)?;
        let seen = if pass.attention { self.sites(&scores, &weights)? } else { Vec::new() };
        Ok((self.hooked_contexts(pass, asking, contexts)?, seen))
    }

    /// Each head's place in the model.
    pub(crate) fn all_sites(&self) -> impl Iterator<Item = AttentionSite> {
        (0..self.heads).map(|head| self.site(head))
    }

    fn site(&self, head: usize) -> AttentionSite {
        AttentionSite { kind: self.kind, layer: self.layer, head }
    }

    fn sites(&self, scores: &Var, weights: &Var) -> Result<Vec<SiteAttention>> {
        let site = |head| {
            let (scores, weights) = (scores.value().slice(head)?, weights.value().slice(head)?);
            Ok(SiteAttention { site: self.site(head), scores, weights })
        };
        (0..self.heads).map(site).collect()
    }

    fn call<'a>(&self, pass: &Pass<'a>, asking: &Asking<'a>, head: usize) -> HookCall<'a> {
        let (rows, lengths) = (asking.rows, asking.source_lengths);
        HookCall { tape: pass.tape, site: self.site(head), rows, lengths }
    }

    /// The hook, where it wants any of the heads.
    fn hook<'a>(&self, pass: &Pass<'a>) -> Option<&'a dyn AttentionHook> {
        pass.hook().filter(|hook| self.all_sites().any(|site| hook.wants(site)))
    }

    /// `x` `[heads, rows, positions]` as the hook wants it, head by head.
    fn hooked(
        &self,
        pass: &Pass,
        asking: &Asking,
        x: Var,
        method: impl Fn(&dyn AttentionHook, &HookCall, Var) -> Result<Var>,
    ) -> Result<Var> {
        let Some(hook) = self.hook(pass) else { return Ok(x) };
        let head = |head| {
            let (call, x) = (self.call(pass, asking, head), ops::slice(pass.tape, &x, head)?);
            if hook.wants(call.site) { method(hook, &call, x) } else { Ok(x) }
        };
        Ok(ops::stack(pass.tape, &(0..self.heads).map(head).collect::<Result<Vec<_>>>()?)?)
    }

    /// The contexts `[rows, heads · width]` as the hook wants them, head by head.
    fn hooked_contexts(&self, pass: &Pass, asking: &Asking, x: Var) -> Result<Var> {
        let Some(hook) = self.hook(pass) else { return Ok(x) };
        let width = x.shape().last() / self.heads;
        let head = |head| {
            let call = self.call(pass, asking, head);
            let context = ops::slice_last(pass.tape, &x, head * width..(head + 1) * width)?;
            if hook.wants(call.site) { hook.context(&call, context) } else { Ok(context) }
        };
        let heads = (0..self.heads).map(head).collect::<Result<Vec<_>>>()?;
        Ok(ops::concat(pass.tape, &heads.iter().collect::<Vec<_>>())?)
    }
}
