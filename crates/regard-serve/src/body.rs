//! A request's body: it is read within limits, and what is wrong with it is said by the name of the field.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::error::{ApiError, Result};
use crate::limits::Limits;

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

/// A JSON body.
pub(crate) struct Json<T>(pub(crate) T);

/// An answer that is JSON already.
pub(crate) struct Written(Vec<u8>);

/// A body that is JSON or a form; the name of its type is checked already.
pub(crate) enum JsonOrForm {
    Json(Bytes),
    Form(Bytes),
}

impl Written {
    /// Writes an answer.
    ///
    /// # Errors
    /// Where its type cannot be JSON.
    pub(crate) fn new(answer: &impl Serialize) -> Result<Self> {
        serde_json::to_vec(answer).map(Self).map_err(|error| ApiError::internal(error.to_string()))
    }
}

impl IntoResponse for Written {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, JSON)], self.0).into_response()
    }
}

impl<T: DeserializeOwned> FromRequest<App> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self> {
        if content_type(request.headers())? != JSON {
            return Err(unsupported(JSON));
        }
        Ok(Self(parse(&read(request, app.limits()).await?)?))
    }
}

impl FromRequest<App> for JsonOrForm {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self> {
        let kind = content_type(request.headers())?;
        if kind != JSON && kind != FORM {
            return Err(unsupported("application/json or application/x-www-form-urlencoded"));
        }
        let body = read(request, app.limits()).await?;
        Ok(if kind == JSON { Self::Json(body) } else { Self::Form(body) })
    }
}

/// The value that a JSON text describes.
///
/// # Errors
/// 400, with the field that is wrong or missing.
pub(crate) fn parse<T: DeserializeOwned>(text: &[u8]) -> Result<T> {
    if text.iter().all(u8::is_ascii_whitespace) {
        return Err(ApiError::bad("Invalid JSON format: the body is empty; send a JSON object"));
    }
    let text = std::str::from_utf8(text).map_err(|error| {
        ApiError::bad(format!("Invalid JSON format: the body is not UTF-8 at byte {}", error.valid_up_to()))
    })?;
    if !text.trim_start().starts_with('{') {
        return Err(ApiError::bad("Invalid JSON format: send a JSON object"));
    }
    let mut json = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let (path, reason) = (error.path().to_string(), error.inner());
        match reason.classify() {
            // The root, and what ends before it has a name.
            _ if path != "." && path != "?" => ApiError::field(&path, reason),
            serde_json::error::Category::Data => ApiError::bad(reason.to_string()),
            _ => ApiError::bad(format!("Invalid JSON format: {reason}")),
        }
    })?;
    json.end().map_err(|error| ApiError::bad(format!("Invalid JSON format: {error}")))?;
    Ok(value)
}

/// The type of the body, without its parameters, in small letters.
fn content_type(headers: &HeaderMap) -> Result<String> {
    let Some(value) = headers.get(header::CONTENT_TYPE) else {
        return Err(unsupported("application/json"));
    };
    let whole = value.to_str().unwrap_or_default().to_ascii_lowercase();
    let mut parts = whole.split(';').map(str::trim);
    let kind = parts.next().unwrap_or_default().to_owned();
    match parts.find_map(|part| part.strip_prefix("charset=")).map(|charset| charset.trim_matches('"')) {
        None | Some("utf-8" | "utf8" | "us-ascii") => Ok(kind),
        Some(_) => Err(unsupported("UTF-8")),
    }
}

fn unsupported(wanted: &str) -> ApiError {
    let reason = format!("Content-Type: this must be {wanted}");
    ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", reason)
}

async fn read(request: Request, limits: &Limits) -> Result<Bytes> {
    let too_large = || {
        let reason = format!("the body is longer than {} bytes", limits.body_bytes);
        ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", reason)
    };
    // A length that is said is believed before anything is read.
    let said =
        request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if said.is_some_and(|said: u64| said > limits.body_bytes as u64) {
        return Err(too_large());
    }
    let body = Limited::new(request.into_body(), limits.body_bytes);
    match tokio::time::timeout(limits.body_time, body.collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(error)) => {
            Err(ApiError::bad(format!("the body is not as long as its Content-Length says: {error}")))
        }
        Err(_) => {
            let reason = "the body did not arrive in time: is it as long as its Content-Length says?";
            Err(ApiError::new(StatusCode::REQUEST_TIMEOUT, "timeout", reason))
        }
    }
}
