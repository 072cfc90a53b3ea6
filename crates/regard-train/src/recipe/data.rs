//! The text of a training run.

use std::path::{Path, PathBuf};

use regard_text::{CorpusFilters, CorpusFormat, CorpusSource};
use serde::{Deserialize, Serialize};

const DEFAULT_MAX_LENGTH: usize = 100;

/// The text of a training run: one corpus by its files, or several as `[[data.corpora]]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DataRecipe {
    /// The source side, one sentence a line.
    pub source: Option<PathBuf>,
    /// The target side.
    pub target: Option<PathBuf>,
    /// Both sides in one file.
    pub pairs: Option<PathBuf>,
    /// What form `pairs` and `valid_pairs` have, where it is not the one that their names promise.
    pub format: Option<CorpusFormat>,
    /// The columns of source and target in TSV, from 0.
    pub columns: Option<[usize; 2]>,
    /// The fields of source and target in JSON Lines and Parquet.
    pub fields: Option<[String; 2]>,
    /// The source side for validation.
    pub valid_source: Option<PathBuf>,
    /// The target side for validation.
    pub valid_target: Option<PathBuf>,
    /// Both sides for validation.
    pub valid_pairs: Option<PathBuf>,
    /// Set before every source line of the validation.
    pub valid_tags: Vec<String>,
    /// The code of the source language, such as `en`.
    pub source_language: Option<String>,
    /// The code of the target language.
    pub target_language: Option<String>,
    /// The short form of `filters.max_length`.
    pub max_length: Option<usize>,
    /// Which pairs are left out of the training.
    pub filters: FiltersRecipe,
    /// Where the ids are kept, in a directory; in memory where it is not given.
    pub cache: Option<PathBuf>,
    /// The corpora, where they are not one by its files.
    pub corpora: Vec<CorpusRecipe>,
}

/// Which pairs are left out of the training, and counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FiltersRecipe {
    /// Those with more tokens on a side; 100 where it is not given.
    pub max_length: Option<usize>,
    /// Those whose longer side has more than so many times the tokens of the shorter one.
    pub max_ratio: Option<f64>,
    /// Those whose text came before, in any corpus.
    pub duplicates: bool,
    /// Those whose sides are the same text.
    pub identical: bool,
}

/// A corpus among several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CorpusRecipe {
    /// The source side, one sentence a line.
    pub source: Option<PathBuf>,
    /// The target side.
    pub target: Option<PathBuf>,
    /// Both sides in one file.
    pub pairs: Option<PathBuf>,
    /// What form `pairs` has; `data.format` where it is not given.
    pub format: Option<CorpusFormat>,
    /// The columns of both sides; `data.columns` where they are not given.
    pub columns: Option<[usize; 2]>,
    /// The fields of both sides; `data.fields` where they are not given.
    pub fields: Option<[String; 2]>,
    /// How often its pairs are drawn in an epoch.
    #[serde(default = "default_weight")]
    pub weight: f64,
    /// Set before every source line.
    #[serde(default)]
    pub tags: Vec<String>,
}

fn default_weight() -> f64 {
    1.0
}

/// A corpus as a run uses it.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingCorpus {
    /// Where it lies.
    pub source: CorpusSource,
    /// How often its pairs are drawn in an epoch.
    pub weight: f64,
    /// Set before every source line.
    pub tags: Vec<String>,
}

/// How a file with both sides is read.
#[derive(Clone, Copy)]
pub(super) struct Layout<'a> {
    pub(super) format: Option<CorpusFormat>,
    pub(super) columns: Option<[usize; 2]>,
    pub(super) fields: Option<&'a [String; 2]>,
}

impl Layout<'_> {
    fn or(self, other: Self) -> Self {
        Self {
            format: self.format.or(other.format),
            columns: self.columns.or(other.columns),
            fields: self.fields.or(other.fields),
        }
    }

    pub(super) fn format(self, path: &Path) -> CorpusFormat {
        self.format.unwrap_or_else(|| CorpusFormat::of_path(path))
    }

    fn source(self, path: &Path) -> CorpusSource {
        let path = path.to_owned();
        let fields = || self.fields.cloned().unwrap_or_else(|| ["source", "target"].map(str::to_owned));
        match self.format(&path) {
            CorpusFormat::Tsv => {
                let [source_column, target_column] = self.columns.unwrap_or([0, 1]);
                CorpusSource::Tsv { path, source_column, target_column }
            }
            CorpusFormat::JsonLines => {
                let [source_field, target_field] = fields();
                CorpusSource::JsonLines { path, source_field, target_field }
            }
            CorpusFormat::Parquet => {
                let [source_field, target_field] = fields();
                CorpusSource::Parquet { path, source_field, target_field }
            }
        }
    }
}

impl CorpusRecipe {
    pub(super) fn layout(&self) -> Layout<'_> {
        Layout { format: self.format, columns: self.columns, fields: self.fields.as_ref() }
    }
}

impl DataRecipe {
    /// The training text, corpus by corpus; of a parsed recipe there is at least one.
    #[must_use]
    pub fn training_corpora(&self) -> Vec<TrainingCorpus> {
        let corpus = |corpus: &CorpusRecipe| {
            let (source, target, pairs) =
                (corpus.source.as_ref(), corpus.target.as_ref(), corpus.pairs.as_ref());
            let source = text(source, target, pairs, corpus.layout().or(self.layout()))?;
            Some(TrainingCorpus { source, weight: corpus.weight, tags: corpus.tags.clone() })
        };
        let short = text(self.source.as_ref(), self.target.as_ref(), self.pairs.as_ref(), self.layout());
        let short = short.map(|source| TrainingCorpus { source, weight: default_weight(), tags: Vec::new() });
        short.into_iter().chain(self.corpora.iter().filter_map(corpus)).collect()
    }

    /// The validation text, if there is one.
    #[must_use]
    pub fn validation_text(&self) -> Option<CorpusSource> {
        let sides = (self.valid_source.as_ref(), self.valid_target.as_ref());
        text(sides.0, sides.1, self.valid_pairs.as_ref(), self.layout())
    }

    /// Which pairs are left out of the training.
    #[must_use]
    pub fn filters(&self) -> CorpusFilters {
        let FiltersRecipe { max_length, max_ratio, duplicates, identical } = self.filters;
        let max_length = max_length.or(self.max_length).unwrap_or(DEFAULT_MAX_LENGTH);
        CorpusFilters { max_length: Some(max_length), max_ratio, duplicates, identical }
    }

    /// The tags of all corpora and of the validation, each once, in the order of the recipe.
    #[must_use]
    pub fn tags(&self) -> Vec<String> {
        let mut tags: Vec<String> = Vec::new();
        for tag in self.corpora.iter().flat_map(|corpus| &corpus.tags).chain(&self.valid_tags) {
            if !tags.contains(tag) {
                tags.push(tag.clone());
            }
        }
        tags
    }

    pub(super) fn layout(&self) -> Layout<'_> {
        Layout { format: self.format, columns: self.columns, fields: self.fields.as_ref() }
    }

    /// All paths of text and of the cache.
    pub(super) fn paths_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let training = [&mut self.source, &mut self.target, &mut self.pairs, &mut self.cache];
        let validation = [&mut self.valid_source, &mut self.valid_target, &mut self.valid_pairs];
        let corpora = self.corpora.iter_mut();
        let corpora = corpora.flat_map(|corpus| [&mut corpus.source, &mut corpus.target, &mut corpus.pairs]);
        training.into_iter().chain(validation).chain(corpora).flatten()
    }
}

fn text(
    source: Option<&PathBuf>,
    target: Option<&PathBuf>,
    pairs: Option<&PathBuf>,
    layout: Layout,
) -> Option<CorpusSource> {
    match (source, target, pairs) {
        (Some(source), Some(target), _) => Some(CorpusSource::files(source, target)),
        (_, _, Some(pairs)) => Some(layout.source(pairs)),
        _ => None,
    }
}
