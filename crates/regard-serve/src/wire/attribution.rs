//! `POST /api/v1/attribution`.

use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AttributionRequest {
    pub(crate) model: String,
    pub(crate) text: String,
    pub(crate) target: Option<String>,
    pub(crate) method: String,
}
