//! Text → the text that is cut into pieces: rules, white space, the mark `▁`; and where each byte of it comes from.

use super::charsmap::CharsMap;
use super::double_array::DoubleArray;
use super::proto::NormalizerProto;

/// What pieces have for a space.
pub(super) const SPACE: &str = "▁";

/// How a model normalises.
#[derive(Clone, Debug)]
pub(super) struct Normalization {
    rules: Option<CharsMap>,
    /// These pass as they are.
    pub(super) user_defined: Option<DoubleArray>,
    pub(super) add_dummy_prefix: bool,
    pub(super) remove_extra_whitespaces: bool,
    /// What a space becomes.
    space: &'static str,
    whitespace_as_suffix: bool,
    /// ASCII bytes that stay what they are where no other than ASCII follows.
    plain: [bool; 128],
}

/// A normalised text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Normalized {
    pub(super) text: String,
    /// For each byte of `text`, and for its end, the place in the original; empty where it was not asked for.
    pub(super) origins: Vec<usize>,
}

impl Normalization {
    pub(super) fn new(
        proto: &NormalizerProto,
        whitespace_as_suffix: bool,
        user_defined: Option<DoubleArray>,
    ) -> Result<Self, String> {
        let charsmap = proto.charsmap.as_deref().filter(|bytes| !bytes.is_empty());
        let rules = charsmap.map(CharsMap::from_bytes).transpose()?;
        let tries = [rules.as_ref().map(CharsMap::trie), user_defined.as_ref()];
        let starts_nothing = |byte: u8| tries.into_iter().flatten().all(|trie| is_plain(trie, byte));
        let plain = std::array::from_fn(|byte| byte != usize::from(b' ') && starts_nothing(byte as u8));
        Ok(Self {
            rules,
            user_defined,
            add_dummy_prefix: proto.add_dummy_prefix(),
            remove_extra_whitespaces: proto.remove_extra_whitespaces(),
            space: if proto.escape_whitespaces() { SPACE } else { " " },
            whitespace_as_suffix,
            plain,
        })
    }

    /// The normalised text; `with_origins` where its offsets are wanted.
    pub(super) fn normalize(&self, text: &str, with_origins: bool) -> Normalized {
        let mut at = if self.remove_extra_whitespaces { self.leading_spaces(text) } else { 0 };
        if at == text.len() {
            return Normalized::default();
        }
        let mut writer = Writer {
            text: String::with_capacity(text.len() + text.len() / 2 + 2 * SPACE.len()),
            origins: with_origins.then(|| Vec::with_capacity(2 * text.len())),
            space: self.space,
        };
        if self.add_dummy_prefix && !self.whitespace_as_suffix {
            writer.push_space(at);
        }
        let mut after_space = self.remove_extra_whitespaces;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let plain = self.plain_length(rest.as_bytes());
            if plain > 0 {
                writer.push_ascii(rest.get(..plain).unwrap_or_default(), at);
                after_space = false;
                at += plain;
                continue;
            }
            let (length, replacement) = self.first(rest);
            let kept = if after_space { replacement.trim_start_matches(' ') } else { replacement };
            writer.push(kept, at);
            if !kept.is_empty() {
                after_space = self.remove_extra_whitespaces && kept.ends_with(' ');
            }
            at += length;
        }
        if self.remove_extra_whitespaces {
            at = writer.trim_end().unwrap_or(at);
        }
        if self.add_dummy_prefix && self.whitespace_as_suffix {
            writer.push_space(at);
        }
        if let Some(origins) = &mut writer.origins {
            origins.push(at);
        }
        Normalized { text: writer.text, origins: writer.origins.unwrap_or_default() }
    }

    /// The length of what becomes spaces at the start of a text.
    fn leading_spaces(&self, text: &str) -> usize {
        let mut rest = text;
        while let (length, " ") = self.first(rest) {
            rest = rest.get(length..).unwrap_or_default();
        }
        text.len() - rest.len()
    }

    /// How many of the first bytes stay as they are.
    #[inline]
    fn plain_length(&self, bytes: &[u8]) -> usize {
        let is_plain = |byte: u8| self.plain.get(usize::from(byte)).is_some_and(|&plain| plain);
        let run = bytes.iter().take_while(|&&byte| is_plain(byte)).count();
        // What is not ASCII may go together with the byte before it.
        if bytes.get(run).is_some_and(|byte| !byte.is_ascii()) { run.saturating_sub(1) } else { run }
    }

    /// What is replaced at the start of a text, and with what.
    fn first<'a>(&'a self, text: &'a str) -> (usize, &'a str) {
        let kept = self.user_defined.as_ref().and_then(|symbols| symbols.longest_prefix(text));
        if let Some((length, _)) = kept {
            return (length, text.get(..length).unwrap_or_default());
        }
        if let Some(found) = self.rules.as_ref().and_then(|rules| rules.longest(text)) {
            return found;
        }
        let length = text.chars().next().map_or(0, char::len_utf8);
        (length, text.get(..length).unwrap_or_default())
    }
}

/// Whether no key of the trie is this byte, or begins with it and another byte of ASCII.
fn is_plain(trie: &DoubleArray, byte: u8) -> bool {
    match trie.step(trie.root(), byte) {
        None => true,
        Some((_, Some(_))) => false,
        Some((node, None)) => (0..128).all(|next| trie.step(node, next).is_none()),
    }
}

struct Writer {
    text: String,
    origins: Option<Vec<usize>>,
    space: &'static str,
}

impl Writer {
    fn push_space(&mut self, origin: usize) {
        self.text.push_str(self.space);
        if let Some(origins) = &mut self.origins {
            origins.extend(std::iter::repeat_n(origin, self.space.len()));
        }
    }

    /// Bytes that each come from their own place.
    fn push_ascii(&mut self, run: &str, origin: usize) {
        self.text.push_str(run);
        if let Some(origins) = &mut self.origins {
            origins.extend(origin..origin + run.len());
        }
    }

    /// Text that comes from one place as a whole.
    fn push(&mut self, text: &str, origin: usize) {
        for part in text.split_inclusive(' ') {
            let word = part.strip_suffix(' ').unwrap_or(part);
            self.text.push_str(word);
            if let Some(origins) = &mut self.origins {
                origins.extend(std::iter::repeat_n(origin, word.len()));
            }
            if word.len() < part.len() {
                self.push_space(origin);
            }
        }
    }

    /// Drops the spaces at the end; says where the first of them came from.
    fn trim_end(&mut self) -> Option<usize> {
        let length = self.text.trim_end_matches(self.space).len();
        if length == self.text.len() {
            return None;
        }
        self.text.truncate(length);
        let origins = self.origins.as_mut()?;
        let origin = origins.get(length).copied();
        origins.truncate(length);
        origin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalization(rules: &[(&str, &str)], proto: NormalizerProto) -> Normalization {
        let charsmap = (!rules.is_empty()).then(|| CharsMap::build(rules.iter().copied()));
        Normalization::new(&NormalizerProto { charsmap, ..proto }, false, None).unwrap()
    }

    #[test]
    fn rules_spaces_and_origins() {
        let rules = [("\t", " "), ("a\u{301}", "á"), ("ﬁ", "fi"), ("\u{ad}", "")];
        let all = normalization(&rules, NormalizerProto::default());
        let found = all.normalize(" \ta\u{301}\u{ad} ﬁ  x\t ", true);
        assert_eq!(found.text, "▁á▁fi▁x");
        assert_eq!(found.origins, [2, 2, 2, 2, 2, 7, 7, 7, 8, 8, 11, 11, 11, 13, 14]);
        assert_eq!(all.normalize("ab \u{ad} c", false).text, "▁ab▁c");
        assert_eq!(all.normalize(" \t", true), Normalized::default());
        // Only what becomes exactly a space is skipped at the start; the prefix that then ends the text is dropped.
        assert_eq!(all.normalize("\u{ad} ", true).text, "");
        let off = Some(false);
        let none =
            NormalizerProto { add_dummy_prefix: off, remove_extra_whitespaces: off, ..Default::default() };
        assert_eq!(normalization(&[], none.clone()).normalize(" a  b ", true).text, "▁a▁▁b▁");
        let bare = NormalizerProto { escape_whitespaces: off, ..none };
        assert_eq!(normalization(&[], bare).normalize(" a", true).origins, [0, 1, 2]);
    }
}
