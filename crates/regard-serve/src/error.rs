//! What a request is answered with when it cannot be done.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use regard_decode::DecodeError;
use regard_look::LookError;
use serde::Serialize;

/// An answer that says why not: `{"error", "code"}`.
#[derive(Clone, Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    code: &'static str,
    message: String,
}

pub(crate) type Result<T> = std::result::Result<T, ApiError>;

#[derive(Serialize)]
struct ErrorBody<'a> {
    error: &'a str,
    code: &'a str,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into() }
    }

    /// The request is wrong.
    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    /// A field of the request is wrong.
    pub(crate) fn field(name: &str, reason: impl std::fmt::Display) -> Self {
        Self::bad(format!("{name}: {reason}"))
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    /// There is too much to do.
    pub(crate) fn busy(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message)
    }

    /// Something that should not happen.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }

    /// What a search says. The options have been checked before, so what it can still refuse is a text of the request.
    pub(crate) fn decode(error: &DecodeError, field: &str) -> Self {
        match error {
            DecodeError::Options(_) | DecodeError::NoAttention { .. } | DecodeError::Text(_) => {
                Self::field(field, error)
            }
            _ => Self::internal(error.to_string()),
        }
    }

    /// What a search says whose numbers interventions may have changed: the model's own do not overflow.
    pub(crate) fn changed(error: &DecodeError, field: &str) -> Self {
        match error {
            DecodeError::NotANumber { position, .. } => {
                let reason =
                    format_args!("the model's numbers overflow at target position {position} (from 0)");
                Self::field("interventions", reason)
            }
            _ => Self::decode(error, field),
        }
    }

    /// What looking into a model says, with interventions or without. What an intervention names may not be there.
    pub(crate) fn look(error: &LookError, field: &str, is_changed: bool) -> Self {
        match error {
            LookError::Decode(error) if is_changed => Self::changed(error, field),
            LookError::Nothing => Self::field("text", error),
            LookError::Impossible { .. } => Self::field("interventions", error),
            LookError::Decode(error) => Self::decode(error, field),
            _ => Self::internal(error.to_string()),
        }
    }
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let Self { status, code, message } = self;
        let mut response = (status, Json(ErrorBody { error: &message, code })).into_response();
        if matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
