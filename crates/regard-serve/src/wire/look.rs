//! `POST /api/v1/look` and `POST /api/v1/picture`.

use regard_model::SiteKind;
use serde::Deserialize;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LookRequest {
    pub(crate) model: String,
    pub(crate) text: String,
    pub(crate) target: Option<String>,
    pub(crate) beam_size: Option<usize>,
    pub(crate) interventions: Option<Vec<String>>,
}

/// A look, and which picture of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PictureRequest {
    pub(crate) format: PictureFormat,
    pub(crate) model: String,
    pub(crate) text: String,
    pub(crate) target: Option<String>,
    pub(crate) beam_size: Option<usize>,
    pub(crate) interventions: Option<Vec<String>>,
    pub(crate) site: Option<SiteKind>,
    pub(crate) layer: Option<usize>,
    pub(crate) head: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PictureFormat {
    Svg,
    Png,
    Html,
    Csv,
}

impl PictureRequest {
    pub(crate) fn look(&self) -> LookRequest {
        LookRequest {
            model: self.model.clone(),
            text: self.text.clone(),
            target: self.target.clone(),
            beam_size: self.beam_size,
            interventions: self.interventions.clone(),
        }
    }
}
