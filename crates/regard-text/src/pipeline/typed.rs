//! What is typed is text: names of control symbols and tags in a text are written with a backslash before them.
//!
//! The rule can be undone: `</s>` becomes `\</s>`, `\</s>` becomes `\\</s>`, and every other token stays as it is.

use crate::error::TextError;
use crate::special_tokens::SPECIAL_TOKENS;

const MARK: char = '\\';

/// The token of a text as the vocabulary writes it.
pub(super) fn escape(token: String, tags: &[String]) -> String {
    if is_reserved(token.trim_start_matches(MARK), tags) { format!("{MARK}{token}") } else { token }
}

/// The token of a text as it was typed.
pub(super) fn unescape<'a>(token: &'a str, tags: &[String]) -> &'a str {
    token.strip_prefix(MARK).filter(|rest| is_reserved(rest.trim_start_matches(MARK), tags)).unwrap_or(token)
}

fn is_reserved(token: &str, tags: &[String]) -> bool {
    token.starts_with('<') && (SPECIAL_TOKENS.contains(&token) || tags.iter().any(|tag| tag == token))
}

/// Refuses what is no tag.
pub(super) fn check_tag(tag: &str) -> Result<(), TextError> {
    let inner = tag.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    let fits = inner.is_some_and(|name| {
        !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || "<>".contains(c))
    });
    if fits && !SPECIAL_TOKENS.contains(&tag) {
        Ok(())
    } else {
        Err(TextError::BadTag { tag: tag.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaping_is_undone() {
        let tags = ["<2fr>".to_owned()];
        for (typed, written) in [
            ("</s>", "\\</s>"),
            ("\\</s>", "\\\\</s>"),
            ("<2fr>", "\\<2fr>"),
            ("<2de>", "<2de>"),
            ("\\x", "\\x"),
            ("\\", "\\"),
            ("", ""),
        ] {
            assert_eq!(escape(typed.to_owned(), &tags), written);
            assert_eq!(unescape(written, &tags), typed);
        }
    }

    #[test]
    fn tags_have_a_form() {
        for tag in ["<2fr>", "<BT>", "<日本>"] {
            assert!(check_tag(tag).is_ok());
        }
        for tag in ["2fr", "<>", "<a b>", "</s>", "<pad>", "<a>b>", ""] {
            let message = check_tag(tag).unwrap_err().to_string();
            assert!(message.contains(&format!("tag `{tag}`")), "{message}");
        }
    }
}
