//! What a path may write next.

use regard_text::special_tokens::{BOS, EOS, PAD, UNK};

use crate::options::SearchOptions;
use crate::request::Request;

/// The rules of one sentence.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    never: Vec<u32>,
    prefix: Vec<u32>,
    excluded: Vec<Vec<u32>>,
    min_length: usize,
    no_repeat: usize,
}

/// What one path may not write.
#[derive(Debug)]
pub(crate) struct Forbidden<'a> {
    rules: &'a Rules,
    here: Vec<u32>,
}

impl Rules {
    pub(crate) fn new(options: &SearchOptions, request: &Request) -> Self {
        let mut never = options.suppressed.clone();
        // Padding and the start symbol are no part of a text.
        never.extend([PAD, BOS]);
        if !options.allow_unk {
            never.push(UNK);
        }
        Self {
            never,
            prefix: request.prefix.clone(),
            excluded: request.exclude.iter().filter(|phrase| !phrase.is_empty()).cloned().collect(),
            min_length: options.min_length,
            no_repeat: options.no_repeat_ngram,
        }
    }

    /// The token that must come after so many, where a prefix is forced.
    pub(crate) fn forced(&self, position: usize) -> Option<u32> {
        self.prefix.get(position).copied()
    }

    /// What must not come after these tokens; `may_end` says whether the end symbol may.
    pub(crate) fn after(&self, tokens: &[u32], may_end: bool) -> Forbidden<'_> {
        let mut here = repeats(tokens, self.no_repeat);
        for phrase in &self.excluded {
            if let Some((&last, before)) = phrase.split_last()
                && tokens.ends_with(before)
            {
                here.push(last);
            }
        }
        if !may_end || tokens.len() + 1 < self.min_length {
            here.push(EOS);
        }
        Forbidden { rules: self, here }
    }
}

impl Forbidden<'_> {
    pub(crate) fn allows(&self, token: u32) -> bool {
        !self.rules.never.contains(&token) && !self.here.contains(&token)
    }
}

/// The tokens that would complete an n-gram which is there already.
fn repeats(tokens: &[u32], n: usize) -> Vec<u32> {
    let Some(before) = n.checked_sub(1).and_then(|before| tokens.len().checked_sub(before)) else {
        return Vec::new();
    };
    let (_, last) = tokens.split_at(before);
    let ngrams = tokens.windows(n).filter(|ngram| ngram.starts_with(last));
    ngrams.filter_map(|ngram| ngram.last().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_ngrams() {
        assert_eq!(repeats(&[4, 5, 4, 6, 4], 2), [5, 6]);
        assert_eq!(repeats(&[4, 5, 6, 4, 5], 3), [6]);
        assert_eq!(repeats(&[4, 5], 1), [4, 5]);
        assert!(repeats(&[4], 3).is_empty() && repeats(&[4, 4], 0).is_empty());
    }

    #[test]
    fn phrases_prefixes_and_lengths() {
        let options = SearchOptions {
            suppressed: vec![9],
            min_length: 3,
            allow_unk: false,
            ..SearchOptions::default()
        };
        let request =
            Request { prefix: vec![4], exclude: vec![vec![5, 6], vec![7], vec![]], ..Request::default() };
        let rules = Rules::new(&options, &request);
        assert_eq!((rules.forced(0), rules.forced(1)), (Some(4), None));
        let allowed = |tokens: &[u32], may_end| -> Vec<u32> {
            let forbidden = rules.after(tokens, may_end);
            (0..10).filter(|&token| forbidden.allows(token)).collect()
        };
        assert_eq!(allowed(&[4], true), [4, 5, 6, 8]);
        assert_eq!(allowed(&[4, 5], true), [EOS, 4, 5, 8]);
        assert_eq!(allowed(&[4, 5], false), [4, 5, 8]);
    }
}
