//! What a translator returns for a line.

use regard_text::Token;
use regard_text::special_tokens::EOS_TOKEN;

use crate::hypothesis::Hypothesis;

/// The translations of one line.
#[derive(Clone, Debug, PartialEq)]
pub struct Translation {
    /// The source as the model read it, tags first and `</s>` at its end: the columns of attention. Empty for a blank line.
    pub source: Vec<Token>,
    /// Where the source was cut, the number of tokens that it had.
    pub cut_from: Option<usize>,
    /// The translations, best first; at least one.
    pub candidates: Vec<Candidate>,
}

/// One translation of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The text.
    pub text: String,
    /// The target tokens that make the text, without the end symbol; copied words are in their places.
    pub tokens: Vec<String>,
    /// Links `(source, target)` between tokens, where attention was asked for; see
    /// [`hard_alignment`](crate::hard_alignment).
    pub alignment: Option<Vec<(usize, usize)>>,
    /// The ids, with their numbers and attention.
    pub hypothesis: Hypothesis,
}

impl Translation {
    /// What a blank line gives: empty text, for certain.
    pub(crate) fn blank(attention: bool) -> Self {
        let hypothesis = Hypothesis {
            tokens: Vec::new(),
            log_prob: 0.0,
            score: 0.0,
            token_log_probs: Vec::new(),
            finished: true,
            stopped: false,
            attention: attention.then(Vec::new),
            attention_scores: attention.then(Vec::new),
        };
        let alignment = attention.then(Vec::new);
        let candidate = Candidate { text: String::new(), tokens: Vec::new(), alignment, hypothesis };
        Self { source: Vec::new(), cut_from: None, candidates: vec![candidate] }
    }

    /// A label for each column of attention.
    #[must_use]
    pub fn source_tokens(&self) -> Vec<String> {
        self.source.iter().map(|token| token.text.clone()).collect()
    }

    /// The word of each source token, the end symbol left out.
    #[must_use]
    pub fn source_words(&self) -> Vec<Option<usize>> {
        let tokens = self.source.split_last().map_or(&[][..], |(_end, tokens)| tokens);
        tokens.iter().map(|token| token.word).collect()
    }

    /// Whether the search was ended before its time: see [`Hypothesis::stopped`].
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.candidates.iter().any(|candidate| candidate.hypothesis.stopped)
    }

    /// The text of the best translation.
    #[must_use]
    pub fn text(&self) -> &str {
        self.candidates.first().map_or("", |candidate| &candidate.text)
    }
}

impl Candidate {
    /// A label for each row of attention: the tokens, then `</s>` where it was written.
    #[must_use]
    pub fn row_labels(&self) -> Vec<String> {
        let end = (self.hypothesis.length() > self.tokens.len()).then(|| EOS_TOKEN.to_owned());
        self.tokens.iter().cloned().chain(end).collect()
    }
}
