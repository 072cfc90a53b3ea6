//! The page: static files that are part of the program.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;

use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use include_dir::{Dir, include_dir};
use sha2::{Digest, Sha256};

use crate::error::ApiError;

static DIRECTORY: Dir = include_dir!("$CARGO_MANIFEST_DIR/web");

/// The files by their path.
static FILES: LazyLock<BTreeMap<String, WebFile>> = LazyLock::new(|| {
    let mut files = BTreeMap::new();
    collect(&DIRECTORY, &mut files);
    files
});

struct WebFile {
    bytes: &'static [u8],
    content_type: &'static str,
    tag: String,
}

fn collect(directory: &'static Dir, files: &mut BTreeMap<String, WebFile>) {
    for file in directory.files() {
        let path = file.path().to_string_lossy().replace('\\', "/");
        let digest = Sha256::digest(file.contents());
        let tag = digest.iter().take(16).fold(String::new(), |mut tag, byte| {
            // Writing to a string does not fail.
            let _ = write!(tag, "{byte:02x}");
            tag
        });
        let content_type = content_type(&path);
        files.insert(path, WebFile { bytes: file.contents(), content_type, tag: format!("\"{tag}\"") });
    }
    directory.dirs().for_each(|inner| collect(inner, files));
}

/// What browsers want to be told of a file.
fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        _ => "text/plain; charset=utf-8",
    }
}

pub(crate) async fn index(headers: HeaderMap) -> Response {
    file("index.html", &headers)
}

pub(crate) async fn asset(uri: Uri, headers: HeaderMap) -> Response {
    file(uri.path().trim_start_matches("/web/"), &headers)
}

fn file(path: &str, headers: &HeaderMap) -> Response {
    let Some(file) = FILES.get(path) else {
        return ApiError::not_found(format!("there is no file /web/{path}")).into_response();
    };
    let known = headers.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok()).unwrap_or_default();
    let tags = [(header::ETAG, file.tag.as_str()), (header::CACHE_CONTROL, "no-cache")];
    if known.split(',').any(|tag| tag.trim().trim_start_matches("W/") == file.tag) {
        return (StatusCode::NOT_MODIFIED, tags).into_response();
    }
    (tags, [(header::CONTENT_TYPE, file.content_type)], file.bytes).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_have_types_that_are_known() {
        assert!(FILES.contains_key("index.html"));
        for path in FILES.keys() {
            assert_ne!(content_type(path), content_type("unknown"), "{path}");
        }
    }
}
