//! `LibreTranslate`'s routes, for its clients. A text may have several lines; each is a sentence to the model.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use regard_decode::{Controls, SearchOptions, TranslateOptions, Translation, Translator};
use regard_text::special_tokens::UNK;

use crate::app::{App, Served};
use crate::audience::Page;
use crate::body::{self, JsonOrForm};
use crate::checks;
use crate::desk::Work;
use crate::error::{ApiError, Result};
use crate::form;
use crate::names;
use crate::wire::{
    Confidence, DetectRequest, FrontendSettings, Language, LanguageChoice, LanguageName, LibreRequest,
    LibreResponse, OneOrMany, SearchFields, Texts,
};

/// A source language that can be translated from, and the vocabulary that knows it.
type Reader = (String, Arc<Translator>);

/// `POST /translate`.
pub(crate) async fn translate(
    State(app): State<App>,
    page: Page,
    body: JsonOrForm,
) -> Result<Json<LibreResponse>> {
    let request = match body {
        JsonOrForm::Json(text) => body::parse(&text)?,
        JsonOrForm::Form(text) => LibreRequest::from_form(form::fields(&text)?)?,
    };
    let missing = |name: &str| ApiError::bad(format!("Invalid request: missing {name} parameter"));
    let texts = checked(&app, request.q)?;
    let source = request.source.ok_or_else(|| missing("source"))?;
    let target = request.target.ok_or_else(|| missing("target"))?;
    match request.format.as_deref() {
        None | Some("text") => {}
        Some(format) => {
            return Err(ApiError::field(
                "format",
                format_args!("{format} format is not supported; send text"),
            ));
        }
    }
    let alternatives = request.alternatives.map_or(0, |count| count.0);
    let most = app.limits().beam_size - 1;
    if alternatives > most {
        let reason = format!("Invalid request: alternatives parameter must be <= {most}");
        return Err(ApiError::bad(reason));
    }
    let detected = match source.as_str() {
        "auto" => Some(detect_each(&app, page.clone(), texts.as_slice().to_vec()).await?),
        _ => None,
    };
    let mut found = Vec::new();
    let text_languages = texts.as_slice().iter().enumerate().map(|(index, text)| {
        let detected = detected.as_ref().and_then(|all| all.get(index)).and_then(|list| list.first());
        (text, detected.map_or(source.as_str(), |best| best.language.as_str()))
    });
    for (language, texts) in runs(text_languages) {
        let served = pair(&app, language, &target)?;
        found.extend(translate_texts(&app, served, page.clone(), texts, alternatives).await?);
    }
    Ok(Json(response(&texts, detected, found, alternatives)))
}

/// `POST /detect`.
pub(crate) async fn detect(
    State(app): State<App>,
    page: Page,
    body: JsonOrForm,
) -> Result<Json<Vec<Confidence>>> {
    let request = match body {
        JsonOrForm::Json(text) => body::parse(&text)?,
        JsonOrForm::Form(text) => DetectRequest::from_form(&mut form::fields(&text)?),
    };
    let texts = checked(&app, request.q)?;
    let whole = texts.as_slice().join("\n");
    Ok(Json(detect_each(&app, page, vec![whole]).await?.into_iter().flatten().collect()))
}

/// `GET /languages`.
pub(crate) async fn languages(State(app): State<App>) -> Json<Vec<Language>> {
    let mut languages: Vec<Language> = Vec::new();
    for (source, target) in pairs(&app) {
        let place = languages.iter().position(|language| language.code == source).unwrap_or_else(|| {
            let language = Language { code: source.clone(), name: names::name(&source), targets: Vec::new() };
            languages.push(language);
            languages.len() - 1
        });
        if !languages[place].targets.contains(&target) {
            languages[place].targets.push(target);
        }
    }
    Json(languages)
}

/// `GET /frontend/settings`.
pub(crate) async fn settings(State(app): State<App>) -> Json<FrontendSettings> {
    let first = pairs(&app).next().unwrap_or_default();
    let language = |code: String| LanguageName { name: names::name(&code), code };
    Json(FrontendSettings {
        char_limit: app.limits().characters,
        frontend_timeout: 500,
        api_keys: false,
        key_required: false,
        suggestions: false,
        files_translation: false,
        supported_files_format: [],
        language: LanguageChoice { source: language(first.0), target: language(first.1) },
    })
}

/// The texts of a request, within the limits.
fn checked(app: &App, q: Option<Texts>) -> Result<Texts> {
    let texts = q.ok_or_else(|| ApiError::bad("Invalid request: missing q parameter"))?;
    let (count, most) = (texts.as_slice().len(), app.limits().texts);
    if count > most {
        let reason = format!("q: Invalid request: request ({count}) exceeds text limit ({most})");
        return Err(ApiError::bad(reason));
    }
    checks::characters("q", texts.as_slice().iter().map(String::as_str), app.limits())?;
    Ok(texts)
}

/// The languages of all models that say both of theirs.
fn pairs(app: &App) -> impl Iterator<Item = (String, String)> {
    let pairs =
        app.0.models.iter().map(|Served { model, .. }| (&model.source_language, &model.target_language));
    pairs
        .filter(|(source, target)| !source.is_empty() && !target.is_empty())
        .map(|(s, t)| (s.clone(), t.clone()))
}

/// The first model that translates from one language to another.
fn pair<'a>(app: &'a App, source: &str, target: &str) -> Result<&'a Served> {
    let translates =
        |served: &&Served| served.model.source_language == source && served.model.target_language == target;
    if let Some(served) = app.0.models.iter().find(translates) {
        return Ok(served);
    }
    if !pairs(app).any(|pair| pair.0 == source) {
        return Err(ApiError::field("source", format_args!("{source} is not supported")));
    }
    if !pairs(app).any(|pair| pair.1 == target) {
        return Err(ApiError::field("target", format_args!("{target} is not supported")));
    }
    let (from, to) = (names::name(source), names::name(target));
    Err(ApiError::bad(format!(
        "target: {to} ({target}) is not available as a target language from {from} ({source})"
    )))
}

/// Neighbouring texts of the same language.
fn runs<'a>(texts: impl Iterator<Item = (&'a String, &'a str)>) -> Vec<(&'a str, Vec<String>)> {
    let mut runs: Vec<(&str, Vec<String>)> = Vec::new();
    for (text, language) in texts {
        match runs.last_mut() {
            Some((last, texts)) if *last == language => texts.push(text.clone()),
            _ => runs.push((language, vec![text.clone()])),
        }
    }
    runs
}

/// The best translation of each text, and the others.
async fn translate_texts(
    app: &App,
    served: &Served,
    page: Page,
    texts: Vec<String>,
    alternatives: usize,
) -> Result<Vec<Vec<String>>> {
    let limits = app.limits().clone();
    let (n_best, beam) = (alternatives + 1, SearchOptions::default().beam_size);
    let fields =
        SearchFields { beam_size: Some(beam.max(n_best)), n_best: Some(n_best), ..SearchFields::default() };
    let search = checks::search(&fields, false, &limits)?;
    let translator = Arc::clone(&served.model.translator);
    let translate = move |work: &Work| {
        let options = TranslateOptions { search, ..TranslateOptions::default() };
        let lines: Vec<&str> = texts.iter().flat_map(|text| text.split('\n')).collect();
        let stop = || work.stop();
        let controls = Controls { stop: Some(&stop), ..Controls::default() };
        let found = translator.translate_with(&lines, &[], &options, controls);
        let mut found = found.map_err(|error| ApiError::decode(&error, "q"))?.into_iter();
        let of_text =
            |text: &String| joined(&found.by_ref().take(text.split('\n').count()).collect::<Vec<_>>());
        Ok(texts.iter().map(of_text).collect())
    };
    served.desk.run(page, translate, Ok).await
}

/// The translations of a text's lines as translations of the text, all different: the best first. Of a line that has
/// fewer, the best one stands in all others.
fn joined(lines: &[Translation]) -> Vec<String> {
    let most = lines.iter().map(|line| line.candidates.len()).max().unwrap_or_default();
    let mut texts: Vec<String> = Vec::new();
    for rank in 0..most {
        let line = |line: &Translation| {
            line.candidates
                .get(rank)
                .map_or_else(|| line.text().to_owned(), |candidate| candidate.text.clone())
        };
        let text = lines.iter().map(line).collect::<Vec<_>>().join("\n");
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

fn response(
    texts: &Texts,
    detected: Option<Vec<Vec<Confidence>>>,
    found: Vec<Vec<String>>,
    alternatives: usize,
) -> LibreResponse {
    let (mut best, mut others) = (Vec::new(), Vec::new());
    for mut list in found {
        others.push(list.split_off(1.min(list.len())));
        best.push(list.pop().unwrap_or_default());
    }
    let first = |mut list: Vec<Confidence>| if list.is_empty() { None } else { Some(list.swap_remove(0)) };
    LibreResponse {
        translated_text: shaped(texts, best),
        detected_language: detected.map(|lists| shaped(texts, lists.into_iter().filter_map(first).collect())),
        alternatives: (alternatives > 0).then(|| shaped(texts, others)),
    }
}

/// One where one was asked for.
fn shaped<T>(texts: &Texts, mut list: Vec<T>) -> OneOrMany<T> {
    match texts {
        Texts::One(_) if list.len() == 1 => OneOrMany::One(list.remove(0)),
        _ => OneOrMany::Many(list),
    }
}

/// The languages that each text may be in, of those that the models translate from, the likeliest first.
async fn detect_each(app: &App, page: Page, texts: Vec<String>) -> Result<Vec<Vec<Confidence>>> {
    let mut readers: BTreeMap<String, Reader> = BTreeMap::new();
    for Served { model, .. } in &app.0.models {
        if !model.source_language.is_empty() && !model.target_language.is_empty() {
            let reader = || (model.source_language.clone(), Arc::clone(&model.translator));
            readers.entry(model.source_language.clone()).or_insert_with(reader);
        }
    }
    let first = app.0.models.first().filter(|_| !readers.is_empty());
    let served = first.ok_or_else(|| {
        ApiError::bad(
            "source: no model says which languages it translates; use /api/v1/translate with its name",
        )
    })?;
    let detect = move |_: &Work| {
        let of_text = |text: &String| {
            let confidence = |(language, translator): &Reader| Confidence {
                confidence: 100.0 * known_share(translator, text),
                language: language.clone(),
            };
            let mut list: Vec<Confidence> = readers.values().map(confidence).collect();
            list.sort_by(|one, other| other.confidence.total_cmp(&one.confidence));
            list
        };
        Ok(texts.iter().map(of_text).collect())
    };
    served.desk.run(page, detect, Ok).await
}

/// The share of the words that a model's source side knows whole, as one token.
fn known_share(translator: &Translator, text: &str) -> f64 {
    let (mut words, mut known) = (0_usize, 0_usize);
    for line in text.split('\n') {
        let tokens = translator.source().tokenize_with_ranges(line);
        let ids =
            translator.source().ids(&tokens.iter().map(|token| token.text.as_str()).collect::<Vec<_>>());
        let mut of_word: BTreeMap<usize, (usize, bool)> = BTreeMap::new();
        for (token, id) in tokens.iter().zip(ids) {
            if let Some(word) = token.word {
                let entry = of_word.entry(word).or_insert((0, true));
                *entry = (entry.0 + 1, entry.1 && id != UNK);
            }
        }
        words += of_word.len();
        known += of_word.values().filter(|&&(tokens, known)| tokens == 1 && known).count();
    }
    if words == 0 { 0.0 } else { known as f64 / words as f64 }
}
