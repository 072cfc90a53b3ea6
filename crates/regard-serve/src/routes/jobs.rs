//! `/api/v1/jobs/{id}`: how far a job is, and its end, for the page that began it.

use axum::Json;
use axum::extract::State;
use axum::http::Uri;

use crate::app::App;
use crate::audience::Page;
use crate::error::{ApiError, Result};
use crate::jobs::JobStatus;

pub(crate) async fn status(State(app): State<App>, page: Page, uri: Uri) -> Result<Json<JobStatus>> {
    known(&uri, |number| app.jobs().status_for(&page, number))
}

pub(crate) async fn cancel(State(app): State<App>, page: Page, uri: Uri) -> Result<Json<JobStatus>> {
    known(&uri, |number| app.jobs().cancel_for(&page, number))
}

fn known(uri: &Uri, find: impl FnOnce(u64) -> Option<JobStatus>) -> Result<Json<JobStatus>> {
    let id = uri.path().rsplit('/').next().unwrap_or_default();
    let found = id.parse().ok().and_then(find);
    found.map(Json).ok_or_else(|| ApiError::not_found(format!("id: there is no job `{id}`")))
}
