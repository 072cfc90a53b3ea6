//! A report as one HTML file that needs nothing beside it: no script, no link, no font, no network.

use super::colour::{Paint, Theme};
use crate::label::visible_char;
use crate::report::{Block, Report, Section, Table};
use std::fmt::Write;

/// INK, PAPER, FAINT and GRID stand for the theme's colours.
const STYLE: &str = "\
body{max-width:60rem;margin:2rem auto;padding:0 1rem;font:16px/1.5 \"DejaVu Sans\",system-ui,sans-serif;\
color:INK;background:PAPER}\
h1{font-size:1.6rem;line-height:1.2}h2{font-size:1.2rem;margin-top:2rem}\
.wide{overflow-x:auto}figure{margin:1rem 0}figcaption,caption{color:FAINT;font-size:.875rem;text-align:left}\
table{border-collapse:collapse;font-size:.9375rem;margin:1rem 0}caption{caption-side:bottom;padding-top:.375rem}\
th,td{padding:.25rem .75rem;border-bottom:1px solid GRID;text-align:right;font-variant-numeric:tabular-nums}\
th:first-child,td:first-child{text-align:left}thead th{border-bottom:2px solid INK}";

fn style(theme: Theme) -> String {
    let names =
        [("INK", Paint::Ink), ("PAPER", Paint::Paper), ("FAINT", Paint::FaintInk), ("GRID", Paint::Grid)];
    names.iter().fold(STYLE.to_owned(), |style, (name, paint)| style.replace(name, &theme.hex(*paint)))
}

/// `text` for XML and HTML, in content and in quoted attributes; control characters but tab and line feed are shown.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' => out.push(c),
            c => out.push(visible_char(c)),
        }
    }
    out
}

/// The whole page.
pub(crate) fn page(report: &Report, theme: Theme) -> String {
    let (title, style) = (escape(&report.title), style(theme));
    let sections: String = report.sections.iter().map(|it| section(it, theme)).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>{style}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{sections}</body>\n</html>\n"
    )
}

fn section(section: &Section, theme: Theme) -> String {
    let blocks: String = section.blocks.iter().map(|it| block(it, theme)).collect();
    format!("<section>\n<h2>{}</h2>\n{blocks}</section>\n", escape(&section.title))
}

fn block(block: &Block, theme: Theme) -> String {
    match block {
        Block::Paragraph(text) => format!("<p>{}</p>\n", escape(text)),
        Block::Table(it) => table(it),
        Block::Heatmap { heatmap, options, caption } => figure(&heatmap.picture(options).svg(theme), caption),
        Block::Chart { chart, caption } => figure(&chart.picture().svg(theme), caption),
        Block::Picture { picture, caption } => figure(&picture.svg(theme), caption),
    }
}

fn figure(svg: &str, caption: &str) -> String {
    let caption = escape(caption);
    format!("<figure>\n<div class=\"wide\">\n{svg}</div>\n<figcaption>{caption}</figcaption>\n</figure>\n")
}

fn table(table: &Table) -> String {
    let cells = |cells: &[String], open: &str, close: &str| {
        cells.iter().map(|cell| [open, &escape(cell), close].concat()).collect::<String>()
    };
    let mut out = String::from("<div class=\"wide\">\n<table>\n");
    // Writing to a string cannot fail.
    let _ = writeln!(out, "<caption>{}</caption>", escape(&table.caption));
    let _ = writeln!(out, "<thead><tr>{}</tr></thead>", cells(&table.header, "<th scope=\"col\">", "</th>"));
    out.push_str("<tbody>\n");
    for row in &table.rows {
        let _ = writeln!(out, "<tr>{}</tr>", cells(row, "<td>", "</td>"));
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
    out
}
