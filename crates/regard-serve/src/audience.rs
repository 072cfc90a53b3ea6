//! Who asks.

use std::convert::Infallible;
use std::net::SocketAddr;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

/// The header by which a page names itself, so that all its connections share one turn.
pub(crate) const PAGE_HEADER: &str = "x-regard-page";

/// A page, or a connection that does not say whose it is: those who take turns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Page(Box<str>);

/// The other end of a connection; the server puts it into each request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

impl Page {
    pub(crate) fn named(name: &str) -> Self {
        Self(name.into())
    }
}

impl<S: Sync> FromRequestParts<S> for Page {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        let named = parts.headers.get(PAGE_HEADER).and_then(|name| name.to_str().ok());
        // What is longer is no name that our page makes; it must not be kept in memory.
        if let Some(name) = named.filter(|name| name.len() <= 64) {
            return Ok(Self::named(&format!("page {name}")));
        }
        let peer = parts.extensions.get::<Peer>();
        Ok(peer.map_or_else(|| Self::named("local"), |Peer(address)| Self::named(&address.to_string())))
    }
}
