//! Who asks.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

/// The header by which a page names itself, so that all its connections share one turn.
pub(crate) const PAGE_HEADER: &str = "x-regard-page";

/// A page, or an address whose connections do not say whose they are: those who take turns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Page {
    /// None for what this process asks itself.
    address: Option<IpAddr>,
    name: Box<str>,
}

/// The other end of a connection; the server puts it into each request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

impl Page {
    pub(crate) fn new(address: Option<IpAddr>, name: &str) -> Self {
        Self { address, name: name.into() }
    }

    /// Where it is, if it is not in this process.
    pub(crate) fn address(&self) -> Option<IpAddr> {
        self.address
    }
}

impl<S: Sync> FromRequestParts<S> for Page {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        let named = parts.headers.get(PAGE_HEADER).and_then(|name| name.to_str().ok());
        // What is longer is no name that our page makes; it must not be kept in memory.
        let name = named.filter(|name| name.len() <= 64).unwrap_or_default();
        let peer = parts.extensions.get::<Peer>();
        Ok(Self::new(peer.map(|Peer(socket)| socket.ip().to_canonical()), name))
    }
}
