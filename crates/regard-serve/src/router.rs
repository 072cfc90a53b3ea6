//! The routes, and what stands before all of them.

use axum::Router;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, delete, get, post};
use tower::ServiceBuilder;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::set_header::SetResponseHeaderLayer;

use crate::app::App;
use crate::error::ApiError;
use crate::routes::{
    attribution, audit, documents, jobs, libretranslate, look, models, openapi, picture, status, translate,
    tree, web,
};
use crate::{guard, metrics};

/// Nothing is loaded from elsewhere, and no page of another site shows this one inside itself.
const POLICY: &str = "default-src 'self'; style-src 'self'; img-src 'self' data:; frame-ancestors 'none'; \
                      base-uri 'none'; form-action 'self'";

/// A path that answers to a method.
struct Route(&'static str, &'static str, MethodRouter<App>);

/// All routes: method, path, handler.
fn routes() -> Vec<Route> {
    vec![
        Route("get", "/api/v1/models", get(models::list)),
        Route("post", "/api/v1/translate", post(translate::translate)),
        Route("post", "/api/v1/look", post(look::look)),
        Route("post", "/api/v1/picture", post(picture::picture)),
        Route("post", "/api/v1/tree", post(tree::tree)),
        Route("post", "/api/v1/attribution", post(attribution::begin)),
        Route("get", "/api/v1/curve", get(documents::curve)),
        Route("get", "/api/v1/audit", get(documents::audit)),
        Route("post", "/api/v1/audit", post(audit::begin)),
        Route("get", "/api/v1/jobs/{id}", get(jobs::status)),
        Route("delete", "/api/v1/jobs/{id}", delete(jobs::cancel)),
        Route("get", "/api/v1/openapi.json", get(openapi::openapi)),
        Route("post", "/translate", post(libretranslate::translate)),
        Route("post", "/detect", post(libretranslate::detect)),
        Route("get", "/languages", get(libretranslate::languages)),
        Route("get", "/frontend/settings", get(libretranslate::settings)),
        Route("get", "/health", get(status::health)),
        Route("get", "/metrics", get(status::metrics)),
        Route("get", "/", get(web::index)),
        Route("get", "/web/{*path}", get(web::asset)),
    ]
}

impl App {
    /// The methods and paths that are answered, as the description of the API writes them but for `{*path}`.
    #[must_use]
    pub fn routes() -> Vec<(&'static str, &'static str)> {
        routes().into_iter().map(|Route(method, path, _)| (method, path)).collect()
    }

    /// All that the server answers, as a service.
    pub fn router(&self) -> Router {
        let routes = routes()
            .into_iter()
            .fold(Router::new(), |router, Route(_, path, handler)| router.route(path, handler));
        let fixed =
            |name, value| SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value));
        let before = ServiceBuilder::new()
            .layer(fixed(header::CONTENT_SECURITY_POLICY, POLICY))
            .layer(fixed(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
            .layer(fixed(header::REFERRER_POLICY, "no-referrer"))
            .layer(from_fn_with_state(self.clone(), metrics::measure))
            .layer(CatchPanicLayer::custom(|_| {
                ApiError::internal("this request was too much; the log says why").into_response()
            }))
            .layer(from_fn_with_state(self.clone(), guard::check));
        routes
            .method_not_allowed_fallback(wrong_method)
            .fallback(unknown_path)
            .layer(before)
            .with_state(self.clone())
    }
}

async fn wrong_method() -> Response {
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "this path does not answer to this method",
    )
    .into_response()
}

async fn unknown_path(uri: axum::http::Uri) -> Response {
    ApiError::not_found(format!("there is no path {}", uri.path())).into_response()
}
