//! `POST /api/v1/audit`: an audit on given lines, as a job.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use regard_look::{AuditOptions, Auditee, Watch, audit};
use regard_model::checkpoint;
use regard_tensor::Threads;
use serde::Serialize;
use serde_json::Value;

use crate::app::App;
use crate::audience::Page;
use crate::body;
use crate::checks;
use crate::error::{ApiError, Result};
use crate::jobs::Progress;
use crate::model::Model;
use crate::wire::AuditRequest;

#[derive(Serialize)]
pub(crate) struct Begun {
    pub(super) job: u64,
}

pub(crate) async fn begin(
    State(app): State<App>,
    page: Page,
    body::Json(request): body::Json<AuditRequest>,
) -> Result<Json<Begun>> {
    let AuditRequest { model, sources, targets } = request;
    let served = app.model(&model)?;
    if !served.model.has_attention() {
        return Err(ApiError::field("model", "this model has one vector and nothing to look at"));
    }
    if sources.len() != targets.len() || sources.is_empty() {
        let (sources, targets) = (sources.len(), targets.len());
        let reason = format!("there are {sources} and {targets} targets: each needs the other, one at least");
        return Err(ApiError::field("sources", reason));
    }
    if sources.len() > app.limits().texts {
        let reason = format!("there are {}; the most is {}", sources.len(), app.limits().texts);
        return Err(ApiError::field("sources", reason));
    }
    for (source, target) in sources.iter().zip(&targets) {
        checks::sentence("sources", source, app.limits())?;
        checks::sentence("targets", target, app.limits())?;
    }
    checks::characters("sources", sources.iter().chain(&targets).map(String::as_str), app.limits())?;
    let lines: Vec<(String, String)> = sources.into_iter().zip(targets).collect();
    let audited = served.model.clone();
    let job = app.jobs().start(&app, &model, Some(page), move |progress| run(&audited, &lines, progress))?;
    Ok(Json(Begun { job }))
}

/// Reads the network once more, as it is trained: gradients go through it.
fn run(model: &Model, lines: &[(String, String)], progress: &Progress) -> std::result::Result<Value, String> {
    let (info, network) = checkpoint::load(&model.directory).map_err(|error| error.to_string())?;
    let translator = Arc::clone(&model.translator);
    let auditee = Auditee {
        name: &model.name,
        model: network.as_ref(),
        config: &info.config,
        translator: &translator,
        rivals: &[],
    };
    let options = AuditOptions { sentences: lines.len(), ..AuditOptions::quick(&info.config) };
    let watch = Watch { progress: &|done, total| progress.report(done, total), stop: &|| progress.stop() };
    let found = audit(&auditee, &Threads::single(), lines, &options, &watch);
    serde_json::to_value(found.map_err(|error| error.to_string())?).map_err(|error| error.to_string())
}
