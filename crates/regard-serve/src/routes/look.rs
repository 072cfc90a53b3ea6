//! `POST /api/v1/look`: the document of `regard look --json`.

use std::sync::Arc;

use axum::extract::State;
use regard_decode::{Controls, Translator};
use regard_look::{InspectOptions, Inspection, inspect};
use regard_model::AttentionSite;

use crate::app::{App, Served};
use crate::audience::Page;
use crate::body::{self, Written};
use crate::checks;
use crate::desk::Work;
use crate::error::{ApiError, Result};
use crate::limits::Limits;
use crate::wire::{LookRequest, SearchFields};

pub(crate) async fn look(
    State(app): State<App>,
    page: Page,
    body::Json(request): body::Json<LookRequest>,
) -> Result<Written> {
    let served = app.model(&request.model)?;
    let looking = Looking::new(&app, served, request)?;
    served.desk.run(page, move |work| looking.run(work), |inspection| Written::new(&inspection)).await
}

/// A checked request.
pub(crate) struct Looking {
    translator: Arc<Translator>,
    sites: Vec<AttentionSite>,
    text: String,
    options: InspectOptions,
    limits: Limits,
}

impl Looking {
    /// Checks what can be said before the model runs.
    ///
    /// # Errors
    /// 400 with the field.
    pub(crate) fn new(app: &App, served: &Served, request: LookRequest) -> Result<Self> {
        let limits = app.limits().clone();
        checks::sentence("text", &request.text, &limits)?;
        if let Some(target) = &request.target {
            checks::sentence("target", target, &limits)?;
        }
        let fields =
            SearchFields { beam_size: request.beam_size, n_best: Some(1), ..SearchFields::default() };
        let options = InspectOptions {
            target: request.target,
            search: checks::search(&fields, false, &limits)?,
            base: Vec::new(),
            interventions: checks::interventions(&request.interventions.unwrap_or_default(), &limits)?,
        };
        let (translator, sites) = (Arc::clone(&served.model.translator), served.model.sites.clone());
        Ok(Self { translator, sites, text: request.text, options, limits })
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn run(&self, work: &Work) -> Result<Inspection> {
        checks::look_cells(&self.translator, &self.sites, &self.text, &self.options, &self.limits)?;
        let stop = || work.stop();
        let controls = Controls { stop: Some(&stop), ..Controls::default() };
        inspect(&self.translator, &self.text, &self.options, &controls)
            .map_err(|error| ApiError::look(&error, "text", !self.options.interventions.is_empty()))
    }
}
