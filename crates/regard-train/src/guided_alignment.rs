//! Guided alignment (Chen et al. 2016, <https://arxiv.org/abs/1607.01628>): attention learns to follow links that an aligner
//! has made.

use std::collections::BTreeMap;
use std::path::PathBuf;

use regard_model::{AttentionSite, LossOutput, Predictor, Row, Seq2Seq, Training};
use regard_tensor::ops::{self, Link};
use regard_text::{Batch, Pair, PairSource};
use serde::{Deserialize, Serialize};

use crate::config::Problem;
use crate::error::{Result, TrainError};
use crate::recorder::Recorder;

/// `[training.guided_alignment]`: which attention follows which links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuidedAlignmentConfig {
    /// Links between words, a line for each line of the training text, all corpora one after the other.
    pub file: PathBuf,
    /// What the loss of the links counts beside that of the words.
    #[serde(default = "default_weight")]
    pub weight: f64,
    /// The layer of the decoder, from 0; the last one where it is not given.
    pub layer: Option<usize>,
    /// The head, from 0; the first one where it is not given.
    pub head: Option<usize>,
    /// Which look at the source belongs to a target token.
    #[serde(default)]
    pub step: GuidedStep,
}

/// The look at the source that belongs to a target token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GuidedStep {
    /// The one that the token is guessed from.
    #[default]
    Current,
    /// The one after it, whose input is the token (Chen et al. 2020, <https://arxiv.org/abs/2004.14837>): the model need not
    /// guess a token to know where it belongs.
    Next,
}

fn default_weight() -> f64 {
    0.1
}

impl GuidedAlignmentConfig {
    pub(crate) fn check(&self) -> std::result::Result<(), Problem> {
        let weight = self.weight;
        Problem::unless(weight > 0.0 && weight.is_finite(), "guided_alignment.weight", || {
            format!("{weight} must be a finite number above 0")
        })
    }

    /// The attention that is meant.
    ///
    /// # Errors
    /// Where the model has none such.
    fn site(&self, model: &(impl Predictor + ?Sized)) -> Result<AttentionSite> {
        let sites = model.cross_sites();
        let problem = |key: &str, reason| TrainError::Impossible {
            line: None,
            key: format!("training.guided_alignment.{key}"),
            reason,
        };
        let Some(last) = sites.iter().map(|site| site.layer).max() else {
            return Err(problem("file", "this model does not look at the source".to_owned()));
        };
        let layer = self.layer.unwrap_or(last);
        let mut of_layer = sites.iter().filter(|site| site.layer == layer);
        let Some(heads) = of_layer.clone().map(|site| site.head).max() else {
            return Err(problem("layer", format!("{layer}: the model has layers 0 to {last}")));
        };
        let head = self.head.unwrap_or(0);
        let site = of_layer.find(|site| site.head == head).copied();
        site.ok_or_else(|| problem("head", format!("{head}: the layer has heads 0 to {heads}")))
    }
}

/// The loss of words and of links: `L + w · L_a`, with `L_a = −Σ A_ij · ln(α_ij + 10⁻⁶)` over the links of target token i with
/// source token j, and `A_ij` = 1 / (links of i), as Marian computes it. The two end symbols are linked. A target token
/// without links costs nothing. Where the looks are those of the [next](GuidedStep::Next) step, the links of token i are
/// the targets of row i + 1, and the end symbol has none.
///
/// As the loss of words, the sum is divided by the number of target tokens of the update; Marian adds w · (number of links)
/// to that number.
pub struct GuidedAlignment {
    links: Box<dyn PairSource>,
    site: AttentionSite,
    weight: f64,
    step: GuidedStep,
}

impl GuidedAlignment {
    /// A guide for a model. The links are those of the training pairs in turn, between tokens; see
    /// [`token_links`](regard_text::token_links).
    ///
    /// # Errors
    /// Where the model has no such attention.
    pub fn new(
        config: &GuidedAlignmentConfig,
        links: Box<dyn PairSource>,
        model: &(impl Predictor + ?Sized),
    ) -> Result<Self> {
        Ok(Self { links, site: config.site(model)?, weight: config.weight, step: config.step })
    }

    pub(crate) fn check(&self, pairs: usize) -> Result<()> {
        let links = self.links.len();
        if links == pairs { Ok(()) } else { Err(TrainError::Unguided { pairs, links }) }
    }

    pub(crate) fn describe(&self) -> Result<String> {
        let AttentionSite { layer, head, .. } = self.site;
        let (weight, crc) = (self.weight, self.links.checksum()?);
        let step = match self.step {
            GuidedStep::Current => "",
            GuidedStep::Next => ", next step",
        };
        Ok(format!(
            "guided alignment of layer {layer}, head {head}{step}, weight {weight}, links with checksum {crc}"
        ))
    }

    pub(crate) fn loss(&self, model: &dyn Seq2Seq, training: &Training, batch: &Batch) -> Result<LossOutput> {
        let recorder = Recorder::new(Some(self.site));
        let output = model.loss(&Training { hook: Some(&recorder), ..*training }, batch)?;
        let looked = recorder.looked(training.tape, self.site)?;
        let links = self.targets(batch, &looked.rows)?;
        let factor = self.weight * training.factor;
        let alignment = ops::link_cross_entropy(training.tape, &looked.weights, &links, factor)?;
        Ok(LossOutput { loss: ops::add(training.tape, &output.loss, &alignment)?, ..output })
    }

    /// The links of a batch by the rows of the weights.
    fn targets(&self, batch: &Batch, rows: &[Row]) -> Result<Vec<Link>> {
        let later = usize::from(self.step == GuidedStep::Next);
        let place =
            |(place, row): (usize, &Row)| Some(((row.sentence, row.position.checked_sub(later)?), place));
        let places: BTreeMap<(usize, usize), usize> = rows.iter().enumerate().filter_map(place).collect();
        let mut links = Vec::new();
        for (sentence, &index) in batch.indices.iter().enumerate() {
            let mut of_pair = self.links.get(index)?;
            if self.step == GuidedStep::Current {
                link_ends(&mut of_pair, batch, sentence);
            }
            for (&source, &target) in of_pair.source.iter().zip(&of_pair.target) {
                let Some(&row) = places.get(&(sentence, target as usize)) else { continue };
                let count = of_pair.target.iter().filter(|&&other| other == target).count();
                links.push(Link { row, position: source as usize, share: 1.0 / count as f64 });
            }
        }
        Ok(links)
    }
}

/// Links the two end symbols of a pair.
fn link_ends(links: &mut Pair, batch: &Batch, sentence: usize) {
    let last = |lengths: &[usize]| lengths[sentence].saturating_sub(1) as u32;
    links.source.push(last(&batch.source.lengths));
    links.target.push(last(&batch.target.lengths));
}
