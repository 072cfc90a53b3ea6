//! Phrases that a translation shall hold, and how far a path has come with them.

/// The phrases of a sentence.
#[derive(Clone, Debug, Default)]
pub(super) struct Wishes {
    phrases: Vec<Vec<u32>>,
    tokens: usize,
}

/// How far a path is: whole phrases, and the beginning of one more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fulfilled {
    done: Vec<bool>,
    open: Option<(usize, usize)>,
}

impl Wishes {
    pub(super) fn new(phrases: &[Vec<u32>]) -> Self {
        let phrases: Vec<_> = phrases.iter().filter(|phrase| !phrase.is_empty()).cloned().collect();
        Self { tokens: phrases.iter().map(Vec::len).sum(), phrases }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.phrases.is_empty()
    }

    /// All tokens that are wished for.
    pub(super) fn tokens(&self) -> usize {
        self.tokens
    }

    /// How many of them a path has.
    pub(super) fn met(&self, fulfilled: &Fulfilled) -> usize {
        let whole = self.phrases.iter().zip(&fulfilled.done).filter(|(_, done)| **done);
        whole.map(|(phrase, _)| phrase.len()).sum::<usize>()
            + fulfilled.open.map_or(0, |(_, matched)| matched)
    }

    /// The tokens that would bring a path further.
    pub(super) fn next(&self, fulfilled: &Fulfilled) -> Vec<u32> {
        if let Some((phrase, matched)) = fulfilled.open {
            return self
                .phrases
                .get(phrase)
                .and_then(|phrase| phrase.get(matched))
                .copied()
                .into_iter()
                .collect();
        }
        let mut first: Vec<u32> =
            self.waiting(fulfilled).filter_map(|(_, phrase)| phrase.first().copied()).collect();
        first.sort_unstable();
        first.dedup();
        first
    }

    /// How far a path is with one more token. A phrase that is left in the middle begins anew.
    pub(super) fn after(&self, fulfilled: &Fulfilled, token: u32) -> Fulfilled {
        let mut next = fulfilled.clone();
        next.done.resize(self.phrases.len(), false);
        let (phrase, matched) = match fulfilled.open {
            Some((phrase, matched)) if self.phrases[phrase].get(matched) == Some(&token) => {
                (phrase, matched + 1)
            }
            _ => {
                next.open = None;
                let begun = self.waiting(&next).find(|(_, phrase)| phrase.first() == Some(&token));
                let Some((phrase, _)) = begun else { return next };
                (phrase, 1)
            }
        };
        if matched == self.phrases[phrase].len() {
            next.done[phrase] = true;
            next.open = None;
        } else {
            next.open = Some((phrase, matched));
        }
        next
    }

    fn waiting<'a>(&'a self, fulfilled: &'a Fulfilled) -> impl Iterator<Item = (usize, &'a Vec<u32>)> {
        let done = |place: usize| fulfilled.done.get(place).copied().unwrap_or(false);
        self.phrases.iter().enumerate().filter(move |&(place, _)| !done(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_in_any_order() {
        let wishes = Wishes::new(&[vec![5, 6], vec![], vec![7], vec![7]]);
        assert_eq!(wishes.tokens(), 4);
        let follow = |tokens: &[u32]| {
            tokens.iter().fold(Fulfilled::default(), |state, &token| wishes.after(&state, token))
        };
        for (tokens, met, next) in [
            (&[][..], 0, vec![5, 7]),
            (&[4, 5], 1, vec![6]),
            // `5 4` has lost the phrase, `5 5` has begun it again, `5 7` has met another one.
            (&[5, 4], 0, vec![5, 7]),
            (&[5, 5], 1, vec![6]),
            (&[5, 7], 1, vec![5, 7]),
            (&[7, 5, 6], 3, vec![7]),
            (&[7, 5, 6, 7, 7], 4, vec![]),
        ] {
            let state = follow(tokens);
            assert_eq!((wishes.met(&state), wishes.next(&state)), (met, next), "{tokens:?}");
        }
    }
}
