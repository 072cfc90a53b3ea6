//! The normalisation rules that a trained model carries, made from the Unicode data.
//!
//! A rule replaces a fixed string, the longest that applies, so NFKC becomes: every character by its NFKC form, and every
//! sequence whose NFKC form is one composed character by that character. The sequences are the full decompositions, in
//! which each part may also be a character that NFKC makes that part of (a full-width letter, a half-width jamo).

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization;

use super::super::charsmap::CharsMap;
use super::SentencePieceNormalization;

/// Control characters that `nmt_nfkc` drops.
const DROPPED: [&[char]; 3] = [
    &[
        '\u{1}', '\u{2}', '\u{3}', '\u{4}', '\u{5}', '\u{6}', '\u{7}', '\u{8}', '\u{b}', '\u{e}', '\u{f}',
        '\u{10}',
    ],
    &[
        '\u{11}', '\u{12}', '\u{13}', '\u{14}', '\u{15}', '\u{16}', '\u{17}', '\u{18}', '\u{19}', '\u{1a}',
        '\u{1b}',
    ],
    &['\u{1c}', '\u{1d}', '\u{1e}', '\u{1f}', '\u{7f}', '\u{8f}', '\u{9f}'],
];
/// What `nmt_nfkc` makes a space of: line and paragraph ends, marks of direction and of invisible width, the `▁` of the
/// pieces, U+FFFD.
const SPACES: [char; 15] = [
    '\t', '\n', '\u{c}', '\r', '\u{61c}', '\u{1680}', '\u{200b}', '\u{200c}', '\u{200e}', '\u{200f}',
    '\u{2028}', '\u{2029}', '\u{2581}', '\u{feff}', '\u{fffd}',
];
/// The full-width tilde, which `nmt_nfkc` keeps: in Japanese it is a mark of its own.
const KEPT: char = '\u{ff5e}';

/// The content of `precompiled_charsmap`; `None` where nothing is to be done.
pub(super) fn charsmap(normalization: SentencePieceNormalization) -> Option<Vec<u8>> {
    let rules = match normalization {
        SentencePieceNormalization::Identity => return None,
        SentencePieceNormalization::Nfkc => nfkc(),
        SentencePieceNormalization::NmtNfkc => nmt_nfkc(),
    };
    Some(CharsMap::build(rules.iter().map(|(from, to)| (from.as_str(), to.as_str()))))
}

fn nmt_nfkc() -> BTreeMap<String, String> {
    let mut rules = nfkc();
    let dropped = DROPPED.into_iter().flatten().map(|c| (c.to_string(), String::new()));
    let spaces = SPACES.into_iter().map(|c| (c.to_string(), " ".to_owned()));
    rules.extend(dropped.chain(spaces));
    rules.remove(KEPT.encode_utf8(&mut [0; 4]));
    rules
}

fn nfkc() -> BTreeMap<String, String> {
    let mut rules = BTreeMap::new();
    // For each character, those that become it.
    let mut variants: BTreeMap<char, Vec<char>> = BTreeMap::new();
    let mut composed = Vec::new();
    for character in '\u{1}'..=char::MAX {
        let mut form = [character].into_iter().nfkc();
        match (form.next(), form.next()) {
            (Some(one), None) if one == character => composed.push(character),
            (Some(one), None) => {
                variants.entry(one).or_default().push(character);
                rules.insert(character.to_string(), one.to_string());
            }
            _ => _ = rules.insert(character.to_string(), [character].into_iter().nfkc().collect()),
        }
    }
    for character in composed {
        let parts: Vec<char> = [character].into_iter().nfkd().collect();
        if parts.len() > 1 {
            for sequence in sequences(&parts, &variants) {
                rules.insert(sequence, character.to_string());
            }
        }
    }
    rules
}

/// All ways to write the parts, each as itself or as one of its variants.
fn sequences(parts: &[char], variants: &BTreeMap<char, Vec<char>>) -> Vec<String> {
    let mut sequences = vec![String::new()];
    for part in parts {
        let others = variants.get(part).map(Vec::as_slice).unwrap_or_default();
        let ways: Vec<char> = [part].into_iter().chain(others).copied().collect();
        let longer = |begun: &String| ways.iter().map(|way| format!("{begun}{way}")).collect::<Vec<_>>();
        sequences = sequences.iter().flat_map(longer).collect();
    }
    sequences
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use prost::Message;

    use super::super::super::proto::ModelProto;
    use super::*;

    /// The rules of `nmt_nfkc` as the package 0.2.3 ships them.
    fn rules_of_the_package() -> CharsMap {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/sentencepiece/nmt_nfkc.part.gz");
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
        let proto = ModelProto::decode(bytes.as_slice()).unwrap();
        CharsMap::from_bytes(proto.normalizer.unwrap().charsmap()).unwrap()
    }

    #[test]
    fn all_rules_of_the_package_and_those_of_newer_characters() {
        let package = rules_of_the_package();
        let rules = nmt_nfkc();
        let is_same = |(from, to): &(&String, &String)| package.longest(from) == Some((from.len(), to));
        // The package has no more than these.
        assert_eq!(rules.iter().filter(is_same).count(), 225_276);
        assert!(rules.len() < 226_000, "{}", rules.len());
        for (from, to) in &nfkc() {
            assert_eq!(from.nfkc().collect::<String>(), *to, "{from:?}");
        }
    }

    #[test]
    fn the_file_is_small_and_holds_the_rules() {
        let bytes = charsmap(SentencePieceNormalization::NmtNfkc).unwrap();
        assert!(bytes.len() < 600_000, "{} bytes", bytes.len());
        let map = CharsMap::from_bytes(&bytes).unwrap();
        for (from, to) in nmt_nfkc() {
            assert_eq!(map.longest(&from), Some((from.len(), to.as_str())), "{from:?}");
        }
        assert_eq!(map.longest("\u{ff5e}"), None);
    }
}
