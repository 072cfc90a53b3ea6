//! JSON Lines: an object a line, the two sides in fields of it.

use serde_json::Value;

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
        let record: Value =
            serde_json::from_str(line).map_err(|error| self.bad(format!("not a JSON object: {error}")))?;
        let source = self.text(&record, &self.source_field)?;
        let target = self.text(&record, &self.target_field)?;
        Ok((source, target))
    }

    fn text(&self, record: &Value, field: &str) -> Result<String, TextError> {
        let mut value = record;
        for part in field.split('.') {
            let Value::Object(object) = value else {
                return Err(self.bad(format!("no field `{field}`: {} has no fields", kind(value))));
            };
            if !object.contains_key(part) {
                let names: Vec<&str> = object.keys().map(String::as_str).collect();
                return Err(self.bad(format!("no field `{field}`; what is there: {}", names.join(", "))));
            }
            value = &object[part];
        }
        match value {
            Value::String(text) => Ok(one_line(text.clone())),
            Value::Null => Ok(String::new()),
            other => Err(self.bad(format!("the field `{field}` is {}, and must be a string", kind(other)))),
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

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
