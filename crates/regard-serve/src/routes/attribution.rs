//! `POST /api/v1/attribution`: what each word of a translation is owed to, as a job: one of its steps may be long.

use axum::Json;
use axum::extract::State;
use regard_decode::Controls;
use regard_look::{Attribution, InspectOptions, Method, Subject, attribute, inspect};
use regard_model::checkpoint;
use regard_tensor::Threads;
use regard_text::is_blank;
use serde::Serialize;
use serde_json::Value;

use super::audit::Begun;
use crate::app::App;
use crate::audience::Page;
use crate::body;
use crate::checks;
use crate::error::{ApiError, Result};
use crate::jobs::Progress;
use crate::model::{Model, ModelKind};
use crate::wire::{AttributionRequest, SearchFields};

/// The result of the job.
#[derive(Serialize)]
struct Attributed {
    source_tokens: Vec<String>,
    target_tokens: Vec<String>,
    text: String,
    #[serde(flatten)]
    attribution: Attribution,
}

/// A checked request.
struct Wish {
    model: Model,
    text: String,
    options: InspectOptions,
    method: Method,
    /// Tokens that may be read in all, a copy of the source and the words before it for each word of the translation.
    most: usize,
}

pub(crate) async fn begin(
    State(app): State<App>,
    page: Page,
    body::Json(request): body::Json<AttributionRequest>,
) -> Result<Json<Begun>> {
    let AttributionRequest { model: name, text, target, method } = request;
    let served = app.model(&name)?;
    let limits = app.limits();
    checks::sentence("text", &text, limits)?;
    if is_blank(&text) {
        return Err(ApiError::field("text", "it is blank: there is nothing to attribute to"));
    }
    if let Some(target) = &target {
        checks::sentence("target", target, limits)?;
        let source = served.model.translator.tokenize(&text).len() + 1;
        let target = served.model.translator.target().tokenize(target).len() + 1;
        within(source, target, limits.attributed_tokens)
            .map_err(|reason| ApiError::field("target", reason))?;
    }
    let names = || Method::ALL.map(Method::name).join(", ");
    let method = Method::named(&method)
        .ok_or_else(|| ApiError::field("method", format!("there is no `{method}`; there are {}", names())))?;
    if let Some(reason) = unfit(method, &served.model) {
        return Err(ApiError::field("method", reason));
    }
    let search = checks::search(&SearchFields { n_best: Some(1), ..SearchFields::default() }, false, limits)?;
    let options = InspectOptions { target, search, ..InspectOptions::default() };
    checks::look_cells(&served.model.translator, &served.model.sites, &text, &options, limits)?;
    let wish = Wish { model: served.model.clone(), text, options, method, most: limits.attributed_tokens };
    let job = app.jobs().start(&app, &name, Some(page), move |progress| wish.run(progress))?;
    Ok(Json(Begun { job }))
}

/// Says where a method is not made for a model.
fn unfit(method: Method, model: &Model) -> Option<&'static str> {
    match method {
        Method::Alti | Method::Rollout if model.kind != ModelKind::Transformer => {
            Some("it is made for Transformers")
        }
        Method::Norm | Method::ValueZeroing if !model.has_attention() => {
            Some("this model has nothing to look at")
        }
        _ => None,
    }
}

/// Says where an attribution would read more than so many tokens: for each target token a copy of both sides.
fn within(source: usize, target: usize, most: usize) -> std::result::Result<(), String> {
    let tokens = target * (source + target);
    if tokens <= most {
        return Ok(());
    }
    Err(format!("{target} target tokens by {source} source tokens are {tokens} to read; the most is {most}"))
}

impl Wish {
    /// Reads the network once more, as it is trained: gradients go through it.
    fn run(&self, progress: &Progress) -> std::result::Result<Value, String> {
        progress.report(0, 1);
        let stop = || progress.stop();
        let controls = Controls { stop: Some(&stop), ..Controls::default() };
        let seen = inspect(&self.model.translator, &self.text, &self.options, &controls)
            .map_err(|error| format!("text: {error}"))?;
        let (source, target) = (&seen.source_ids, &seen.target_ids);
        within(source.len(), target.len(), self.most).map_err(|reason| format!("text: {reason}"))?;
        let (info, network) = checkpoint::load(&self.model.directory).map_err(|error| error.to_string())?;
        let threads = Threads::single();
        let subject = Subject {
            model: network.as_ref(),
            config: &info.config,
            threads: &threads,
            source,
            target,
            layer: None,
            stop: Some(&stop),
        };
        let attribution = attribute(&subject, self.method).map_err(|error| format!("method: {error}"))?;
        progress.report(1, 1);
        let (source_tokens, target_tokens, text) = (seen.source_tokens, seen.target_tokens, seen.text);
        serde_json::to_value(Attributed { source_tokens, target_tokens, text, attribution })
            .map_err(|error| error.to_string())
    }
}
