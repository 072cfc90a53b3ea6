//! What every picture must hold, whatever the data.

#![allow(clippy::unwrap_used)] // helpers of tests

mod common;

use common::{awkward, crossing, terminal, titled, words};
use proptest::prelude::*;
use regard_look::{
    Block, Chart, Colour, Font, Heatmap, HeatmapOptions, Links, Report, Section, Series, ShadedWords, Table,
    TerminalOptions, Theme, heatmap_png, heatmap_svg, heatmap_terminal,
};
use resvg::tiny_skia::Pixmap;
use resvg::usvg::roxmltree::Document;
use unicode_width::UnicodeWidthStr;

fn diagonal(rows: usize, columns: usize) -> Heatmap {
    let row = |row: usize| (0..columns).map(|c| if c == row % columns { 0.8 } else { 0.01 }).collect();
    let name = |side: &str, n: usize| (0..n).map(|i| format!("{side}{i}")).collect();
    Heatmap::new(name("source", columns), name("target", rows), (0..rows).map(row).collect()).unwrap()
}

/// Dark pixels of a PNG that has `label` as its only row label, in the columns left of the cells.
fn ink_of_label(label: &str) -> usize {
    let heatmap = Heatmap::new(words("a"), words(label), vec![vec![0.0]]).unwrap();
    let pixmap = Pixmap::decode_png(&heatmap_png(&heatmap, &HeatmapOptions::default()).unwrap()).unwrap();
    let width = pixmap.width() as usize;
    // Below the corner's captions and above the scale.
    let rows = 100..pixmap.height() as usize - 120;
    let dark = |(i, p): (usize, &resvg::tiny_skia::PremultipliedColorU8)| {
        rows.contains(&(i / width)) && i % width < 120 && p.red() < 128
    };
    pixmap.pixels().iter().enumerate().filter(|&it| dark(it)).count()
}

#[test]
fn png_has_text_from_the_embedded_font() {
    let (none, thin, wide) = (ink_of_label("\u{301}"), ink_of_label("i"), ink_of_label("mmm"));
    assert!(none < 40 && thin > 20 && wide > 5 * thin, "{none} {thin} {wide}");
}

#[test]
fn png_has_two_pixels_a_unit_and_a_limit() {
    let size = |heatmap: &Heatmap| {
        let png = heatmap_png(heatmap, &HeatmapOptions::default()).unwrap();
        let pixmap = Pixmap::decode_png(&png).unwrap();
        (pixmap.width(), pixmap.height())
    };
    let svg = heatmap_svg(&crossing(), &HeatmapOptions::default());
    let root = Document::parse(&svg).unwrap();
    let side = |name: &str| root.root_element().attribute(name).unwrap().parse::<u32>().unwrap();
    assert_eq!(size(&crossing()), (2 * side("width"), 2 * side("height")));
    assert_eq!(size(&diagonal(1000, 2)).1, 8192);
}

#[test]
fn gold_links_outside_the_matrix_are_left_out() {
    let outlines = |gold: Vec<(usize, usize)>| {
        let options = HeatmapOptions { gold, ..HeatmapOptions::default() };
        heatmap_svg(&crossing(), &options).matches("stroke=\"#e66101\"").count()
    };
    // One of them is in the legend.
    assert_eq!([outlines(vec![]), outlines(vec![(0, 0)]), outlines(vec![(0, 0), (8, 0), (0, 8)])], [0, 2, 2]);
}

#[test]
fn long_sentences_stay_small() {
    let svg = heatmap_svg(&diagonal(60, 60), &HeatmapOptions::default());
    let root = Document::parse(&svg).unwrap();
    let width: f32 = root.root_element().attribute("width").unwrap().parse().unwrap();
    assert!((700.0..1000.0).contains(&width), "{width}");
    assert_eq!(root.descendants().filter(|node| node.has_tag_name("text")).count(), 2 + 60 + 60 + 2);
}

#[test]
fn terminal_lines_say_the_strongest_word() {
    let text = terminal(&crossing(), 60, Colour::Plain);
    assert!(!text.contains('\x1b') && text.lines().any(|line| line.trim_start().starts_with("noir ")));
    for (target, strongest) in [("le", "the    0.59"), ("noir", "black  0.69"), ("rouge", "red    0.94")] {
        assert!(text.lines().any(|l| l.trim_start().starts_with(target) && l.ends_with(strongest)), "{text}");
    }
    // A row of zeros has no strongest word.
    assert!(terminal(&awkward(), 60, Colour::Plain).lines().any(|line| line.ends_with(" -")));
}

#[test]
fn right_to_left_words_leave_their_cells_in_place() {
    let heatmap = Heatmap::new(words("שלום a"), words("של b"), vec![vec![0.5, 0.5], vec![1.0, 0.0]]).unwrap();
    let text = terminal(&heatmap, 24, Colour::Plain);
    assert!(text.contains("\u{200e}של\u{200e} ") && text.ends_with(" 1\n"), "{text}");
    // Two marks each: the column label, the row label, and twice the strongest word.
    assert_eq!(text.matches('\u{200e}').count(), 2 * (1 + 1 + 2), "{text}");
}

#[test]
fn report_is_one_well_formed_page() {
    let series = vec![Series { name: "a".into(), scores: vec![Some(3.0)], bands: Vec::new() }];
    let chart = Chart { buckets: vec!["1".into()], series, ..Chart::default() };
    let table = Table { caption: "c".into(), header: words("x y"), rows: vec![words("<i> 1")] };
    let blocks = vec![
        Block::Paragraph("<script>alert(1)</script>".into()),
        Block::Table(table),
        Block::Heatmap { heatmap: awkward(), options: titled("</svg>"), caption: "</figure>".into() },
        Block::Chart { chart, caption: "curve".into() },
    ];
    let sections = vec![Section { title: "s & t".into(), blocks }];
    let html = Report { title: "r".into(), sections }.html();
    assert!(!html.contains("<script"));
    // No address but the two names of the SVG namespace.
    assert_eq!((html.matches("://").count(), html.matches("xmlns=\"http://").count()), (2, 2));
    assert!(html.contains("<td>&lt;i&gt;</td><td>1</td>"));
    assert_eq!((html.matches("<svg").count(), html.matches("</svg>").count()), (2, 2));
    let body = &html[html.find("<body>").unwrap()..html.find("</html>").unwrap()];
    assert_eq!(Document::parse(body).unwrap().descendants().filter(|n| n.has_tag_name("figure")).count(), 2);
}

fn any_heatmap() -> impl Strategy<Value = Heatmap> {
    (0usize..6, 0usize..70).prop_flat_map(|(rows, columns)| {
        let tokens = |n| prop::collection::vec("\\PC{0,9}|[\u{0}-\u{20}]|日本|<&>", n);
        let weights = prop::collection::vec(prop::collection::vec(0f32..1.5, columns), rows);
        (tokens(columns), tokens(rows), weights)
            .prop_map(|(source, target, weights)| Heatmap::new(source, target, weights).unwrap())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_tokens_give_well_formed_svg(heatmap in any_heatmap(), title in any::<String>()) {
        let svg = heatmap_svg(&heatmap, &titled(&title));
        prop_assert!(Document::parse(&svg).is_ok());
        prop_assert_eq!(svg, heatmap_svg(&heatmap, &titled(&title)));
    }

    #[test]
    fn terminal_keeps_to_its_width(heatmap in any_heatmap(), width in 24usize..120) {
        for line in terminal(&heatmap, width, Colour::Plain).lines() {
            let columns: usize = line.chars().filter_map(unicode_width::UnicodeWidthChar::width).sum();
            prop_assert!(columns <= width, "{} > {}: {}", line.width(), width, line);
        }
    }

    #[test]
    fn colours_change_no_text(heatmap in any_heatmap(), width in 24usize..120) {
        let coloured = terminal(&heatmap, width, Colour::Ansi);
        for line in coloured.lines() {
            prop_assert_eq!(line.matches("\x1b[48;2;").count(), line.matches("\x1b[0m").count());
        }
        let tokens: usize = heatmap.target_tokens().len();
        prop_assert!(coloured.lines().count() > tokens);
    }
}

/// A picture's pixels.
fn pixels(png: &[u8]) -> Pixmap {
    Pixmap::decode_png(png).unwrap()
}

#[test]
fn dark_pictures_have_dark_paper_and_the_same_texts() {
    let pictures = [
        crossing().picture(&titled("t")),
        Links { title: None, heatmap: crossing(), threshold: 0.1 }.picture(),
        ShadedWords::from_log_probs("t", &words("le chat"), &[-0.1, -1.0]).picture(),
    ];
    for picture in pictures {
        let corner = |theme| pixels(&picture.png(theme, None).unwrap()).pixels()[0];
        assert_eq!((corner(Theme::Light).red(), corner(Theme::Dark).red()), (255, 17));
        let texts = |theme| {
            let svg = picture.svg(theme);
            let root = Document::parse(&svg).unwrap();
            root.descendants().filter_map(|node| node.text().map(String::from)).collect::<Vec<_>>()
        };
        assert_eq!(texts(Theme::Light), texts(Theme::Dark));
    }
    let report = Report { title: "r".into(), sections: Vec::new() };
    assert!(report.html_in(Theme::Dark).contains("background:#111827"));
    assert!(report.html().contains("color:#1f2937;background:#ffffff"));
}

#[test]
fn a_given_font_draws_what_it_has() {
    let bytes = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/fonts/DejaVuSans.ttf")).unwrap();
    let font = Font::new(bytes).unwrap();
    let picture = awkward().picture(&titled("t"));
    assert_eq!(picture.missing_characters(None), ['日', '本', '語']);
    assert_eq!(picture.missing_characters(Some(&font)), ['日', '本', '語']);
    // The same font given: the same picture, but for what the footnote says.
    let rows = |png: Vec<u8>| {
        let pixmap = pixels(&png);
        pixmap.pixels()[..(pixmap.width() * (pixmap.height() - 40)) as usize].to_vec()
    };
    let [own, given] = [None, Some(&font)].map(|font| rows(picture.png(Theme::Light, font).unwrap()));
    assert!(own == given);
}

#[test]
fn sums_stay_legible_in_narrow_columns() {
    let options = HeatmapOptions { sums: true, ..HeatmapOptions::default() };
    let svg = heatmap_svg(&diagonal(60, 60), &options);
    // 0.8 + 59 × 0.01 in every column.
    assert_eq!(svg.matches(">1.39</text>").count(), 60);
    let text =
        heatmap_terminal(&diagonal(2, 3), TerminalOptions { width: 80, colour: Colour::Plain, sums: true });
    let sums = text.lines().find(|line| line.trim_start().starts_with("sum ")).unwrap();
    assert_eq!(sums.split_whitespace().collect::<Vec<_>>(), ["sum", "0.81", "0.81", "▾0.02"]);
    assert!(text.ends_with("▾ skipped, sum < 0.3: source2 0.02\n"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_words_give_well_formed_pictures(heatmap in any_heatmap(), title in any::<String>()) {
        let words = ShadedWords { title: title.clone(), words: heatmap.source_tokens().iter().cloned().zip(heatmap.column_sums()).collect() };
        let links = Links { title: Some(title), heatmap, threshold: 0.5 };
        for picture in [words.picture(), links.picture()] {
            prop_assert!(Document::parse(&picture.svg(Theme::Dark)).is_ok());
        }
    }

    #[test]
    fn sums_keep_to_the_width(heatmap in any_heatmap(), width in 24usize..120) {
        let text = heatmap_terminal(&heatmap, TerminalOptions { width, colour: Colour::Plain, sums: true });
        for line in text.lines() {
            let columns: usize = line.chars().filter_map(unicode_width::UnicodeWidthChar::width).sum();
            prop_assert!(columns <= width, "{} > {}: {}", columns, width, line);
        }
    }
}
