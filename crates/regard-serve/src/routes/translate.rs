//! `POST /api/v1/translate`.

use axum::extract::State;

use crate::app::App;
use crate::audience::Page;
use crate::body::{self, Written};
use crate::error::Result;
use crate::sentence::{Asked, Sentence};
use crate::wire::{TranslateRequest, TranslateResponse};

pub(crate) async fn translate(
    State(app): State<App>,
    page: Page,
    body::Json(request): body::Json<TranslateRequest>,
) -> Result<Written> {
    let served = app.model(&request.model)?;
    let asked = Asked {
        text: &request.text,
        prefix: request.prefix.as_deref(),
        interventions: request.interventions.as_deref(),
        search: request.search(),
        attention: true,
    };
    let sentence = Sentence::new(&app, served, &asked)?;
    let write = |found| Written::new(&TranslateResponse::from(found));
    served.desk.run(page, move |work| sentence.run(work, None), write).await
}
