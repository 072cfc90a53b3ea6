//! The files of `regard look`: pictures, tables and arrays.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use regard_decode::SearchStep;
use regard_look::{
    BeamTree, Block, Font, Heatmap, HeatmapOptions, Inspection, Links, Picture, Report, Section, ShadedWords,
    Theme,
};
use regard_text::Pipeline;

use super::failure::WrongCall;
use super::output::write;
use super::settings::Settings;

/// Links below this weight are not drawn.
const FAINT: f32 = 0.1;
/// So many missing characters are named.
const NAMED: usize = 16;
/// What a file's name may say of it.
const KINDS: [&str; 8] = ["svg", "png", "html", "csv", "npz", "jpg", "jpeg", "pdf"];

#[derive(Args)]
pub(super) struct PictureArgs {
    /// Write the picture as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write the picture as PNG
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
    /// Write a page that needs nothing else
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// What --svg, --png and --html show
    #[arg(long, value_enum, default_value = "matrix", value_name = "VIEW")]
    view: View,
    /// A dark ground for --svg, --png and --html
    #[arg(long)]
    dark: bool,
    /// A .ttf, .otf or .ttc file for the texts of --png; what it lacks is taken from the built-in font [default: the
    /// built-in font, and one of this machine where that lacks characters]
    #[arg(long, value_name = "FILE", requires = "png")]
    font: Option<PathBuf>,
    /// Below the matrix, the sum of each column; words with less than 0.3 are marked as skipped, with more than 1.7 as repeated
    #[arg(long)]
    sums: bool,
    /// Outline these links between words in the matrix, as in `0-0 1-2` (Pharaoh's format: source-target, words from 0)
    #[arg(long, value_name = "LINKS", requires = "tgt")]
    gold: Option<String>,
    /// Show words, not the pieces of words that the model reads: weights of a source word are added up, rows of a target word averaged
    #[arg(long)]
    words: bool,
    /// Write the weights and scores of all layers and heads as comma-separated values
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write them as numpy arrays
    #[arg(long, value_name = "FILE")]
    npz: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum View {
    /// The weights as a matrix
    Matrix,
    /// Both sentences with lines between them
    Links,
    /// The translation, each word on a ground that says how probable it was
    Words,
    /// What the search considered, and what became of it
    Tree,
}

/// What there is to show.
pub(super) struct Shown<'a> {
    pub(super) seen: &'a Inspection,
    /// None where the model has no attention.
    pub(super) heatmap: Option<&'a Heatmap>,
    /// Gold links, `(column, row)` of the matrix.
    pub(super) gold: Vec<(usize, usize)>,
    /// Of the search, where they are wanted.
    pub(super) steps: Vec<SearchStep>,
    pub(super) target: &'a Pipeline,
    pub(super) title: String,
    /// What the table is where it is not attention.
    pub(super) definition: Option<&'static str>,
    pub(super) caption: &'a str,
}

impl PictureArgs {
    /// Whether the steps of the search are shown.
    pub(super) fn wants_steps(&self) -> bool {
        self.view == View::Tree && self.draws()
    }

    pub(super) fn sums(&self) -> bool {
        self.sums
    }

    pub(super) fn by_words(&self) -> bool {
        self.words
    }

    pub(super) fn gold(&self) -> Option<&str> {
        self.gold.as_deref()
    }

    fn draws(&self) -> bool {
        self.svg.is_some() || self.png.is_some() || self.html.is_some()
    }

    /// Refuses what cannot be shown; `given`: the translation is.
    pub(super) fn check(&self, given: bool) -> Result<()> {
        if self.view != View::Matrix && !self.draws() {
            let problem = "--view says what a picture shows: add --svg FILE, --png FILE or --html FILE";
            return Err(WrongCall(problem.to_owned()).into());
        }
        self.check_names()?;
        if self.words && matches!(self.view, View::Words | View::Tree) {
            let problem =
                "--words joins pieces in the matrix and in links: --view words and tree show pieces";
            return Err(WrongCall(problem.to_owned()).into());
        }
        if self.gold.is_some() && (self.view != View::Matrix || !self.draws()) {
            let problem = "--gold is drawn in a matrix: add --svg FILE, --png FILE or --html FILE, without another --view";
            return Err(WrongCall(problem.to_owned()).into());
        }
        if given && self.wants_steps() {
            let problem = "--view tree shows a search, and with --tgt there is none: leave one of them out";
            return Err(WrongCall(problem.to_owned()).into());
        }
        Ok(())
    }

    /// Refuses one name for two files, and the name of a file of another kind.
    fn check_names(&self) -> Result<()> {
        let Self { svg, png, html, csv, npz, .. } = self;
        let files = [("--svg", svg), ("--png", png), ("--html", html), ("--csv", csv), ("--npz", npz)];
        let files = files.into_iter().filter_map(|(option, path)| Some((option, path.as_ref()?)));
        let mut names = BTreeSet::new();
        for (option, path) in files {
            let name =
                path.extension().map_or_else(String::new, |name| name.to_string_lossy().to_lowercase());
            if KINDS.contains(&name.as_str()) && option[2..] != name {
                let problem = format!("{option} would write a file that is named as if it were .{name}");
                return Err(WrongCall(problem).into());
            }
            if !names.insert(path) {
                let problem = format!("{option} {}: another file of this call has that name", path.display());
                return Err(WrongCall(problem).into());
            }
        }
        Ok(())
    }

    /// Writes the files that were asked for.
    pub(super) fn write(&self, shown: &Shown, settings: &Settings) -> Result<()> {
        if let Some(path) = &self.csv {
            write(path, shown.seen.csv().as_bytes())?;
        }
        if let Some(path) = &self.npz {
            write(path, &shown.seen.npz()?)?;
        }
        let given = self.font()?;
        let Some(picture) = self.picture(shown) else { return Ok(()) };
        let theme = if self.dark { Theme::Dark } else { Theme::Light };
        if let Some(path) = &self.svg {
            write(path, picture.svg(theme).as_bytes())?;
        }
        if let Some(path) = &self.png {
            let font = given.or_else(|| of_system(&picture, settings));
            warn(&picture.missing_characters(font.as_ref()), settings);
            write(path, &picture.png(theme, font.as_ref())?)?;
        }
        if let Some(path) = &self.html {
            let blocks = vec![Block::Picture { picture, caption: shown.caption.to_owned() }];
            let section = Section { title: self.heading(shown).to_owned(), blocks };
            let report = Report { title: shown.title.clone(), sections: vec![section] };
            write(path, report.html_in(theme).as_bytes())?;
        }
        Ok(())
    }

    fn font(&self) -> Result<Option<Font>> {
        let Some(path) = &self.font else { return Ok(None) };
        let bytes = fs::read(path).with_context(|| format!("{}: cannot be read", path.display()))?;
        Font::new(bytes).map(Some).with_context(|| path.display().to_string())
    }

    /// The picture; none of the weights of a model that has none.
    fn picture(&self, shown: &Shown) -> Option<Picture> {
        let (seen, title) = (shown.seen, shown.title.clone());
        match self.view {
            View::Matrix => {
                let options =
                    HeatmapOptions { title: Some(title), gold: shown.gold.clone(), sums: self.sums };
                shown.heatmap.map(|heatmap| heatmap.picture(&options))
            }
            View::Links => {
                let links = |heatmap: &Heatmap| Links {
                    title: Some(title),
                    heatmap: heatmap.clone(),
                    threshold: FAINT,
                };
                shown.heatmap.map(|heatmap| links(heatmap).picture())
            }
            View::Words => {
                let words = ShadedWords::from_log_probs(title, &seen.target_tokens, &seen.token_log_probs);
                Some(words.picture())
            }
            View::Tree => {
                let name = |id| shown.target.tokens_of(&[id]).concat();
                Some(BeamTree::new(title, &shown.steps, &seen.target_ids, name).picture())
            }
        }
    }

    fn heading(&self, shown: &Shown) -> &'static str {
        match self.view {
            View::Matrix | View::Links if shown.definition.is_some() => "What each word is owed to",
            View::Matrix | View::Links => "Where the model looked",
            View::Words => "How probable each word was",
            View::Tree => "What the search considered",
        }
    }
}

/// A font of this machine, where the built-in one lacks characters.
fn of_system(picture: &Picture, settings: &Settings) -> Option<Font> {
    let missing = picture.missing_characters(None);
    let font = if missing.is_empty() { None } else { Font::of_system(&missing) }?;
    settings
        .say(format_args!("--png: drawn with {}, since the built-in font lacks characters", font.family()));
    Some(font)
}

/// Names the characters that a PNG shows as boxes.
fn warn(missing: &[char], settings: &Settings) {
    if missing.is_empty() {
        return;
    }
    let named: Vec<String> =
        missing.iter().take(NAMED).map(|c| format!("{c} (U+{:04X})", u32::from(*c))).collect();
    let more = missing.len().saturating_sub(NAMED);
    let more = if more == 0 { String::new() } else { format!(", and {more} more") };
    settings.say(format_args!(
        "--png: there is no glyph for {}{more}; name a font that has them with --font",
        named.join(", ")
    ));
}
