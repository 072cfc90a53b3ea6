//! What a report says, before it is a page: sections of paragraphs, tables and pictures.

use crate::chart::Chart;
use crate::heatmap::Heatmap;
use crate::picture::{HeatmapOptions, Picture, Theme, html};

/// A report with its sections, in order. All texts are plain: markup in them is shown, not obeyed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// Heading and title of the page.
    pub title: String,
    /// Below each other.
    pub sections: Vec<Section>,
}

/// A part of a report under its own heading.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Section {
    /// The heading.
    pub title: String,
    /// Below each other.
    pub blocks: Vec<Block>,
}

/// One thing in a section.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// A paragraph of text.
    Paragraph(String),
    /// A table.
    Table(Table),
    /// The picture of a heatmap, as [`crate::heatmap_svg`] draws it.
    Heatmap {
        /// The data.
        heatmap: Heatmap,
        /// Title and gold links.
        options: HeatmapOptions,
        /// A line below the picture.
        caption: String,
    },
    /// A line chart.
    Chart {
        /// The data.
        chart: Chart,
        /// A line below the picture.
        caption: String,
    },
    /// Any other picture.
    Picture {
        /// The picture.
        picture: Picture,
        /// A line below the picture.
        caption: String,
    },
}

/// A table whose first column names the rows; the other columns are set to the right, as numbers are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// A line below the table.
    pub caption: String,
    /// Names of the columns.
    pub header: Vec<String>,
    /// Cells, row by row.
    pub rows: Vec<Vec<String>>,
}

impl Report {
    /// The report as one HTML file that needs nothing beside it and loads nothing.
    ///
    /// ```
    /// use regard_look::{Block, Report, Section};
    /// let blocks = vec![Block::Paragraph("1 < 2".into())];
    /// let report = Report { title: "A & B".into(), sections: vec![Section { title: "First".into(), blocks }] };
    /// let html = report.html();
    /// assert!(html.contains("<h1>A &amp; B</h1>") && html.contains("<p>1 &lt; 2</p>"));
    /// ```
    #[must_use]
    pub fn html(&self) -> String {
        self.html_in(Theme::Light)
    }

    /// The same on another ground.
    #[must_use]
    pub fn html_in(&self, theme: Theme) -> String {
        html::page(self, theme)
    }
}
