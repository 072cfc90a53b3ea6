//! What lies beside a model: its length curve and its last audit.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use axum::extract::State;
use axum::http::{Uri, header};
use axum::response::IntoResponse;
use serde_json::value::RawValue;

use crate::app::App;
use crate::audience::Page;
use crate::error::{ApiError, Result};
use crate::form;

/// More than any such document needs.
const MAX_BYTES: u64 = 16 << 20;

/// `GET /api/v1/curve?model=…`.
pub(crate) async fn curve(State(app): State<App>, page: Page, uri: Uri) -> Result<impl IntoResponse> {
    document(&app, page, &uri, "length_curve.json", "no length curve was stored with this model").await
}

/// `GET /api/v1/audit?model=…`.
pub(crate) async fn audit(State(app): State<App>, page: Page, uri: Uri) -> Result<impl IntoResponse> {
    document(&app, page, &uri, "audit.json", "no audit was stored with this model").await
}

async fn document(
    app: &App,
    page: Page,
    uri: &Uri,
    file: &'static str,
    missing: &'static str,
) -> Result<impl IntoResponse + use<>> {
    let fields: BTreeMap<_, _> = form::fields(uri.query().unwrap_or_default().as_bytes())?;
    let name = fields.get("model").ok_or_else(|| ApiError::field("model", "it is missing in the query"))?;
    let served = app.model(name)?;
    let path = served.model.directory.join(file);
    let text = served.desk.run(page, |_| Ok(()), move |()| read(&path, missing)).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], text))
}

/// A file of JSON.
fn read(path: &Path, missing: &str) -> Result<String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let file = match std::fs::File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(ApiError::not_found(format!("{missing}: it has no {name}")));
        }
        file => file.map_err(|error| ApiError::internal(format!("{name}: {error}")))?,
    };
    let mut text = String::new();
    file.take(MAX_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(|error| ApiError::internal(format!("{name}: {error}")))?;
    if text.len() as u64 > MAX_BYTES {
        return Err(ApiError::internal(format!("{name} is longer than {MAX_BYTES} bytes")));
    }
    serde_json::from_str::<&RawValue>(&text)
        .map_err(|error| ApiError::internal(format!("{name}: {error}")))?;
    Ok(text)
}
