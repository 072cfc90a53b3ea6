//! Pictures of what a translation model looked at.
//!
//! This crate takes plain data (words and a matrix of weights, curves, tables) and draws it: in the terminal, as SVG,
//! as PNG and as one self-contained HTML page. It knows no model. The PNG writer brings its own font, so its text is
//! there on a machine that has none.
//!
//! ```
//! use regard_look::{Colour, Heatmap, heatmap_terminal};
//!
//! let words = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
//! let scores = vec![vec![1.0, 3.0, 0.5, 0.0]];
//! let heatmap = Heatmap::from_scores(words("the black cat sleeps"), words("noir"), &scores, 1.0)?;
//! assert!((heatmap.row(0)[1] - 0.79).abs() < 0.005);
//! assert!(heatmap_terminal(&heatmap, 60, Colour::Plain).contains("black 0.79"));
//! # Ok::<(), regard_look::HeatmapError>(())
//! ```

mod chart;
mod heatmap;
mod label;
mod picture;
mod report;
mod softmax;

pub use chart::{Chart, Series};
pub use heatmap::{Heatmap, HeatmapError, Strongest};
pub use picture::{Colour, HeatmapOptions, PictureError, heatmap_png, heatmap_svg, heatmap_terminal};
pub use report::{Block, Report, Section, Table};
pub use softmax::{SoftmaxError, entropy, sharpen, softmax};
