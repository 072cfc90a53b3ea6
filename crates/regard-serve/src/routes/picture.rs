//! `POST /api/v1/picture`: a look as the file that `regard look` makes of it.

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use regard_look::{
    Block, Heatmap, HeatmapOptions, Inspection, Report, Section, Site, heatmap_png, heatmap_svg,
};
use regard_model::SiteKind;

use super::look::Looking;
use crate::app::App;
use crate::audience::Page;
use crate::body;
use crate::desk::Work;
use crate::error::{ApiError, Result};
use crate::wire::{PictureFormat, PictureRequest};

pub(crate) async fn picture(
    State(app): State<App>,
    page: Page,
    body::Json(request): body::Json<PictureRequest>,
) -> Result<impl IntoResponse> {
    let served = app.model(&request.model)?;
    if !served.model.has_attention() {
        let reason = "it hands the source over as one vector: there is no attention to draw";
        return Err(ApiError::field("model", reason));
    }
    let looking = Looking::new(&app, served, request.look())?;
    let format = request.format;
    let most = app.limits().png_cells;
    let look = move |work: &Work| {
        let seen = looking.run(work)?;
        let heatmap = heatmap(&seen, &site(&seen, &request)?)?;
        let cells = heatmap.source_tokens().len() * heatmap.target_tokens().len();
        if format == PictureFormat::Png && cells > most {
            let reason =
                format!("a png of {cells} cells; the most is {most}: ask for svg, or shorten the text");
            return Err(ApiError::field("format", reason));
        }
        Ok((heatmap, seen.text, looking))
    };
    let write = move |(heatmap, title, looking): (Heatmap, String, Looking)| {
        draw(&heatmap, format, &title, looking.text())
    };
    let file = served.desk.run(page, look, write);
    let (kind, name) = match format {
        PictureFormat::Svg => ("image/svg+xml", "look.svg"),
        PictureFormat::Png => ("image/png", "look.png"),
        PictureFormat::Html => ("text/html; charset=utf-8", "look.html"),
        PictureFormat::Csv => ("text/csv; charset=utf-8", "look.csv"),
    };
    let disposition = format!("attachment; filename=\"{name}\"");
    Ok(([(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, disposition)], file.await?))
}

/// The attention that is drawn: of the decoder's looks at the source the last layer's, the mean of its heads, where nothing
/// else is said.
fn site(seen: &Inspection, request: &PictureRequest) -> Result<Site> {
    let PictureRequest { site, layer, head, .. } = request;
    let kind = site.unwrap_or(SiteKind::Cross);
    let found = if kind == SiteKind::Cross {
        seen.look(*layer, *head)
    } else {
        let (layer, head) = (layer.unwrap_or(0), head.unwrap_or(0));
        let is_it = |site: &&Site| (site.site, site.layer, site.head) == (kind, layer, Some(head));
        seen.sites.iter().find(is_it).cloned()
    };
    found.ok_or_else(|| ApiError::bad("site, layer, head: this model has no such attention"))
}

fn heatmap(seen: &Inspection, site: &Site) -> Result<Heatmap> {
    let (source, target) = (seen.source_labels(), seen.target_labels());
    let (columns, rows) = match site.site {
        SiteKind::Cross => (source, target),
        SiteKind::EncoderSelf => (source.clone(), source),
        SiteKind::DecoderSelf => (target.clone(), target),
    };
    Heatmap::new(columns, rows, site.weights.clone()).map_err(|error| ApiError::internal(error.to_string()))
}

fn draw(heatmap: &Heatmap, format: PictureFormat, title: &str, caption: &str) -> Result<Vec<u8>> {
    let options = HeatmapOptions { title: Some(title.to_owned()), ..HeatmapOptions::default() };
    Ok(match format {
        PictureFormat::Svg => heatmap_svg(heatmap, &options).into_bytes(),
        PictureFormat::Png => {
            heatmap_png(heatmap, &options).map_err(|error| ApiError::field("text", error))?
        }
        PictureFormat::Html => {
            let picture = Block::Heatmap { heatmap: heatmap.clone(), options, caption: caption.to_owned() };
            let section = Section { title: "Where the model looked".to_owned(), blocks: vec![picture] };
            Report { title: title.to_owned(), sections: vec![section] }.html().into_bytes()
        }
        PictureFormat::Csv => csv(heatmap).into_bytes(),
    })
}

/// A line of column names, then a line a row: its name and its weights (RFC 4180).
fn csv(heatmap: &Heatmap) -> String {
    let quoted = |text: &String| format!("\"{}\"", text.replace('"', "\"\""));
    let line = |first: String, rest: Vec<String>| [vec![first], rest].concat().join(",") + "\r\n";
    let mut text = line("\"\"".to_owned(), heatmap.source_tokens().iter().map(quoted).collect());
    for (token, row) in heatmap.target_tokens().iter().zip(heatmap.weights()) {
        text.push_str(&line(quoted(token), row.iter().map(ToString::to_string).collect()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_is_quoted() {
        let words = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        let heatmap = Heatmap::new(words(&["a", "b,\"c\""]), words(&["x"]), vec![vec![0.25, 0.75]]).unwrap();
        assert_eq!(csv(&heatmap), "\"\",\"a\",\"b,\"\"c\"\"\"\r\n\"x\",0.25,0.75\r\n");
    }
}
