//! `POST /api/v1/audit`.

use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AuditRequest {
    pub(crate) model: String,
    pub(crate) sources: Vec<String>,
    pub(crate) targets: Vec<String>,
}
