//! `GET /api/v1/models`.

use axum::Json;
use axum::extract::State;
use regard_model::{AttentionSite, SiteKind};
use serde::Serialize;

use crate::app::App;
use crate::model::{Model, ModelKind};

#[derive(Serialize)]
pub(crate) struct Models {
    models: Vec<ModelRecord>,
}

#[derive(Serialize)]
struct ModelRecord {
    name: String,
    kind: ModelKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_language: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_language: Option<String>,
    parameters: usize,
    attention: bool,
    sites: Vec<SiteRecord>,
}

#[derive(Serialize)]
struct SiteRecord {
    site: SiteKind,
    layer: usize,
    head: usize,
}

pub(crate) async fn list(State(app): State<App>) -> Json<Models> {
    Json(Models { models: app.0.models.iter().map(|served| ModelRecord::from(&served.model)).collect() })
}

impl From<&Model> for ModelRecord {
    fn from(model: &Model) -> Self {
        let named = |code: &String| Some(code.clone()).filter(|code| !code.is_empty());
        Self {
            name: model.name.clone(),
            kind: model.kind,
            source_language: named(&model.source_language),
            target_language: named(&model.target_language),
            parameters: model.parameters,
            attention: model.has_attention(),
            sites: model.sites.iter().map(SiteRecord::from).collect(),
        }
    }
}

impl From<&AttentionSite> for SiteRecord {
    fn from(&AttentionSite { kind, layer, head }: &AttentionSite) -> Self {
        Self { site: kind, layer, head }
    }
}
