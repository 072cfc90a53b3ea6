//! A scene as SVG text, one shape a line.

use super::colour::Theme;
use super::html::escape;
use super::scene::{Anchor, Rect, Scene, Shape, Stroke, Text};
use std::fmt::Write;

/// A complete `<svg>` element, good as a file and inside an HTML page, with texts in a font family, named as CSS does.
pub(crate) fn svg_in(scene: &Scene, theme: Theme, family: &str) -> String {
    let (w, h) = (number(scene.width), number(scene.height));
    let (description, family) = (escape(&scene.description), escape(family));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\" \
         aria-label=\"{description}\" font-family=\"{family}, sans-serif\">\n"
    );
    for shape in &scene.shapes {
        let line = match shape {
            Shape::Rect(it) => rect(it, theme),
            Shape::Polyline { points, stroke, tip } => {
                let (points, outline) = (path(points), outline(*stroke, theme));
                close(&format!("<polyline points=\"{points}\" fill=\"none\"{outline}"), "polyline", tip)
            }
            Shape::Polygon { points, fill, tip } => {
                let head = format!("<polygon points=\"{}\" fill=\"{}\"", path(points), theme.hex(*fill));
                close(&head, "polygon", tip)
            }
            Shape::Text(it) => text(it, theme),
        };
        out.push_str(&line);
        out.push('\n');
    }
    out.push_str("</svg>\n");
    out
}

fn rect(it: &Rect, theme: Theme) -> String {
    let (x, y, w, h) = (number(it.x), number(it.y), number(it.width), number(it.height));
    let fill = it.fill.map_or_else(|| "none".to_owned(), |fill| theme.hex(fill));
    let stroke = it.stroke.map(|stroke| outline(stroke, theme)).unwrap_or_default();
    let head = format!("<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" fill=\"{fill}\"{stroke}");
    close(&head, "rect", &it.tip)
}

fn text(it: &Text, theme: Theme) -> String {
    let (x, y) = (number(it.x), number(it.y));
    let anchor = match it.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let turn = match number(it.turn) {
        turn if turn == "0" => String::new(),
        turn => format!(" transform=\"rotate({turn} {x} {y})\""),
    };
    let (size, fill, content) = (number(it.size), theme.hex(it.colour), escape(&it.content));
    format!("<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{fill}\"{anchor}{turn}>{content}</text>")
}

fn close(head: &str, name: &str, tip: &str) -> String {
    if tip.is_empty() {
        return format!("{head}/>");
    }
    format!("{head}><title>{}</title></{name}>", escape(tip))
}

fn outline(stroke: Stroke, theme: Theme) -> String {
    let (colour, width) = (theme.hex(stroke.colour), number(stroke.width));
    let mut out = format!(" stroke=\"{colour}\" stroke-width=\"{width}\"");
    // Writing to a string cannot fail.
    if stroke.dash > 0.0 {
        let _ = write!(out, " stroke-dasharray=\"{}\"", number(stroke.dash));
    }
    if stroke.opacity < 1.0 {
        let _ = write!(out, " stroke-opacity=\"{}\"", number(stroke.opacity));
    }
    out
}

fn path(points: &[(f32, f32)]) -> String {
    let points: Vec<String> = points.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect();
    points.join(" ")
}

/// At most two decimals, none where they are zeros, and no `-0`.
fn number(value: f32) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let shown = [1.0, 0.5, -0.001, 12.346, 100.0].map(number);
        assert_eq!(shown, ["1", "0.5", "0", "12.35", "100"]);
    }

    #[test]
    fn texts_and_tips_are_escaped() {
        let mut scene = Scene::new("a \"b\" <c>");
        scene.rect(Rect { width: 2.0, height: 3.0, tip: "x & y".into(), ..Rect::default() });
        scene.text(Text::new(1.0, 2.0, 12.0, "<s>\u{1b}").turned(-90.0).anchored(Anchor::Middle));
        let svg = svg_in(&scene.sized(10.0, 20.0), Theme::Light, "'b'");
        assert!(svg.contains("font-family=\"&#39;b&#39;, sans-serif\""), "{svg}");
        assert!(svg.contains("aria-label=\"a &quot;b&quot; &lt;c&gt;\""), "{svg}");
        assert!(svg.contains("fill=\"none\"><title>x &amp; y</title></rect>"), "{svg}");
        assert!(
            svg.contains("text-anchor=\"middle\" transform=\"rotate(-90 1 2)\">&lt;s&gt;\u{fffd}</text>"),
            "{svg}"
        );
    }
}
