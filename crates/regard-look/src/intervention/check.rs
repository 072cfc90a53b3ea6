//! Whether a model and a sentence have what an intervention names.

use regard_model::{AttentionSite, SiteKind};

use super::{Action, Heads, Intervention, Reach};
use crate::error::{LookError, Result};

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
            SiteKind::Cross => "this model has one vector and nothing to look at",
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
            let all = of_source && (0..positions).all(|position| gone.contains(&position));
            all.then(|| "nothing would be left to look at".to_owned())
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
