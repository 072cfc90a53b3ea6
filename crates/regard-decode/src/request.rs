//! What is wanted of one sentence's translation.

use regard_text::Pipeline;
use regard_text::special_tokens::UNK;

use crate::error::{DecodeError, Result};

/// Wishes for one sentence, as target ids. The default wishes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The translation begins with these.
    pub prefix: Vec<u32>,
    /// It holds each of these phrases, in any order; a phrase that is wished twice stands there twice.
    pub include: Vec<Vec<u32>>,
    /// It holds none of these phrases.
    pub exclude: Vec<Vec<u32>>,
}

/// The same as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// The translation begins with this.
    pub prefix: String,
    /// It holds each of these phrases.
    pub include: Vec<String>,
    /// It holds none of these phrases, as the target side cuts them.
    pub exclude: Vec<String>,
}

impl Wish {
    /// # Errors
    /// [`DecodeError::Options`] for a prefix or a phrase with something that the vocabulary does not have; an excluded one
    /// could never be written anyway.
    pub(crate) fn request(&self, target: &Pipeline) -> Result<Request> {
        let known = |text: &String| {
            let ids = target.encode(text);
            if ids.contains(&UNK) {
                let reason = format!("`{text}` has a word that the model cannot write");
                return Err(DecodeError::Options(reason));
            }
            Ok(ids)
        };
        Ok(Request {
            prefix: known(&self.prefix)?,
            include: self.include.iter().map(known).collect::<Result<_>>()?,
            exclude: self.exclude.iter().filter_map(|phrase| known(phrase).ok()).collect(),
        })
    }
}

impl Request {
    /// Refuses ids that the model does not have.
    pub(crate) fn check(&self, sentence: usize, vocabulary: usize) -> Result<()> {
        let phrases = self.include.iter().chain(&self.exclude);
        let mut ids = self.prefix.iter().chain(phrases.flatten());
        match ids.find(|&&id| id as usize >= vocabulary) {
            Some(&id) => Err(DecodeError::UnknownId { sentence, id, vocabulary }),
            None => Ok(()),
        }
    }
}
