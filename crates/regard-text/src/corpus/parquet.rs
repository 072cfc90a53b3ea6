//! Parquet: the two sides in columns of text.

use std::collections::VecDeque;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::pairs::one_line;
use crate::error::TextError;

/// Rows that are decoded together.
const BATCH: usize = 1024;

/// The rows of a file, one row group after the other.
pub(super) struct Rows {
    name: String,
    file: SerializedFileReader<File>,
    /// Where the two sides stand among the leaf columns.
    columns: [usize; 2],
    next_group: usize,
    sides: Option<[Side; 2]>,
    row: usize,
}

impl Rows {
    pub(super) fn open(path: &Path, source: &str, target: &str) -> Result<Self, TextError> {
        let name = path.display().to_string();
        let file =
            File::open(path).map_err(|source| TextError::Read { file: name.clone(), line: 0, source })?;
        let file = guarded(|| SerializedFileReader::new(file)).map_err(|error| damaged(&name, 0, &error))?;
        let columns = [column(&file, source), column(&file, target)];
        let [source, target] = columns.map(|column| {
            column.map_err(|problem| TextError::BadRecord { file: name.clone(), line: 0, problem })
        });
        Ok(Self { columns: [source?, target?], name, file, next_group: 0, sides: None, row: 0 })
    }

    fn read(&mut self) -> Result<Option<(String, String)>, TextError> {
        loop {
            if let Some([source, target]) = &mut self.sides {
                let sides = source.next().and_then(|source| Ok((source, target.next()?)));
                match sides.map_err(|error| damaged(&self.name, self.row, &error))? {
                    (Some(source), Some(target)) => {
                        self.row += 1;
                        return Ok(Some((self.text(&source)?, self.text(&target)?)));
                    }
                    (None, None) => {}
                    _ => {
                        let problem = "one column ends before the other".to_owned();
                        return Err(TextError::BadRecord {
                            file: self.name.clone(),
                            line: self.row,
                            problem,
                        });
                    }
                }
            }
            if self.next_group == self.file.num_row_groups() {
                return Ok(None);
            }
            let [source, target] = self.columns;
            let sides = guarded(|| {
                let group = self.file.get_row_group(self.next_group)?;
                let schema = self.file.metadata().file_metadata().schema_descr();
                let side = |column| {
                    Side::new(group.get_column_reader(column)?, schema.column(column).max_def_level())
                };
                Ok([side(source)?, side(target)?])
            });
            self.sides = Some(sides.map_err(|error| damaged(&self.name, self.row, &error))?);
            self.next_group += 1;
        }
    }

    fn text(&self, value: &ByteArray) -> Result<String, TextError> {
        let text = String::from_utf8(value.data().to_vec());
        text.map(one_line).map_err(|_| TextError::InvalidUtf8 { file: self.name.clone(), line: self.row })
    }
}

impl Iterator for Rows {
    type Item = Result<(String, String), TextError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// One column of a row group.
struct Side {
    reader: ColumnReaderImpl<ByteArrayType>,
    /// The definition level of a value that is there; a lower one is a null in the column or around it.
    present: i16,
    decoded: VecDeque<ByteArray>,
}

impl Side {
    fn new(reader: ColumnReader, present: i16) -> Result<Self, ParquetError> {
        let ColumnReader::ByteArrayColumnReader(reader) = reader else {
            return Err(ParquetError::General("a column of another type than its schema says".to_owned()));
        };
        Ok(Self { reader, present, decoded: VecDeque::new() })
    }

    /// The value of the next row, empty for a null; nothing after the last row.
    fn next(&mut self) -> Result<Option<ByteArray>, ParquetError> {
        if self.decoded.is_empty() {
            let (mut levels, mut values) = (Vec::new(), Vec::new());
            let read = || self.reader.read_records(BATCH, Some(&mut levels), None, &mut values);
            let (rows, ..) = guarded(read)?;
            let mut values = values.into_iter();
            // A column that cannot be null has no levels.
            let is_present = |row: usize| levels.get(row).is_none_or(|&level| level == self.present);
            let value = |row| is_present(row).then(|| values.next()).flatten();
            self.decoded.extend((0..rows).map(value).map(|value| value.unwrap_or_else(|| "".into())));
        }
        Ok(self.decoded.pop_front())
    }
}

/// The place of the column with a dotted path, which must hold one text a row.
fn column(file: &SerializedFileReader<File>, path: &str) -> Result<usize, String> {
    let schema = file.metadata().file_metadata().schema_descr();
    let names = || schema.columns().iter().map(|column| column.path().string()).collect::<Vec<_>>();
    let Some(place) = names().iter().position(|name| name == path) else {
        return Err(format!("no column `{path}`; what is there: {}", names().join(", ")));
    };
    let column = schema.column(place);
    if column.physical_type() != parquet::basic::Type::BYTE_ARRAY || column.max_rep_level() > 0 {
        return Err(format!("the column `{path}` must hold one text a row"));
    }
    Ok(place)
}

/// The library panics on some damaged files; nothing is used after that but the error.
fn guarded<T>(work: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    let panicked = |_| Err(ParquetError::General("it is damaged".to_owned()));
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(panicked)
}

fn damaged(file: &str, rows: usize, error: &ParquetError) -> TextError {
    let problem = format!("cannot be read as Parquet: {error}");
    TextError::BadRecord { file: file.to_owned(), line: rows, problem }
}
