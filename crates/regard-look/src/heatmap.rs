//! The matrix behind every picture: one row per target token, one column per source token.

use crate::softmax::{SoftmaxError, entropy, sharpen, softmax};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why words and numbers do not make a [`Heatmap`].
#[derive(Debug, Clone, PartialEq, Error)]
pub enum HeatmapError {
    /// The matrix does not have one row per target token.
    #[error("{rows} rows of weights for {target_tokens} target tokens: give one row per target token")]
    Rows {
        /// Rows of the matrix.
        rows: usize,
        /// Target tokens.
        target_tokens: usize,
    },
    /// A row does not have one weight per source token.
    #[error(
        "row {row} has {columns} weights for {source_tokens} source tokens: give one weight per source token"
    )]
    Columns {
        /// Index of the row.
        row: usize,
        /// Weights in that row.
        columns: usize,
        /// Source tokens.
        source_tokens: usize,
    },
    /// A number in a row, or the temperature, is not usable.
    #[error("row {row}: {source}")]
    Row {
        /// Index of the row.
        row: usize,
        /// What is wrong with it.
        source: SoftmaxError,
    },
}

/// The strongest weight of one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Strongest {
    /// Index of the source token; the first one where several tie.
    pub source: usize,
    /// Its weight.
    pub weight: f32,
}

/// How much of the look a source token has got in all, by its column's sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Coverage {
    /// Below 0.3: perhaps left out of the translation.
    Skipped,
    /// From 0.3 to 1.7.
    Once,
    /// Above 1.7: perhaps translated twice.
    Repeated,
}

impl Coverage {
    /// What a sum says.
    #[must_use]
    pub fn of(sum: f32) -> Self {
        match sum {
            _ if sum < 0.3 => Self::Skipped,
            _ if sum > 1.7 => Self::Repeated,
            _ => Self::Once,
        }
    }

    /// The sign before a number.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Skipped => "▾",
            Self::Once => "",
            Self::Repeated => "▴",
        }
    }

    /// What follows a number.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Skipped => "skipped",
            Self::Once => "",
            Self::Repeated => "repeated",
        }
    }
}

/// How much each target token looked at each source token: weights `[tgt_len, src_len]`, finite and not negative.
///
/// Rows that come out of a softmax sum to 1; those of `local_p` attention sum to less, and rows need not sum to
/// anything. As JSON it is `{"source_tokens": […], "target_tokens": […], "weights": [[…], …]}`, checked when read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Heatmap {
    source_tokens: Vec<String>,
    target_tokens: Vec<String>,
    weights: Vec<Vec<f32>>,
}

impl Heatmap {
    /// A heatmap of `weights[target][source]`.
    ///
    /// # Errors
    /// [`HeatmapError::Rows`] or [`HeatmapError::Columns`] where the counts differ, [`HeatmapError::Row`] where a
    /// weight is negative or not finite.
    pub fn new(
        source_tokens: Vec<String>,
        target_tokens: Vec<String>,
        weights: Vec<Vec<f32>>,
    ) -> Result<Self, HeatmapError> {
        check_sides(&source_tokens, &target_tokens, &weights)?;
        for (row, values) in weights.iter().enumerate() {
            if let Some(position) = values.iter().position(|w| !w.is_finite() || *w < 0.0) {
                let source = SoftmaxError::Weight { position, value: values[position] };
                return Err(HeatmapError::Row { row, source });
            }
        }
        Ok(Self { source_tokens, target_tokens, weights })
    }

    /// A heatmap of `softmax(scores / temperature)`, row by row, from `scores[target][source]`; −∞ masks a cell.
    ///
    /// # Errors
    /// As [`Heatmap::new`], and [`HeatmapError::Row`] for a score or temperature that [`softmax`] refuses.
    pub fn from_scores(
        source_tokens: Vec<String>,
        target_tokens: Vec<String>,
        scores: &[Vec<f32>],
        temperature: f32,
    ) -> Result<Self, HeatmapError> {
        check_sides(&source_tokens, &target_tokens, scores)?;
        let weights = each_row(scores, |row| softmax(row, temperature))?;
        Ok(Self { source_tokens, target_tokens, weights })
    }

    /// The same heatmap at another temperature: each row becomes `w^(1/T)`, renormalised to sum to 1 ([`sharpen`]).
    ///
    /// # Errors
    /// [`HeatmapError::Row`] unless `0 < temperature < ∞`.
    pub fn with_temperature(&self, temperature: f32) -> Result<Self, HeatmapError> {
        let weights = each_row(&self.weights, |row| sharpen(row, temperature))?;
        Ok(Self { weights, ..self.clone() })
    }

    /// Names of the columns, in order.
    #[must_use]
    pub fn source_tokens(&self) -> &[String] {
        &self.source_tokens
    }

    /// Names of the rows, in order.
    #[must_use]
    pub fn target_tokens(&self) -> &[String] {
        &self.target_tokens
    }

    /// All weights, `[tgt_len, src_len]`.
    #[must_use]
    pub fn weights(&self) -> &[Vec<f32>] {
        &self.weights
    }

    /// Weights of the target token `row`, `[src_len]`; empty where there is no such row.
    #[must_use]
    pub fn row(&self, row: usize) -> &[f32] {
        self.weights.get(row).map_or(&[], Vec::as_slice)
    }

    /// The strongest weight of each row, `[tgt_len]`; `None` where there is no source token or every weight is 0.
    #[must_use]
    pub fn strongest(&self) -> Vec<Option<Strongest>> {
        self.weights.iter().map(|row| strongest(row)).collect()
    }

    /// Σ over the target tokens of the weights of each source token, `[src_len]`; see [`Coverage`].
    #[must_use]
    pub fn column_sums(&self) -> Vec<f32> {
        let sum = |column: usize| self.weights.iter().map(|row| row[column]).sum();
        (0..self.source_tokens.len()).map(sum).collect()
    }

    /// Entropy of each row in nats, `[tgt_len]` ([`entropy`]).
    #[must_use]
    pub fn entropies(&self) -> Vec<f32> {
        self.weights.iter().map(|row| entropy(row)).collect()
    }
}

fn check_sides(source: &[String], target: &[String], matrix: &[Vec<f32>]) -> Result<(), HeatmapError> {
    if matrix.len() != target.len() {
        return Err(HeatmapError::Rows { rows: matrix.len(), target_tokens: target.len() });
    }
    match matrix.iter().position(|row| row.len() != source.len()) {
        None => Ok(()),
        Some(row) => {
            let columns = matrix[row].len();
            Err(HeatmapError::Columns { row, columns, source_tokens: source.len() })
        }
    }
}

fn each_row(
    matrix: &[Vec<f32>],
    change: impl Fn(&[f32]) -> Result<Vec<f32>, SoftmaxError>,
) -> Result<Vec<Vec<f32>>, HeatmapError> {
    let rows = matrix.iter().enumerate();
    rows.map(|(row, values)| change(values).map_err(|source| HeatmapError::Row { row, source })).collect()
}

fn strongest(row: &[f32]) -> Option<Strongest> {
    let mut best = None;
    let mut top = 0.0;
    for (source, &weight) in row.iter().enumerate() {
        if weight > top {
            top = weight;
            best = Some(Strongest { source, weight });
        }
    }
    best
}

/// What a JSON file may hold, before it is checked.
#[derive(Deserialize)]
struct Unchecked {
    source_tokens: Vec<String>,
    target_tokens: Vec<String>,
    weights: Vec<Vec<f32>>,
}

impl TryFrom<Unchecked> for Heatmap {
    type Error = HeatmapError;

    fn try_from(it: Unchecked) -> Result<Self, HeatmapError> {
        Self::new(it.source_tokens, it.target_tokens, it.weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(String::from).collect()
    }

    #[test]
    fn sides_and_numbers_are_checked() {
        let two_by_three = |weights| Heatmap::new(words("a b c"), words("x y"), weights);
        assert_eq!(two_by_three(vec![vec![0.0; 3]]), Err(HeatmapError::Rows { rows: 1, target_tokens: 2 }));
        assert_eq!(
            two_by_three(vec![vec![0.0; 3], vec![0.0; 2]]),
            Err(HeatmapError::Columns { row: 1, columns: 2, source_tokens: 3 })
        );
        for bad in [f32::NAN, f32::INFINITY, -0.1] {
            let error = two_by_three(vec![vec![0.0; 3], vec![0.0, bad, 0.0]]).unwrap_err();
            assert!(error.to_string().starts_with("row 1: weight "), "{error}");
        }
        assert!(two_by_three(vec![vec![0.0; 3]; 2]).is_ok());
    }

    #[test]
    fn strongest_and_entropy_by_row() {
        let weights = vec![vec![0.2, 0.4, 0.4], vec![0.0, 0.0, 1.0], vec![0.0; 3]];
        let heatmap = Heatmap::new(words("a b c"), words("x y z"), weights).unwrap();
        let expected =
            [Some(Strongest { source: 1, weight: 0.4 }), Some(Strongest { source: 2, weight: 1.0 }), None];
        assert_eq!(heatmap.strongest(), expected);
        let entropies = heatmap.entropies();
        assert!((entropies[0] - 1.054_92).abs() < 1e-5, "{entropies:?}");
        assert_eq!(entropies[1..], [0.0, 0.0]);
    }

    #[test]
    fn sums_tell_what_was_skipped_and_repeated() {
        let weights = vec![vec![0.1, 0.0, 0.9], vec![0.1, 0.6, 0.3], vec![0.05, 0.2, 0.75]];
        let sums = Heatmap::new(words("a b c"), words("x y z"), weights).unwrap().column_sums();
        for (sum, expected) in sums.iter().zip([0.25, 0.8, 1.95]) {
            assert!((sum - expected).abs() < 1e-6, "{sums:?}");
        }
        let coverage: Vec<Coverage> = sums.into_iter().map(Coverage::of).collect();
        assert_eq!(coverage, [Coverage::Skipped, Coverage::Once, Coverage::Repeated]);
        assert_eq!([0.3, 1.7].map(Coverage::of), [Coverage::Once; 2]);
        assert_eq!(Heatmap::new(words("a"), vec![], vec![]).unwrap().column_sums(), [0.0]);
    }

    #[test]
    fn json_has_three_fields_and_is_checked() {
        let heatmap = Heatmap::new(words("a b"), words("x"), vec![vec![0.25, 0.75]]).unwrap();
        let json = serde_json::to_string(&heatmap).unwrap();
        assert_eq!(json, r#"{"source_tokens":["a","b"],"target_tokens":["x"],"weights":[[0.25,0.75]]}"#);
        assert_eq!(serde_json::from_str::<Heatmap>(&json).unwrap(), heatmap);
        let short = r#"{"source_tokens":["a","b"],"target_tokens":["x"],"weights":[[0.25]]}"#;
        assert!(
            serde_json::from_str::<Heatmap>(short).unwrap_err().to_string().contains("row 0 has 1 weights")
        );
    }

    #[test]
    fn no_rows_and_no_columns_are_fine() {
        let heatmap = Heatmap::new(words("a"), vec![], vec![]).unwrap();
        assert!(heatmap.strongest().is_empty() && heatmap.row(0).is_empty());
        let heatmap = Heatmap::new(vec![], words("x"), vec![vec![]]).unwrap();
        assert_eq!(heatmap.strongest(), [None]);
        assert_eq!(heatmap.with_temperature(2.0).unwrap(), heatmap);
    }
}
