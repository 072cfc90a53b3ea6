//! Interventions at work: a hook.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use regard_decode::{Controls, Translator};
use regard_model::{
    AttentionHook, AttentionSite, BlockKind, HookCall, ModelError, Place, Row, SiteKind, ValueCall,
};
use regard_tensor::{Tensor, Var};

use super::donor::Donor;
use super::rows::Change;
use super::{Action, Intervention, Stage, check};
use crate::error::Result;

/// A list of interventions, ready for a model and a sentence. They apply in order; all that change scores come before those
/// that change weights. What is changed is a constant: no gradient flows through it.
#[derive(Debug)]
pub struct Interventions {
    list: Vec<Prepared>,
    /// The weights that the last step had computed, by site, sentence and hypothesis.
    before: Mutex<HashMap<(AttentionSite, usize, usize), Vec<f32>>>,
}

#[derive(Debug)]
struct Prepared {
    intervention: Intervention,
    donor: Donor,
}

impl Interventions {
    /// Gets a list ready: `sites` are all attentions of the model, `positions` the sentence's source positions, the end symbol
    /// included. Other sentences are read by the model now; `controls` say whether that is still wanted.
    ///
    /// # Errors
    /// [`LookError::Impossible`](crate::LookError::Impossible) where the model has no such place or the sentence no such position, and what decoding says.
    pub fn new(
        list: &[Intervention],
        translator: &Translator,
        sites: &[AttentionSite],
        positions: usize,
        controls: &Controls,
    ) -> Result<Self> {
        check::leaves_something(list, sites, positions)?;
        let prepare = |intervention: &Intervention| {
            check::possible(intervention, sites, positions)?;
            let donor = Donor::of(&intervention.action, translator, positions, controls)?;
            Ok(Prepared { intervention: intervention.clone(), donor })
        };
        Ok(Self { list: list.iter().map(prepare).collect::<Result<_>>()?, before: Mutex::default() })
    }

    /// Those that act on a head.
    fn at(&self, site: AttentionSite) -> impl Iterator<Item = &Prepared> {
        self.list.iter().filter(move |prepared| {
            let reach = &prepared.intervention.reach;
            reach.site == site.kind && reach.has_head(site.layer, site.head)
        })
    }

    /// Rows of `x` as the changes of a stage leave them; `x` itself where there are none.
    fn rows(&self, call: &HookCall, x: Var, change: impl Fn(&Prepared) -> Option<Change>) -> Var {
        let changes: Vec<(&Prepared, Change)> =
            self.at(call.site).filter_map(|prepared| Some((prepared, change(prepared)?))).collect();
        if changes.is_empty() {
            return x;
        }
        let mut values = x.value().deep_copy();
        let width = x.shape().last();
        for (row, values) in call.rows.iter().zip(values.values_mut().chunks_exact_mut(width.max(1))) {
            let positions = positions(call, row).min(values.len());
            for (prepared, change) in &changes {
                if prepared.intervention.reach.has_step(row.position) {
                    change.apply(&mut values[..positions], call.site, row.position);
                }
            }
        }
        Var::constant(values)
    }

    /// Puts the weights of the steps before, and remembers those of this one.
    fn previous(&self, call: &HookCall, weights: &Tensor) -> Option<Tensor> {
        let wanted = |prepared: &&Prepared| prepared.intervention.action == Action::Previous;
        let acting: Vec<&Prepared> = self.at(call.site).filter(wanted).collect();
        if acting.is_empty() {
            return None;
        }
        let mut memory = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changed = weights.deep_copy();
        let width = weights.shape().last();
        let mut seen = HashMap::new();
        for (place, row) in call.rows.iter().enumerate() {
            let beside = |other: &Row| other.sentence == row.sentence && other.position + 1 == row.position;
            let before = match call.rows.iter().position(beside) {
                Some(other) => Some(weights.row(other).to_vec()),
                None => memory.get(&(call.site, row.sentence, row.parent)).cloned(),
            };
            let acts = acting.iter().any(|prepared| prepared.intervention.reach.has_step(row.position));
            if let Some(before) = before.filter(|_| acts && row.position > 0) {
                let target = &mut changed.values_mut()[place * width..(place + 1) * width];
                target.fill(0.0);
                target.iter_mut().zip(before).for_each(|(to, from)| *to = from);
            }
            seen.insert((call.site, row.sentence, row.hypothesis), weights.row(place).to_vec());
        }
        memory.retain(|(site, ..), _| *site != call.site);
        memory.extend(seen);
        Some(changed)
    }
}

/// The positions that a row may look at.
fn positions(call: &HookCall, row: &Row) -> usize {
    match call.site.kind {
        SiteKind::DecoderSelf => row.position + 1,
        _ => call.lengths.get(row.sentence).copied().unwrap_or(0),
    }
}

impl Prepared {
    fn of_scores(&self) -> Option<Change<'_>> {
        match &self.intervention.action {
            Action::Temperature(temperature) => Some(Change::Divide(*temperature)),
            Action::Remove { positions, renormalise: true } => Some(Change::Mask(positions)),
            Action::Permute { seed, of: Stage::Scores } => Some(Change::Permute(*seed)),
            _ => None,
        }
    }

    fn of_weights(&self) -> Option<Change<'_>> {
        match (&self.intervention.action, &self.donor) {
            (Action::Remove { positions, renormalise: false }, _) => Some(Change::Zero(positions)),
            (Action::Force { position }, _) => Some(Change::One(*position)),
            (Action::Row(weights), _) => Some(Change::Put(weights)),
            (Action::Uniform, _) => Some(Change::Uniform),
            (Action::Permute { seed, of: Stage::Weights }, _) => Some(Change::Permute(*seed)),
            (Action::Hard, _) => Some(Change::Hard),
            (Action::Last, _) => Some(Change::Last),
            (Action::AttentionOf { .. }, Donor::Attention(rows)) => Some(Change::Of(rows)),
            _ => None,
        }
    }

    /// Whether it takes away what is at a place.
    fn empties(&self, place: Place) -> bool {
        let reach = &self.intervention.reach;
        let (block, is_branch) = match place {
            Place::Branch(block) => (block, true),
            Place::Around(block) => (block, false),
            _ => return false,
        };
        let attention = block.kind == BlockKind::Attention(reach.site);
        let of_stack = match block.kind {
            BlockKind::Attention(kind) => is_encoder(kind) == is_encoder(reach.site),
            BlockKind::EncoderFeedForward => is_encoder(reach.site),
            BlockKind::DecoderFeedForward => !is_encoder(reach.site),
        };
        reach.has_layer(block.layer)
            && match self.intervention.action {
                Action::RemoveLayer => is_branch && of_stack,
                Action::RemoveAttention => is_branch && attention,
                Action::RemoveResidual => !is_branch && attention,
                Action::RemoveFeedForward => {
                    is_branch && of_stack && !matches!(block.kind, BlockKind::Attention(_))
                }
                _ => false,
            }
    }
}

fn is_encoder(kind: SiteKind) -> bool {
    kind == SiteKind::EncoderSelf
}

/// Rows of `x` at which `is_gone`, as zeros.
fn emptied(x: &Var, rows: &[Row], is_gone: impl Fn(&Row) -> bool) -> Var {
    let mut values = x.value().deep_copy();
    let width = x.shape().last();
    for (row, values) in rows.iter().zip(values.values_mut().chunks_exact_mut(width.max(1))) {
        if is_gone(row) {
            values.fill(0.0);
        }
    }
    Var::constant(values)
}

impl AttentionHook for Interventions {
    fn wants(&self, site: AttentionSite) -> bool {
        let acts = |prepared: &Prepared| {
            let is_previous = prepared.intervention.action == Action::Previous;
            let is_head = prepared.intervention.action == Action::RemoveHead;
            is_previous || is_head || prepared.of_scores().is_some() || prepared.of_weights().is_some()
        };
        self.at(site).any(acts)
    }

    fn scores(&self, call: &HookCall, scores: Var) -> Result<Var, ModelError> {
        Ok(self.rows(call, scores, Prepared::of_scores))
    }

    fn weights(&self, call: &HookCall, weights: Var) -> Result<Var, ModelError> {
        let weights = match self.previous(call, weights.value()) {
            Some(changed) => Var::constant(changed),
            None => weights,
        };
        Ok(self.rows(call, weights, Prepared::of_weights))
    }

    fn context(&self, call: &HookCall, context: Var) -> Result<Var, ModelError> {
        let removing: Vec<&Prepared> = self
            .at(call.site)
            .filter(|prepared| prepared.intervention.action == Action::RemoveHead)
            .collect();
        if removing.is_empty() {
            return Ok(context);
        }
        let is_gone = |row: &Row| removing.iter().any(|one| one.intervention.reach.has_step(row.position));
        Ok(emptied(&context, call.rows, is_gone))
    }

    fn wants_value(&self, place: Place) -> bool {
        let is_state = |prepared: &Prepared| matches!(prepared.donor, Donor::State(_));
        match place {
            Place::Memory => self.list.iter().any(is_state),
            _ => self.list.iter().any(|prepared| prepared.empties(place)),
        }
    }

    fn value(&self, call: &ValueCall, value: Var) -> Result<Var, ModelError> {
        if call.place != Place::Memory {
            let is_gone = |row: &Row| {
                let gone =
                    |one: &Prepared| one.empties(call.place) && one.intervention.reach.has_step(row.position);
                self.list.iter().any(gone)
            };
            return Ok(emptied(&value, call.rows, is_gone));
        }
        let mut values = value.value().deep_copy();
        let width = value.shape().last();
        for prepared in &self.list {
            let (Action::State { position, .. }, Donor::State(state)) =
                (&prepared.intervention.action, &prepared.donor)
            else {
                continue;
            };
            for (row, values) in call.rows.iter().zip(values.values_mut().chunks_exact_mut(width.max(1))) {
                if row.position == *position {
                    values.copy_from_slice(state);
                }
            }
        }
        Ok(Var::constant(values))
    }
}
