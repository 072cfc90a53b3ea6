//! What `[data]` must not ask for.

use std::path::{Path, PathBuf};

use regard_text::CorpusFormat;

use super::data::{CorpusRecipe, DataRecipe, FiltersRecipe, Layout};
use crate::config::Problem;

/// A weight beyond this is a slip of the pen.
const MAX_WEIGHT: f64 = 1000.0;

impl DataRecipe {
    pub(super) fn check(&self) -> Result<(), Problem> {
        self.filters.check()?;
        Problem::unless(self.max_length != Some(0), "max_length", || "0 must be at least 1".to_owned())?;
        Problem::unless(
            self.max_length.is_none() || self.filters.max_length.is_none(),
            "max_length",
            || "give max_length or filters.max_length, not both".to_owned(),
        )?;
        self.check_training()?;
        let files = [self.valid_source.is_some(), self.valid_target.is_some()];
        let pairs = self.valid_pairs.is_some();
        let nothing = files == [false, false] && !pairs;
        Problem::unless(nothing || is_one_corpus(files, pairs), "valid_source", || {
            "give valid_source and valid_target, or valid_pairs alone, or none of them".to_owned()
        })?;
        Problem::unless(!nothing || self.valid_tags.is_empty(), "valid_tags", || {
            "there is no validation set to set them before".to_owned()
        })?;
        self.check_standard_input()
    }

    fn check_training(&self) -> Result<(), Problem> {
        let files = [self.source.is_some(), self.target.is_some()];
        let nothing = files == [false, false] && self.pairs.is_none();
        if self.corpora.is_empty() {
            Problem::unless(is_one_corpus(files, self.pairs.is_some()), "source", || {
                "give source and target, or pairs alone, or [[data.corpora]]".to_owned()
            })?;
        } else {
            Problem::unless(nothing, "corpora", || {
                "give [[data.corpora]], or source and target, or pairs alone".to_owned()
            })?;
        }
        if let Some(pairs) = &self.pairs {
            self.layout().check(pairs).map_err(|reason| Problem { key: "pairs", reason })?;
        }
        for (place, corpus) in self.corpora.iter().enumerate() {
            let problem =
                |reason| Problem { key: "corpora", reason: format!("corpus {}: {reason}", place + 1) };
            corpus.check().map_err(problem)?;
        }
        Ok(())
    }

    /// Standard input can be read once, by one reader.
    fn check_standard_input(&self) -> Result<(), Problem> {
        let mut text: Vec<&PathBuf> =
            [&self.source, &self.target, &self.pairs].into_iter().flatten().collect();
        text.extend([&self.valid_source, &self.valid_target, &self.valid_pairs].into_iter().flatten());
        let corpora = self.corpora.iter();
        text.extend(corpora.flat_map(|corpus| [&corpus.source, &corpus.target, &corpus.pairs]).flatten());
        let uses = text.iter().filter(|path| path.as_os_str() == "-").count();
        let key = if self.corpora.is_empty() { "source" } else { "corpora" };
        Problem::unless(uses <= 1, key, || "`-`, the standard input, can be read only once".to_owned())?;
        Problem::unless(uses == 0 || self.cache.is_none(), "cache", || {
            "the text is read several times, and the standard input, `-`, cannot be".to_owned()
        })
    }
}

fn is_one_corpus(files: [bool; 2], pairs: bool) -> bool {
    files == [!pairs, !pairs]
}

impl FiltersRecipe {
    fn check(&self) -> Result<(), Problem> {
        let length = self.max_length != Some(0);
        Problem::unless(length, "filters.max_length", || "0 must be at least 1".to_owned())?;
        let ratio = self.max_ratio.unwrap_or(1.0);
        Problem::unless(ratio >= 1.0 && ratio.is_finite(), "filters.max_ratio", || {
            format!("{ratio} must be a finite number, at least 1")
        })
    }
}

impl CorpusRecipe {
    fn check(&self) -> Result<(), String> {
        let files = [self.source.is_some(), self.target.is_some()];
        if !is_one_corpus(files, self.pairs.is_some()) {
            return Err("give source and target, or pairs alone".to_owned());
        }
        if !(self.weight > 0.0 && self.weight <= MAX_WEIGHT) {
            return Err(format!("weight {} must be above 0 and at most {MAX_WEIGHT}", self.weight));
        }
        match &self.pairs {
            Some(pairs) => self.layout().check(pairs),
            None if self.format.is_some() || self.columns.is_some() || self.fields.is_some() => {
                Err("format, columns and fields are for pairs".to_owned())
            }
            None => Ok(()),
        }
    }
}

impl Layout<'_> {
    /// Refuses columns and fields that the form of the file does not have.
    fn check(self, path: &Path) -> Result<(), String> {
        let format = self.format(path);
        if self.columns.is_some() && format != CorpusFormat::Tsv {
            return Err("columns are for TSV; JSON Lines and Parquet have fields".to_owned());
        }
        if self.fields.is_some() && format == CorpusFormat::Tsv {
            return Err("fields are for JSON Lines and Parquet; TSV has columns".to_owned());
        }
        if format == CorpusFormat::Parquet && path.as_os_str() == "-" {
            return Err("Parquet cannot be read from the standard input".to_owned());
        }
        Ok(())
    }
}
