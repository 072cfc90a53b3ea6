//! What all requests share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::desk::Desk;
use crate::error::{ApiError, Result};
use crate::jobs::Jobs;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::model::Model;

/// The models with what serving them needs; clones share it.
#[derive(Clone)]
pub struct App(pub(crate) Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) models: Vec<Served>,
    pub(crate) limits: Limits,
    pub(crate) hosts: Vec<String>,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) metrics: Metrics,
    stopping: Arc<AtomicBool>,
}

/// A model and where its work is done.
pub(crate) struct Served {
    pub(crate) model: Model,
    pub(crate) desk: Desk,
}

impl App {
    /// Models to be served under these hosts, such as the one that the server listens on: requests must name one of them or
    /// this machine.
    ///
    /// # Errors
    /// Where the system grants no threads.
    pub fn new(models: Vec<Model>, hosts: Vec<String>, limits: Limits) -> std::io::Result<Self> {
        let stopping = Arc::new(AtomicBool::new(false));
        let serve = |model: Model| Ok(Served { model, desk: Desk::open(&limits, &stopping)? });
        let models = models.into_iter().map(serve).collect::<std::io::Result<_>>()?;
        let (jobs, metrics) = (Arc::default(), Metrics::default());
        Ok(Self(Arc::new(Shared { models, limits, hosts, jobs, metrics, stopping })))
    }

    /// The jobs.
    #[must_use]
    pub fn jobs(&self) -> &Arc<Jobs> {
        &self.0.jobs
    }

    /// Ends all computations: what still waits is told that the server stops.
    pub fn stop(&self) {
        self.0.stopping.store(true, Relaxed);
    }

    /// How much one request may ask for.
    pub(crate) fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// The model that a request names.
    ///
    /// # Errors
    /// 404 with the names that there are.
    pub(crate) fn model(&self, name: &str) -> Result<&Served> {
        self.0.models.iter().find(|served| served.model.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.0.models.iter().map(|served| served.model.name.as_str()).collect();
            ApiError::not_found(format!("model: there is no `{name}`; there are {}", names.join(", ")))
        })
    }
}
