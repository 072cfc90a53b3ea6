//! JSON Lines: an object a line, the two sides in fields of it.

use super::json_value::JsonValue;
use super::pairs::one_line;
use super::reader::{Lines, is_blank};
use crate::error::TextError;

pub(super) struct JsonLines {
    lines: Lines,
    source_field: String,
    target_field: String,
}

impl JsonLines {
    pub(super) fn new(lines: Lines, source_field: &str, target_field: &str) -> Self {
        Self { lines, source_field: source_field.to_owned(), target_field: target_field.to_owned() }
    }

    fn pair(&self, line: &str) -> Result<(String, String), TextError> {
        // A blank line is a pair of blank sides, as in the other formats.
        if is_blank(line) {
            return Ok(Default::default());
        }
        let record: JsonValue =
            serde_json::from_str(line).map_err(|error| self.bad(format!("not a JSON object: {error}")))?;
        let source = self.text(&record, &self.source_field)?;
        let target = self.text(&record, &self.target_field)?;
        Ok((source, target))
    }

    fn text(&self, record: &JsonValue, field: &str) -> Result<String, TextError> {
        match record.find(field).map_err(|problem| self.bad(problem))? {
            JsonValue::Text(text) => Ok(one_line(text.clone())),
            JsonValue::Null => Ok(String::new()),
            other => Err(self.bad(format!("the field `{field}` is {}, and must be a string", other.kind()))),
        }
    }

    fn bad(&self, problem: String) -> TextError {
        TextError::BadRecord { file: self.lines.name().to_owned(), line: self.lines.line(), problem }
    }
}

impl Iterator for JsonLines {
    type Item = Result<(String, String), TextError>;

    fn next(&mut self) -> Option<Self::Item> {
        let line = self.lines.next()?;
        Some(line.and_then(|line| self.pair(&line)))
    }
}
