//! The shapes of `LibreTranslate`. Its clients send fields that are nobody's business here: those are passed over.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Count, Texts};
use crate::error::{ApiError, Result};

/// `POST /translate`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct LibreRequest {
    pub(crate) q: Option<Texts>,
    pub(crate) source: Option<String>,
    pub(crate) target: Option<String>,
    pub(crate) format: Option<String>,
    pub(crate) alternatives: Option<Count>,
}

/// `POST /detect`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct DetectRequest {
    pub(crate) q: Option<Texts>,
}

/// What is one where `q` is a text, and a list where it is a list.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LibreResponse {
    pub(crate) translated_text: OneOrMany<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detected_language: Option<OneOrMany<Confidence>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) alternatives: Option<OneOrMany<Vec<String>>>,
}

/// A language that a text may be in, from 0 to 100.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Confidence {
    pub(crate) confidence: f64,
    pub(crate) language: String,
}

/// An entry of `GET /languages`.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Language {
    pub(crate) code: String,
    pub(crate) name: String,
    pub(crate) targets: Vec<String>,
}

/// `GET /frontend/settings`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_excessive_bools, reason = "the shape is LibreTranslate's")]
pub(crate) struct FrontendSettings {
    pub(crate) char_limit: usize,
    pub(crate) frontend_timeout: u64,
    pub(crate) api_keys: bool,
    pub(crate) key_required: bool,
    pub(crate) suggestions: bool,
    pub(crate) files_translation: bool,
    pub(crate) supported_files_format: [String; 0],
    pub(crate) language: LanguageChoice,
}

/// What a page offers first.
#[derive(Debug, Serialize)]
pub(crate) struct LanguageChoice {
    pub(crate) source: LanguageName,
    pub(crate) target: LanguageName,
}

#[derive(Debug, Serialize)]
pub(crate) struct LanguageName {
    pub(crate) code: String,
    pub(crate) name: String,
}

impl LibreRequest {
    /// The same from a form, whose line ends are CR LF.
    ///
    /// # Errors
    /// 400 for a number that is none.
    pub(crate) fn from_form(mut fields: BTreeMap<String, String>) -> Result<Self> {
        let alternatives = fields.remove("alternatives").map(|text| {
            let number = text.trim().parse().map(Count);
            number.map_err(|_| ApiError::bad("Invalid request: alternatives parameter is not a number"))
        });
        Ok(Self {
            q: DetectRequest::from_form(&mut fields).q,
            source: fields.remove("source"),
            target: fields.remove("target"),
            format: fields.remove("format"),
            alternatives: alternatives.transpose()?,
        })
    }
}

impl DetectRequest {
    pub(crate) fn from_form(fields: &mut BTreeMap<String, String>) -> Self {
        Self { q: fields.remove("q").map(|text| Texts::One(text.replace("\r\n", "\n"))) }
    }
}
