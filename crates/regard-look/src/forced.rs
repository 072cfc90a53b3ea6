//! A given translation under teacher forcing: every distribution and every look.

use regard_decode::{Controls, Decoding, Translator};
use regard_model::{AttentionSite, SiteAttention, SiteKind};
use regard_text::Padded;
use regard_text::special_tokens::EOS;
use serde::Serialize;

use crate::error::Result;
use crate::sentence::Source;

/// What one attention computed for a sentence: a row a target token (a source token for `encoder_self`).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Site {
    /// Who looks at what.
    pub site: SiteKind,
    /// The layer, from 0.
    pub layer: usize,
    /// The head, from 0; none for the mean of all heads of the layer.
    pub head: Option<usize>,
    /// After the softmax: `[rows, positions]`; 0 at what a row may not look at.
    pub weights: Vec<Vec<f32>>,
    /// Before it.
    pub scores: Vec<Vec<f32>>,
}

impl Site {
    /// `cross_0_1` for the head 1 of layer 0, `cross_0_mean` for the mean of all heads.
    pub(crate) fn name(&self) -> String {
        let head = self.head.map_or("mean".to_owned(), |head| head.to_string());
        format!("{}_{}_{head}", self.kind_name(), self.layer)
    }

    pub(crate) fn kind_name(&self) -> &'static str {
        match self.site {
            SiteKind::EncoderSelf => "encoder_self",
            SiteKind::DecoderSelf => "decoder_self",
            SiteKind::Cross => "cross",
        }
    }
}

/// What was computed on the way through a given translation.
#[derive(Debug, Default)]
pub(crate) struct Pass {
    /// log p of each token.
    pub(crate) log_probs: Vec<f32>,
    /// The probabilities of all words at each step, where they are wanted.
    pub(crate) distributions: Vec<Vec<f32>>,
    /// Every attention, the decoder's looks at the source first.
    pub(crate) sites: Vec<Site>,
}

/// What is wanted of it.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) sites: bool,
    pub(crate) distributions: bool,
}

/// Forces `target` ids, the end symbol included where it belongs.
pub(crate) fn force(
    translator: &Translator,
    controls: Controls,
    source: &Source,
    target: &[u32],
    wanted: Wanted,
) -> Result<Pass> {
    let decoding = Decoding { controls, ..translator.decoding() };
    let mut pass = Pass::default();
    let memory =
        decoding.force(&source.padded(), &Padded::from_rows(&[target.to_vec()]), wanted.sites, |step| {
            let row = step.output.log_probs.row(step.row);
            pass.log_probs.push(row.get(step.token as usize));
            if wanted.distributions {
                pass.distributions.push(row.values().map(f32::exp).collect());
            }
            for seen in &step.output.attention {
                add_row(&mut pass.sites, seen, step.row, (source.positions(), target.len()));
            }
            Ok(())
        })?;
    for seen in &memory.attention {
        for row in 0..source.positions() {
            add_row(&mut pass.sites, seen, row, (source.positions(), target.len()));
        }
    }
    pass.sites.sort_by_key(|site| (site.site, site.layer, site.head));
    Ok(pass)
}

/// Adds one row to its site. A look at the decoder's own words grows, and is filled up with zeros.
fn add_row(sites: &mut Vec<Site>, seen: &SiteAttention, row: usize, (positions, steps): (usize, usize)) {
    let AttentionSite { kind, layer, head } = seen.site;
    let is_it = |site: &Site| (site.site, site.layer, site.head) == (kind, layer, Some(head));
    let place = sites.iter().position(is_it).unwrap_or_else(|| {
        sites.push(Site { site: kind, layer, head: Some(head), weights: Vec::new(), scores: Vec::new() });
        sites.len() - 1
    });
    let width = if kind == SiteKind::DecoderSelf { steps } else { positions };
    let fitted = |row: &[f32]| {
        let mut row = row.to_vec();
        row.resize(width, 0.0);
        row
    };
    sites[place].weights.push(fitted(seen.weights.row(row)));
    sites[place].scores.push(fitted(seen.scores.row(row)));
}

/// All attentions of a model, seen at work on a sentence.
pub(crate) fn sites_of(translator: &Translator, source: &Source) -> Result<Vec<AttentionSite>> {
    let wanted = Wanted { sites: true, distributions: false };
    let pass = force(translator, Controls::default(), source, &[EOS], wanted)?;
    let site =
        |site: &Site| AttentionSite { kind: site.site, layer: site.layer, head: site.head.unwrap_or(0) };
    Ok(pass.sites.iter().map(site).collect())
}
