//! `name=value&…`, as forms and queries are written.

use std::collections::BTreeMap;

use percent_encoding::percent_decode;

use crate::error::{ApiError, Result};

/// The fields of a form or of a query.
///
/// # Errors
/// 400 for what is not UTF-8, and for a field that is given twice.
pub(crate) fn fields(text: &[u8]) -> Result<BTreeMap<String, String>> {
    let mut fields = BTreeMap::new();
    for part in text.split(|&byte| byte == b'&').filter(|part| !part.is_empty()) {
        let mut sides = part.splitn(2, |&byte| byte == b'=');
        let name = decode(sides.next().unwrap_or_default())
            .ok_or_else(|| ApiError::bad("a field's name is not UTF-8"))?;
        let value = decode(sides.next().unwrap_or_default())
            .ok_or_else(|| ApiError::field(&name, "it is not UTF-8"))?;
        if fields.contains_key(&name) {
            return Err(ApiError::field(&name, "it is given twice"));
        }
        fields.insert(name, value);
    }
    Ok(fields)
}

fn decode(text: &[u8]) -> Option<String> {
    let spaced: Vec<u8> = text.iter().map(|&byte| if byte == b'+' { b' ' } else { byte }).collect();
    percent_decode(&spaced).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_decoded() {
        let found = fields(b"q=a+b%2Bc%20%C3%A9&source=en&empty&%71x=1=2").unwrap();
        let expected = [("empty", ""), ("q", "a b+c \u{e9}"), ("qx", "1=2"), ("source", "en")];
        assert_eq!(found.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect::<Vec<_>>(), expected);
        for (bad, says) in
            [(&b"q=%FF"[..], "q: it is not UTF-8"), (b"%FF=q", "name"), (b"q=1&q=2", "q: it is given twice")]
        {
            assert!(fields(bad).unwrap_err().to_string().contains(says));
        }
    }
}
