//! Trained models over HTTP: a JSON API, `LibreTranslate`'s routes, and the web page.
//!
//! ```text
//! request ─ guard (who may ask) ─ body (JSON or form → wire types) ─ limits (before anything is allocated)
//!         ─ Desk (a queue with fair turns; one for each model) ─ Translator ─ answer
//! ```
//!
//! Handlers only wait. Each model has a few seats, threads that each work on one request, and of them one at a time
//! computes: before every step of a search it passes the turn on. So a short request waits for a step of a long one and not
//! for its end; a request ends early when its client goes away, when its time is over and when the server stops.
//!
//! Nothing a client sends ends the server or allocates without a limit; a bad request is answered with 4xx and
//! `{"error", "code"}`, which names the field.

mod app;
mod audience;
mod body;
mod checks;
mod desk;
mod error;
mod form;
mod guard;
mod jobs;
mod limits;
mod metrics;
mod model;
mod names;
mod queue;
mod router;
mod routes;
mod sentence;
mod server;
mod turns;
mod wire;

pub use app::App;
pub use jobs::{JobStatus, Jobs, Progress};
pub use limits::Limits;
pub use model::{LoadError, Model, ModelKind, unique_names};
pub use server::{ServeError, serve, serve_until};
