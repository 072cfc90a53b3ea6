//! From a trained model to translations: ids → hypotheses → text.
//!
//! ```text
//! lines ─ Translator ─→ batches ─ Decoding::search ─→ beams ─→ hypotheses ─→ text, alignment
//!                       pairs   ─ Decoding::score  ─→ log-probabilities of given targets
//! ```
//!
//! [`Decoding`] works on ids: [`Decoding::search`] is beam search (greedy with a beam of one), [`Decoding::score`] forced
//! decoding; both go through the model's one step function and add up in the same order, so that they agree to the bit.
//! [`Translator`] works on text.
//!
//! What a sentence gives depends on the sentence, the model and the options: not on the batch, not on threads. Padding and
//! the start symbol are never written, nothing follows the end symbol, and the end symbol is no part of a text.
//!
//! n, the length in every formula and limit, counts the end symbol.
//!
//! ```
//! use std::sync::Arc;
//! use regard_decode::{Look, MaxLength, SearchOptions, TranslateOptions, Translator, pharaoh};
//! use regard_model::{RecurrentConfig, RecurrentModel};
//! use regard_tensor::Threads;
//! use regard_text::{Normalizer, Pipeline, Tokenizer};
//!
//! let pipeline = |line: &str| Pipeline::build(Normalizer::None, Tokenizer::Word, [line], None, 1);
//! let (source, target) = (pipeline("the black cat"), pipeline("le chat noir"));
//! let model = RecurrentModel::new(&RecurrentConfig::bahdanau(), 7, 7, 1)?; // not trained
//! let translator = Translator::new(Arc::new(model), source, target, Threads::single())?;
//!
//! let search = SearchOptions { attention: Some(Look::default()), max_length: MaxLength::Fixed(4), ..SearchOptions::default() };
//! let options = TranslateOptions { search, ..TranslateOptions::default() };
//! let translations = translator.translate(&["the cat", " "], &options)?;
//! assert_eq!(translations[0].source_tokens(), ["the", "cat", "</s>"]);
//! assert_eq!(translations[1].text(), "");
//! let best = &translations[0].candidates[0];
//! println!("{} ||| {}", best.text, pharaoh(best.alignment.as_deref().unwrap_or_default()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alignment;
mod beam;
mod draws;
mod ensemble;
mod error;
mod hypothesis;
mod length_penalty;
mod look;
mod minimum_bayes_risk;
mod observer;
mod options;
mod path;
mod replace_unk;
mod request;
mod rules;
mod sampling;
mod scorer;
mod scoring;
mod search;
mod translation;
mod translator;

pub use alignment::{hard_alignment, pharaoh, soft_alignment, word_alignment, word_attention};
pub use ensemble::{Combination, Ensemble};
pub use error::{DecodeError, Result};
pub use hypothesis::Hypothesis;
pub use length_penalty::LengthPenalty;
pub use look::Look;
pub use observer::{Considered, Fate, SearchObserver, SearchStep, Trace};
pub use options::{BeamWidth, Cut, MAX_BEAM_SIZE, MAX_TARGET_TOKENS, MaxLength, SearchOptions};
pub use request::{Request, Wish};
pub use sampling::Sampling;
pub use scorer::{Forced, Score};
pub use search::{Controls, Decoding};
pub use translation::{Candidate, Translation};
pub use translator::{MAX_SOURCE_TOKENS, TranslateOptions, Translator};
