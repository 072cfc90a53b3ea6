//! One sentence's search, as a request asks for it: its limits, its prefix and its interventions.

use std::sync::Arc;

use regard_decode::{
    Controls, MAX_SOURCE_TOKENS, SearchObserver, SearchOptions, TranslateOptions, Translation, Translator,
    Wish,
};
use regard_look::{Intervention, Interventions};
use regard_model::{AttentionHook, AttentionSite};

use crate::app::{App, Served};
use crate::checks;
use crate::desk::Work;
use crate::error::{ApiError, Result};
use crate::limits::Limits;
use crate::wire::SearchFields;

/// What a request says of its sentence.
pub(crate) struct Asked<'a> {
    pub(crate) text: &'a str,
    pub(crate) prefix: Option<&'a str>,
    pub(crate) interventions: Option<&'a [String]>,
    pub(crate) search: SearchFields,
    /// Whether attention is returned where there is any.
    pub(crate) attention: bool,
}

/// A checked request, ready to be searched.
pub(crate) struct Sentence {
    translator: Arc<Translator>,
    sites: Vec<AttentionSite>,
    text: String,
    prefix: String,
    interventions: Vec<Intervention>,
    pub(crate) search: SearchOptions,
    limits: Limits,
}

impl Sentence {
    /// Checks what can be said before the model runs.
    ///
    /// # Errors
    /// 400 with the field.
    pub(crate) fn new(app: &App, served: &Served, asked: &Asked) -> Result<Self> {
        let limits = app.limits().clone();
        let prefix = asked.prefix.unwrap_or_default();
        checks::sentence("text", asked.text, &limits)?;
        checks::sentence("prefix", prefix, &limits)?;
        Ok(Self {
            translator: Arc::clone(&served.model.translator),
            sites: served.model.sites.clone(),
            text: asked.text.to_owned(),
            prefix: prefix.to_owned(),
            interventions: checks::interventions(asked.interventions.unwrap_or_default(), &limits)?,
            search: checks::search(&asked.search, asked.attention && served.model.has_attention(), &limits)?,
            limits,
        })
    }

    /// Writes with this.
    pub(crate) fn translator(&self) -> &Translator {
        &self.translator
    }

    /// Searches; may be watched.
    pub(crate) fn run(&self, work: &Work, observer: Option<&dyn SearchObserver>) -> Result<Translation> {
        let source = self.translator.tokenize(&self.text).len().min(MAX_SOURCE_TOKENS);
        checks::beam_cells(source, &self.search, &self.limits)?;
        let stop = || work.stop();
        let watched = Controls { hook: None, stop: Some(&stop), observer };
        let changes =
            Interventions::new(&self.interventions, &self.translator, &self.sites, source + 1, &watched)
                .map_err(|error| ApiError::look(&error, "interventions", true))?;
        let hook = (!self.interventions.is_empty()).then_some(&changes as &dyn AttentionHook);
        let options = TranslateOptions { search: self.search.clone(), ..TranslateOptions::default() };
        let controls = Controls { hook, ..watched };
        let wishes = [Wish { prefix: self.prefix.clone(), ..Wish::default() }];
        let found = self.translator.translate_with(&[self.text.as_str()], &wishes, &options, controls);
        let refused = if self.interventions.is_empty() { ApiError::decode } else { ApiError::changed };
        let found = found.map_err(|error| refused(&error, "prefix"))?;
        found.into_iter().next().ok_or_else(|| ApiError::internal("no translation"))
    }
}
