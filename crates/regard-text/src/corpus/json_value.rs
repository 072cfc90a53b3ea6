//! A JSON value as far as a pair of sentences needs it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Objects keep their fields as they were written: the same name may come twice.
pub(super) enum JsonValue {
    Text(String),
    Object(Vec<(String, JsonValue)>),
    Null,
    Bool,
    Number,
    Array,
}

impl JsonValue {
    /// The value of a field, or what is wrong. The name as it is comes first; else the part before its first dot is
    /// a field with an object, and the rest is looked for in that.
    pub(super) fn find(&self, field: &str) -> Result<&JsonValue, String> {
        self.look(field, field)
    }

    /// `whole` stands in messages for the field, of which `rest` is still to be found.
    fn look(&self, rest: &str, whole: &str) -> Result<&JsonValue, String> {
        let JsonValue::Object(fields) = self else {
            return Err(format!("no field `{whole}`: {} has no fields", self.kind()));
        };
        if let Some(value) = only(fields, rest)? {
            return Ok(value);
        }
        if let Some((first, rest)) = rest.split_once('.')
            && let Some(value) = only(fields, first)?
        {
            return value.look(rest, whole);
        }
        let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
        Err(format!("no field `{whole}`; what is there: {}", names.join(", ")))
    }

    pub(super) fn kind(&self) -> &'static str {
        match self {
            JsonValue::Text(_) => "a string",
            JsonValue::Object(_) => "an object",
            JsonValue::Null => "null",
            JsonValue::Bool => "a truth value",
            JsonValue::Number => "a number",
            JsonValue::Array => "an array",
        }
    }
}

/// The value with a name. Of two nobody could say which is meant.
fn only<'a>(fields: &'a [(String, JsonValue)], name: &str) -> Result<Option<&'a JsonValue>, String> {
    let mut found = fields.iter().filter(|(other, _)| other == name).map(|(_, value)| value);
    match (found.next(), found.next()) {
        (_, Some(_)) => Err(format!("the field `{name}` comes twice: remove one of the two")),
        (first, None) => Ok(first),
    }
}

impl<'de> Deserialize<'de> for JsonValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = JsonValue;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<JsonValue, E> {
        Ok(JsonValue::Text(text.to_owned()))
    }

    fn visit_unit<E: Error>(self) -> Result<JsonValue, E> {
        Ok(JsonValue::Null)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<JsonValue, E> {
        Ok(JsonValue::Bool)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<JsonValue, E> {
        Ok(JsonValue::Number)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<JsonValue, E> {
        Ok(JsonValue::Number)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<JsonValue, E> {
        Ok(JsonValue::Number)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<JsonValue, A::Error> {
        while array.next_element::<IgnoredAny>()?.is_some() {}
        Ok(JsonValue::Array)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<JsonValue, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = object.next_entry()? {
            fields.push(field);
        }
        Ok(JsonValue::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(json: &str, field: &str) -> Result<String, String> {
        let value: JsonValue = serde_json::from_str(json).unwrap();
        value.find(field).map(|found| match found {
            JsonValue::Text(text) => text.clone(),
            other => other.kind().to_owned(),
        })
    }

    #[test]
    fn fields_are_found_by_name_and_by_path() {
        let json = r#"{"t": {"en": "a", "x.y": "b"}, "t.fr": "c", "n": [1, {"q": 2}], "z": null}"#;
        for (field, expected) in [
            ("t.en", "a"),
            ("t.x.y", "b"),
            ("t.fr", "c"),
            ("t", "an object"),
            ("n", "an array"),
            ("z", "null"),
        ] {
            assert_eq!(find(json, field).unwrap(), expected);
        }
        for (field, problem) in [
            ("t.de", "no field `t.de`; what is there: en, x.y"),
            ("q", "no field `q`; what is there: t, t.fr, n, z"),
            ("n.q", "no field `n.q`: an array has no fields"),
        ] {
            assert_eq!(find(json, field).unwrap_err(), problem);
        }
        assert_eq!(find(r#"{"t.en": "name", "t": {"en": "path"}}"#, "t.en").unwrap(), "name");
    }

    #[test]
    fn a_doubled_field_is_refused_where_it_matters() {
        let json = r#"{"a": "1", "b": {"c": "2", "c": "3"}, "a": "4", "d": "5"}"#;
        assert_eq!(find(json, "d").unwrap(), "5");
        for (field, doubled) in [("a", "a"), ("b.c", "c")] {
            let problem = find(json, field).unwrap_err();
            assert_eq!(problem, format!("the field `{doubled}` comes twice: remove one of the two"));
        }
    }
}
