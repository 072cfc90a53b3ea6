//! The four control symbols: the first ids of every vocabulary.
//!
//! They steer the model and are never text: a user who types `</s>` gets pieces or [`UNK`], not [`EOS`].

/// Fills the short rows of a batch.
pub const PAD: u32 = 0;
/// Stands for every token outside the vocabulary.
pub const UNK: u32 = 1;
/// Begins a target sentence (the decoder's first input).
pub const BOS: u32 = 2;
/// Ends a sentence.
pub const EOS: u32 = 3;

/// The written form of [`PAD`].
pub const PAD_TOKEN: &str = "<pad>";
/// The written form of [`UNK`].
pub const UNK_TOKEN: &str = "<unk>";
/// The written form of [`BOS`].
pub const BOS_TOKEN: &str = "<s>";
/// The written form of [`EOS`].
pub const EOS_TOKEN: &str = "</s>";

/// All four, in the order of their ids.
pub const SPECIAL_TOKENS: [&str; 4] = [PAD_TOKEN, UNK_TOKEN, BOS_TOKEN, EOS_TOKEN];

/// Whether an id is a control symbol ([`UNK`] included).
#[must_use]
pub fn is_special(id: u32) -> bool {
    (id as usize) < SPECIAL_TOKENS.len()
}
