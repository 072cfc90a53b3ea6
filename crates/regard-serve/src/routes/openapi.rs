//! `GET /api/v1/openapi.json`: the description of this API.

use axum::http::header;
use axum::response::IntoResponse;

/// The description, in version 3.1 of the format.
pub(crate) const OPENAPI: &str = include_str!("../openapi.json");

pub(crate) async fn openapi() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::app::App;
    use crate::wire::fields::fields_of;
    use crate::wire::{
        AttributionRequest, AuditRequest, DetectRequest, LibreRequest, LookRequest, PictureRequest,
        TranslateRequest, TreeRequest,
    };

    #[test]
    fn it_has_every_route_and_no_other() {
        let document: Value = serde_json::from_str(OPENAPI).unwrap();
        let paths = document["paths"].as_object().unwrap();
        let methods = |(path, item): (&String, &Value)| {
            item.as_object().unwrap().keys().map(|method| (method.clone(), path.clone())).collect::<Vec<_>>()
        };
        let described: BTreeSet<(String, String)> = paths.iter().flat_map(methods).collect();
        let routes = App::routes().into_iter();
        let answered = routes.map(|(method, path)| (method.to_owned(), path.replace("{*", "{"))).collect();
        assert_eq!(described, answered);
    }

    #[test]
    fn it_has_every_field_of_requests_and_no_other() {
        let document: Value = serde_json::from_str(OPENAPI).unwrap();
        for (name, fields) in [
            ("TranslateRequest", fields_of::<TranslateRequest>()),
            ("LookRequest", fields_of::<LookRequest>()),
            ("PictureRequest", fields_of::<PictureRequest>()),
            ("AttributionRequest", fields_of::<AttributionRequest>()),
            ("AuditRequest", fields_of::<AuditRequest>()),
            ("TreeRequest", fields_of::<TreeRequest>()),
            ("LibreRequest", fields_of::<LibreRequest>()),
            ("DetectRequest", fields_of::<DetectRequest>()),
        ] {
            let described = document["components"]["schemas"][name]["properties"].as_object().unwrap();
            let described: BTreeSet<&str> = described.keys().map(String::as_str).collect();
            assert!(!fields.is_empty(), "{name}");
            assert_eq!(described, fields.into_iter().collect(), "{name}");
        }
    }
}
