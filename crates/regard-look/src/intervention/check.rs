//! Whether a model and a sentence have what an intervention names.

use std::collections::BTreeSet;

use regard_model::{AttentionSite, SiteKind};

use super::{Action, Heads, Intervention, Reach, Steps};
use crate::error::{BLIND, LookError, Result};

/// Says what is not there. `positions` are those of the source, its end symbol included.
pub(super) fn possible(intervention: &Intervention, sites: &[AttentionSite], positions: usize) -> Result<()> {
    let problem = of_reach(&intervention.reach, sites)
        .or_else(|| of_action(&intervention.action, &intervention.reach, sites, positions));
    match problem {
        Some(problem) => Err(LookError::Impossible { spec: intervention.to_string(), problem }),
        None => Ok(()),
    }
}

fn of_reach(reach: &Reach, sites: &[AttentionSite]) -> Option<String> {
    let of_kind: Vec<&AttentionSite> = sites.iter().filter(|site| site.kind == reach.site).collect();
    if of_kind.is_empty() {
        let what = match reach.site {
            SiteKind::Cross => BLIND,
            SiteKind::EncoderSelf => "the encoder of this model has no attention",
            SiteKind::DecoderSelf => "the decoder of this model does not look at its own words",
        };
        return Some(what.to_owned());
    }
    let layers = of_kind.iter().map(|site| site.layer).max().unwrap_or(0);
    let heads = of_kind.iter().map(|site| site.head).max().unwrap_or(0);
    match &reach.heads {
        Heads::Layers(wanted) => wanted
            .iter()
            .find(|&&layer| layer > layers)
            .map(|layer| format!("there is no layer {layer}: the last is {layers}")),
        Heads::These(wanted) => wanted
            .iter()
            .find(|&&(layer, head)| layer > layers || head > heads)
            .map(|(layer, head)| format!("there is no head {layer}.{head}: the last is {layers}.{heads}")),
        Heads::All => None,
    }
}

fn of_action(action: &Action, reach: &Reach, sites: &[AttentionSite], positions: usize) -> Option<String> {
    let of_source = reach.site != SiteKind::DecoderSelf;
    let outside = |&&position: &&usize| of_source && position >= positions;
    let no_such = |position: &usize| {
        let last = positions.saturating_sub(1);
        Some(format!("there is no source position {position}: the last is {last}, the end symbol"))
    };
    match action {
        Action::Remove { positions: gone, .. } => {
            if let Some(position) = gone.iter().find(outside) {
                return no_such(position);
            }
            None
        }
        Action::State { .. } if *reach != Reach::default() => {
            Some("a state is there for all steps, layers and heads: say no place".to_owned())
        }
        Action::Force { position } | Action::State { position, .. } => {
            outside(&position).then(|| no_such(position)).flatten()
        }
        Action::Row(_) if !of_source => Some("a row by hand is for a look at the source".to_owned()),
        Action::Row(weights) => (weights.len() != positions).then(|| {
            format!("there are {} weights for {positions} positions, the end symbol included", weights.len())
        }),
        Action::RemoveLayer
        | Action::RemoveAttention
        | Action::RemoveFeedForward
        | Action::RemoveResidual
            if matches!(reach.heads, Heads::These(_)) =>
        {
            Some("a block has all heads of its layer: say layer=L".to_owned())
        }
        Action::RemoveLayer
        | Action::RemoveAttention
        | Action::RemoveFeedForward
        | Action::RemoveResidual => {
            let own = if of_encoder(reach) { SiteKind::EncoderSelf } else { SiteKind::DecoderSelf };
            let recurrent = !sites.iter().any(|site| site.kind == own);
            recurrent
                .then(|| "this part of the model is recurrent: only a Transformer has such blocks".to_owned())
        }
        _ => None,
    }
}

fn of_encoder(reach: &Reach) -> bool {
    reach.site == SiteKind::EncoderSelf
}

/// Says where all that is left to look at would be removed by several interventions together.
pub(super) fn leaves_something(
    list: &[Intervention],
    sites: &[AttentionSite],
    positions: usize,
) -> Result<()> {
    let removals: Vec<(&Intervention, &[usize])> = list.iter().filter_map(masked).collect();
    let steps = removals.iter().flat_map(|(intervention, _)| match &intervention.reach.steps {
        Steps::All => Vec::new(),
        Steps::These(steps) => steps.clone(),
    });
    // A step that none of them names stands for all such.
    let steps: BTreeSet<usize> = steps.chain([usize::MAX]).collect();
    for site in sites.iter().filter(|site| site.kind != SiteKind::DecoderSelf) {
        for &step in &steps {
            let acts = |intervention: &Intervention| {
                let reach = &intervention.reach;
                reach.site == site.kind && reach.has_head(site.layer, site.head) && reach.has_step(step)
            };
            let acting: Vec<_> = removals.iter().filter(|(intervention, _)| acts(intervention)).collect();
            let gone = |position| acting.iter().any(|(_, removed)| removed.contains(&position));
            if let Some((last, _)) = acting.last().filter(|_| (0..positions).all(gone)) {
                let problem = "nothing would be left to look at; with renormalise=false it may".to_owned();
                return Err(LookError::Impossible { spec: last.to_string(), problem });
            }
        }
    }
    Ok(())
}

fn masked(intervention: &Intervention) -> Option<(&Intervention, &[usize])> {
    match &intervention.action {
        Action::Remove { positions, renormalise: true } => Some((intervention, positions)),
        _ => None,
    }
}

/// Says which step or position none of the rows has, where a translation has so many tokens.
pub(crate) fn within(list: &[Intervention], positions: usize, tokens: usize) -> Result<()> {
    for intervention in list {
        let rows = if of_encoder(&intervention.reach) { positions } else { tokens };
        let refuse = |problem: String| Err(LookError::Impossible { spec: intervention.to_string(), problem });
        if let Steps::These(steps) = &intervention.reach.steps
            && let Some(step) = steps.iter().find(|&&step| step >= rows)
        {
            return refuse(format!("there is no step {step}: the last is {}", rows.saturating_sub(1)));
        }
        if intervention.reach.site != SiteKind::DecoderSelf {
            continue;
        }
        let named: &[usize] = match &intervention.action {
            Action::Remove { positions, .. } => positions,
            Action::Force { position } => std::slice::from_ref(position),
            _ => &[],
        };
        if let Some(position) = named.iter().find(|&&position| position >= tokens) {
            return refuse(format!(
                "there is no target position {position}: the last is {}",
                tokens.saturating_sub(1)
            ));
        }
    }
    Ok(())
}
