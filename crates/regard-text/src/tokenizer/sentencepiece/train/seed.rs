//! The pieces that unigram training starts from: frequent substrings.
//!
//! A substring counts that occurs at least twice with different characters behind it, as a node of a suffix tree does;
//! these are found as the intervals of equal prefixes among the sorted suffixes. No piece is longer than 16 characters, so
//! 17 of each suffix are enough to sort by.

use unicode_script::Script;

use super::corpus::{Corpus, Run};
use super::validity::{MAX_LENGTH, is_valid, script};

/// More substrings than this are not tried; those go that cover the least text.
const MAX_SEEDS: usize = 1_000_000;
const WINDOW: usize = MAX_LENGTH + 1;

/// All runs in one array.
struct Text {
    characters: Vec<char>,
    scripts: Vec<Script>,
    /// For each character: where its run ends, and how often that occurs.
    ends: Vec<usize>,
    counts: Vec<u64>,
}

/// Substrings and how much text they cover, the characters first, all in a fixed order.
pub(super) fn seeds(corpus: &Corpus) -> Vec<(String, u64)> {
    let text = Text::new(&corpus.runs);
    let mut suffixes: Vec<usize> = (0..text.characters.len()).collect();
    suffixes.sort_unstable_by(|&a, &b| text.window(a).cmp(text.window(b)).then(a.cmp(&b)));
    let mut found = repeated(&text, &suffixes);
    let piece = |&(start, length, _): &(usize, usize, u64)| text.characters.get(start..start + length);
    found.sort_unstable_by(|a, b| b.2.cmp(&a.2).then_with(|| piece(a).cmp(&piece(b))));
    found.truncate(MAX_SEEDS);
    let characters = corpus.characters.iter().map(|&(character, count)| (character.to_string(), count));
    let longer = found.iter().filter_map(|seed| Some((piece(seed)?.iter().collect(), seed.2)));
    characters.chain(longer).collect()
}

impl Text {
    fn new(runs: &[(Run, u64)]) -> Self {
        let mut text =
            Self { characters: Vec::new(), scripts: Vec::new(), ends: Vec::new(), counts: Vec::new() };
        for (run, count) in runs {
            text.characters.extend(run.text.chars().chain([run.after]));
            text.ends.resize(text.characters.len(), text.characters.len());
            text.counts.resize(text.characters.len(), *count);
        }
        text.scripts = text.characters.iter().map(|&character| script(character)).collect();
        text
    }

    /// What a suffix is sorted by.
    fn window(&self, start: usize) -> &[char] {
        let end = self.ends.get(start).map_or(start, |&end| end.min(start + WINDOW));
        self.characters.get(start..end).unwrap_or_default()
    }
}

/// Start, length and covered text of the valid substrings that are repeated.
fn repeated(text: &Text, suffixes: &[usize]) -> Vec<(usize, usize, u64)> {
    let mut found = Vec::new();
    let mut emit = |start: usize, length: usize, count: u64| {
        let range = start..start + length;
        if let (Some(characters), Some(scripts)) =
            (text.characters.get(range.clone()), text.scripts.get(range))
            && length > 1
            && is_valid(characters, scripts)
        {
            found.push((start, length, count * length as u64));
        }
    };
    // Open intervals: length of the common prefix, occurrences so far.
    let mut open: Vec<(usize, u64)> = vec![(0, 0)];
    let nexts = suffixes.iter().skip(1).map(Some).chain([None]);
    for (&suffix, next) in suffixes.iter().zip(nexts) {
        let common = next.map_or(0, |&next| {
            text.window(suffix).iter().zip(text.window(next)).take_while(|(a, b)| a == b).count()
        });
        let mut count = text.counts.get(suffix).copied().unwrap_or_default();
        while let Some((length, before)) = open.pop_if(|&mut (length, _)| length > common) {
            count += before;
            emit(suffix, length, count);
        }
        match open.last_mut() {
            Some((length, before)) if *length == common => *before += count,
            _ => open.push((common, count)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::corpus::BOUNDARY;
    use super::*;

    #[test]
    fn substrings_that_branch() {
        let run = |text: &str, after| Run { text: text.to_owned(), after };
        let runs = vec![
            (run("▁ab", BOUNDARY), 2),
            (run("▁ab", '▁'), 3),
            (run("▁abc", '▁'), 1),
            (run("▁xab", '▁'), 1),
        ];
        let corpus = Corpus { runs, characters: vec![('a', 7), ('▁', 7)] };
        let expected =
            [("a", 7), ("▁", 7), ("▁ab", 18), ("ab", 14)].map(|(piece, covered)| (piece.to_owned(), covered));
        // `▁x` is always followed by `a`, and `b` is one character.
        assert_eq!(seeds(&corpus), expected);
    }
}
