//! What a translation model looked at, and whether the look matters.
//!
//! [`inspect`] looks into a model while it translates a sentence, and compares that with a run in which an
//! [`Intervention`] changes something inside.
//!
//! The pictures take plain data (words and a matrix of weights, curves, tables, the steps of a search) and draw it: in
//! the terminal, as SVG, as PNG and as one self-contained HTML page. They know no model. The PNG writer brings its own
//! font, so its text is there on a machine that has none.
//!
//! ```
//! use regard_look::{Colour, Heatmap, TerminalOptions, heatmap_terminal};
//!
//! let words = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
//! let scores = vec![vec![1.0, 3.0, 0.5, 0.0]];
//! let heatmap = Heatmap::from_scores(words("the black cat sleeps"), words("noir"), &scores, 1.0)?;
//! assert!((heatmap.row(0)[1] - 0.79).abs() < 0.005);
//! let options = TerminalOptions { width: 60, colour: Colour::Plain, sums: false };
//! assert!(heatmap_terminal(&heatmap, options).contains("black 0.79"));
//! # Ok::<(), regard_look::HeatmapError>(())
//! ```

mod alignment;
mod attribution;
mod audit;
mod beam_tree;
mod chart;
mod csv;
mod distance;
mod draws;
mod error;
mod forced;
mod heatmap;
mod inspection;
mod intervention;
mod label;
mod links;
mod npz;
mod picture;
mod report;
mod sentence;
mod shaded_words;
mod softmax;
mod words;

pub use alignment::{Reading, word_links};
pub use attribution::{
    Attribution, Completeness, Integrated, IntegratedOptions, Method, StateGradient, Subject, attribute,
    integrated_gradients, state_gradient,
};
pub use audit::{
    AdversaryRecord, Audit, AuditOptions, Auditee, Distances, Flips, HeadRecord, HeadRecords, Measure,
    NamedAttribution, Rationale, Records, Rival, RivalKind, RivalRecord, Settings, StepRecord, Watch, audit,
    check_auditable, kendall_tau_b,
};
pub use beam_tree::{BeamNode, BeamTree};
pub use chart::{Chart, Series};
pub use distance::{jensen_shannon, total_variation};
pub use error::{LookError, Result};
pub use forced::Site;
pub use heatmap::{Coverage, Heatmap, HeatmapError, Strongest};
pub use inspection::{Effect, InspectOptions, Inspection, StepEffect, inspect};
pub use intervention::{
    Action, GrammarError, Heads, Intervention, Interventions, Reach, Stage, Steps, is_temperature,
};
pub use links::Links;
pub use picture::{
    Colour, Font, FontError, HeatmapOptions, Picture, PictureError, TerminalOptions, Theme, heatmap_png,
    heatmap_svg, heatmap_terminal,
};
pub use report::{Block, Report, Section, Table};
pub use shaded_words::ShadedWords;
pub use softmax::{SoftmaxError, entropy, sharpen, softmax};
pub use words::word_ranges;
