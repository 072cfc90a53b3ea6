//! Which of a model's attentions is returned.

use regard_model::{Predictor, SiteAttention, SiteKind, StepOutput};

use crate::error::{DecodeError, Result};

/// Which of the decoder's looks at the source is returned: in a layer, by a head or by all heads together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// The layer of the decoder, from 0; the last one where it is not named.
    pub layer: Option<usize>,
    /// The head, from 0; the mean of all heads where it is not named.
    pub head: Option<usize>,
}

impl Look {
    /// Says whether the model has such an attention.
    ///
    /// # Errors
    /// [`DecodeError::Options`] where it has not.
    pub fn check(self, model: &dyn Predictor) -> Result<()> {
        let sites = model.cross_sites();
        let named = |name: &str, asked: Option<usize>, most: Option<usize>| match (asked, most) {
            (Some(asked), Some(most)) if asked > most => Err(DecodeError::Options(format!(
                "{name} {asked} of the attention: the model has {name}s 0 to {most}"
            ))),
            _ => Ok(()),
        };
        let layer = self.layer.or_else(|| sites.iter().map(|site| site.layer).max());
        let heads = sites.iter().filter(|site| Some(site.layer) == layer);
        named("layer", self.layer, sites.iter().map(|site| site.layer).max())?;
        named("head", self.head, heads.map(|site| site.head).max())
    }

    /// What row `row` of a step looked at, cut to the sentence's own positions.
    pub(crate) fn weights(self, output: &StepOutput, row: usize, positions: usize) -> Option<Vec<f32>> {
        let heads = self.heads(output)?;
        let mut sums = vec![0.0; positions];
        for head in &heads {
            for (sum, weight) in sums.iter_mut().zip(head.weights.row(row)) {
                *sum += weight;
            }
        }
        Some(sums.into_iter().map(|sum| sum / heads.len() as f32).collect())
    }

    /// The scores whose softmax the weights are: the model's own, or those of a mean of heads, its logarithm.
    pub(crate) fn scores(self, output: &StepOutput, row: usize, positions: usize) -> Option<Vec<f32>> {
        match self.heads(output)?.as_slice() {
            [head] => Some(head.scores.row(row)[..positions].to_vec()),
            _ => Some(self.weights(output, row, positions)?.into_iter().map(f32::ln).collect()),
        }
    }

    fn heads(self, output: &StepOutput) -> Option<Vec<&SiteAttention>> {
        let cross = || output.attention.iter().filter(|seen| seen.site.kind == SiteKind::Cross);
        let layer = self.layer.or_else(|| cross().map(|seen| seen.site.layer).max())?;
        let is_meant = |seen: &&SiteAttention| {
            seen.site.layer == layer && self.head.is_none_or(|head| seen.site.head == head)
        };
        let heads: Vec<_> = cross().filter(is_meant).collect();
        (!heads.is_empty()).then_some(heads)
    }
}
