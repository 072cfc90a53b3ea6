//! Who may ask: pages of other sites may not, even where a browser on this machine asks for them.

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::error::{ApiError, Result};

/// Refuses requests whose `Host` is not this server's (a name that was rebound to this machine), and those that a page of
/// another origin sends.
pub(crate) async fn check(State(app): State<App>, request: Request, next: Next) -> Response {
    match check_headers(request.headers(), &app.0.hosts) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

fn check_headers(headers: &HeaderMap, own: &[String]) -> Result<()> {
    let refuse = |name: &str, value: &str| {
        let reason = format!(
            "the {name} `{value}` is not this server's: call it localhost, 127.0.0.1, [::1] or {}; `regard serve \
             --allow-host NAME` allows another",
            own.join(", ")
        );
        Err(ApiError::new(StatusCode::FORBIDDEN, "forbidden", reason))
    };
    let value = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let host = value(header::HOST).unwrap_or_default();
    if headers.get_all(header::HOST).iter().count() != 1 || !is_own(host, own) {
        return refuse("Host", host);
    }
    match value(header::ORIGIN) {
        Some(origin) if !origin.strip_prefix("http://").is_some_and(|host| is_own(host, own)) => {
            refuse("Origin", origin)
        }
        _ => Ok(()),
    }
}

/// Whether an authority, whatever its port, names this machine or one of the hosts that the server was given.
fn is_own(authority: &str, own: &[String]) -> bool {
    let Ok(authority) = authority.parse::<Authority>() else { return false };
    if authority.as_str().contains('@') {
        return false;
    }
    let host = authority.host();
    let bare = |host: &str| host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|known| host.eq_ignore_ascii_case(known))
        || own.iter().any(|own| bare(own) == bare(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(hosts: &[&str]) -> Vec<String> {
        hosts.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn only_this_machine_and_the_host_that_was_given() {
        for host in
            ["localhost", "LOCALHOST:5000", "127.0.0.1:1", "[::1]:5000", "[::1]", "box.lan", "Box.Lan:80"]
        {
            assert!(is_own(host, &own(&["192.0.2.3", "box.lan"])), "{host}");
        }
        assert!(is_own("[fe80::1]:5000", &own(&["fe80::1"])));
        for host in
            ["", "evil.example", "localhost.evil.example", "127.0.0.2", "a@localhost", "local host", "::1"]
        {
            assert!(!is_own(host, &own(&["127.0.0.1"])), "{host}");
        }
    }

    #[test]
    fn host_and_origin() {
        let check = |fields: &[(&'static str, &str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in fields {
                headers.append(*name, value.parse().unwrap());
            }
            check_headers(&headers, &own(&["127.0.0.1"])).is_ok()
        };
        assert!(check(&[("host", "localhost:5000")]));
        assert!(check(&[("host", "localhost:5000"), ("origin", "http://localhost:5000")]));
        assert!(!check(&[]));
        assert!(!check(&[("host", "localhost"), ("host", "localhost")]));
        assert!(!check(&[("host", "evil.example")]));
        assert!(!check(&[("host", "localhost"), ("origin", "http://evil.example")]));
        assert!(!check(&[("host", "localhost"), ("origin", "null")]));
    }
}
