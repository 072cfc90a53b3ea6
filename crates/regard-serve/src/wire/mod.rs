//! What goes over the wire: requests as they are read, answers as they are written.

mod attribution;
mod audit;
mod count;
#[cfg(test)]
pub(crate) mod fields;
mod libre;
mod look;
mod search;
mod texts;
mod translation;
mod tree;

pub(crate) use attribution::AttributionRequest;
pub(crate) use audit::AuditRequest;
pub(crate) use count::Count;
pub(crate) use libre::{
    Confidence, DetectRequest, FrontendSettings, Language, LanguageChoice, LanguageName, LibreRequest,
    LibreResponse, OneOrMany,
};
pub(crate) use look::{LookRequest, PictureFormat, PictureRequest};
pub(crate) use search::{Penalty, SearchFields};
pub(crate) use texts::Texts;
pub(crate) use translation::{TranslateRequest, TranslateResponse};
pub(crate) use tree::{NodeRecord, TreeRequest, TreeResponse};
