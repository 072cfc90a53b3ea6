//! `/health` and `/metrics`.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use serde::Serialize;

use crate::app::App;

#[derive(Serialize)]
pub(crate) struct Health {
    status: &'static str,
}

pub(crate) async fn health() -> Json<Health> {
    Json(Health { status: "ok" })
}

pub(crate) async fn metrics(State(app): State<App>) -> impl IntoResponse {
    let waiting = app.0.models.iter().map(|served| (served.model.name.as_str(), served.desk.waiting()));
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], app.0.metrics.text(waiting))
}
