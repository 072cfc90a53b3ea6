//! Pairs of lines, whatever they come from.

use super::json_lines::JsonLines;
use super::reader::Lines;
use super::source::CorpusSource;
use crate::error::TextError;

/// An iterator over (source, target) lines. Two files of different length give [`TextError::UnequalLines`] with both
/// counts where the shorter one ends. A side of JSON Lines or Parquet that is null is an empty line, and a line feed in
/// one becomes a space, so that a side is always one line. Ends after an error.
pub struct PairLines(Reader);

enum Reader {
    Files(Lines, Lines),
    Tsv(Lines, usize, usize),
    JsonLines(JsonLines),
    #[cfg(feature = "parquet")]
    Parquet(Box<super::parquet::Rows>),
    Done,
}

impl PairLines {
    pub(super) fn open(source: &CorpusSource) -> Result<Self, TextError> {
        Ok(Self(match source {
            CorpusSource::Files { source_path, target_path } => {
                Reader::Files(Lines::open(source_path)?, Lines::open(target_path)?)
            }
            CorpusSource::Tsv { path, source_column, target_column } => {
                Reader::Tsv(Lines::open(path)?, *source_column, *target_column)
            }
            CorpusSource::JsonLines { path, source_field, target_field } => {
                Reader::JsonLines(JsonLines::new(Lines::open(path)?, source_field, target_field))
            }
            #[cfg(feature = "parquet")]
            CorpusSource::Parquet { path, source_field, target_field } => {
                Reader::Parquet(Box::new(super::parquet::Rows::open(path, source_field, target_field)?))
            }
            #[cfg(not(feature = "parquet"))]
            CorpusSource::Parquet { path, .. } => {
                return Err(TextError::ParquetLeftOut { file: path.display().to_string() });
            }
        }))
    }

    fn read(&mut self) -> Result<Option<(String, String)>, TextError> {
        match &mut self.0 {
            Reader::Files(source, target) => match (source.next().transpose()?, target.next().transpose()?) {
                (Some(source), Some(target)) => Ok(Some((source, target))),
                (None, None) => Ok(None),
                _ => Err(unequal(source, target)?),
            },
            Reader::Tsv(lines, source_column, target_column) => {
                let Some(line) = lines.next().transpose()? else { return Ok(None) };
                let source = column(&line, *source_column, lines)?;
                let target = column(&line, *target_column, lines)?;
                Ok(Some((source, target)))
            }
            Reader::JsonLines(lines) => lines.next().transpose(),
            #[cfg(feature = "parquet")]
            Reader::Parquet(rows) => rows.next().transpose(),
            Reader::Done => Ok(None),
        }
    }
}

impl Iterator for PairLines {
    type Item = Result<(String, String), TextError>;

    fn next(&mut self) -> Option<Self::Item> {
        let pair = self.read().transpose();
        if !matches!(pair, Some(Ok(_))) {
            self.0 = Reader::Done;
        }
        pair
    }
}

fn column(line: &str, column: usize, lines: &Lines) -> Result<String, TextError> {
    line.split('\t').nth(column).map(str::to_owned).ok_or_else(|| TextError::MissingColumn {
        file: lines.name().to_owned(),
        line: lines.line(),
        column,
        found: line.split('\t').count(),
    })
}

/// Counts what is left of the longer side, for the message.
fn unequal(source: &mut Lines, target: &mut Lines) -> Result<TextError, TextError> {
    for line in source.chain(&mut *target) {
        line?;
    }
    Ok(TextError::UnequalLines {
        source_file: source.name().to_owned(),
        source_lines: source.line(),
        target_file: target.name().to_owned(),
        target_lines: target.line(),
    })
}

/// Text from a format whose strings may hold line feeds, as one line.
pub(super) fn one_line(text: String) -> String {
    if text.contains('\n') { text.replace("\r\n", " ").replace('\n', " ") } else { text }
}
