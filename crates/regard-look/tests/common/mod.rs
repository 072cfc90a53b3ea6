//! Heatmaps that several tests draw.

use regard_look::{Colour, Heatmap, HeatmapOptions, TerminalOptions, heatmap_terminal};

pub(crate) fn words(text: &str) -> Vec<String> {
    text.split(' ').map(String::from).collect()
}

/// Eight words each way with two crossings; the weights of the lesson's picture, made up but for their strongest.
pub(crate) fn crossing() -> Heatmap {
    let strongest = [(0, 0.59), (2, 0.62), (1, 0.69), (3, 0.63), (4, 0.73), (5, 0.46), (7, 0.62), (6, 0.94)];
    let row = |&(top, weight): &(usize, f32)| {
        let mut row = vec![(1.0 - weight) / 14.0; 8];
        row[top] = weight;
        // Half of what is left goes to the neighbour.
        row[if top == 7 { 6 } else { top + 1 }] += (1.0 - weight) / 2.0;
        row
    };
    let weights = strongest.iter().map(row).collect();
    let (source, target) = ("the black cat sleeps on the red chair", "le chat noir dort sur la chaise rouge");
    Heatmap::new(words(source), words(target), weights).unwrap()
}

/// Awkward labels: markup, a control character, an empty one, double width, right to left, too long.
pub(crate) fn awkward() -> Heatmap {
    let source = ["<b>&\"", "\u{1b}[31m", "日本語", "שלום"].map(String::from).to_vec();
    let target = ["", "Donaudampfschifffahrtsgesellschaftskapitän", "e\u{301}"].map(String::from).to_vec();
    let weights = vec![vec![1.0, 0.0, 0.0, 0.0], vec![0.05, 0.15, 0.5, 0.3], vec![0.0; 4]];
    Heatmap::new(source, target, weights).unwrap()
}

pub(crate) fn titled(title: &str) -> HeatmapOptions {
    HeatmapOptions { title: Some(title.into()), gold: vec![(0, 0), (2, 1)], ..HeatmapOptions::default() }
}

/// Without sums.
pub(crate) fn terminal(heatmap: &Heatmap, width: usize, colour: Colour) -> String {
    heatmap_terminal(heatmap, TerminalOptions { width, colour, sums: false })
}
