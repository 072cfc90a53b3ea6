//! Line → tokens → line.

mod bpe;
mod character;
#[cfg(feature = "huggingface")]
mod hugging_face;
mod sentencepiece;
mod token;
mod word;

pub use bpe::Bpe;
#[cfg(feature = "huggingface")]
pub use hugging_face::HuggingFace;
pub use sentencepiece::{
    PieceKind, SampleOptions, ScoredSegmentation, SentencePiece, SentencePieceAlgorithm, SentencePieceConfig,
    SentencePieceNormalization, SentencePieceProgress, SentencePieceToken,
};
pub use token::Token;

/// How a line is cut into tokens.
///
/// ```
/// use regard_text::Tokenizer;
/// let tokens = Tokenizer::Word.tokenize("the  black cat");
/// assert_eq!(tokens, ["the", "black", "cat"]);
/// assert_eq!(Tokenizer::Word.detokenize(&tokens), "the black cat");
/// assert_eq!(Tokenizer::Character.tokenize("a b▁"), ["a", "▁", "b", "▁▁"]);
/// ```
#[derive(Clone, Debug)]
pub enum Tokenizer {
    /// Tokens between runs of ASCII spaces; joined again with one space, so that only the number of spaces is lost.
    Word,
    /// One token per Unicode scalar value; a space is written `▁` and a `▁` of the text `▁▁`, so that nothing is lost.
    Character,
    /// Pieces of words, as subword-nmt 0.2 makes them.
    Bpe(Bpe),
    /// Pieces of raw text with the spaces in them, as SentencePiece makes them.
    SentencePiece(SentencePiece),
    /// Tokens of a `tokenizer.json` of Hugging Face.
    #[cfg(feature = "huggingface")]
    HuggingFace(HuggingFace),
}

impl Tokenizer {
    /// What recipes call it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Word => "word",
            Self::Character => "character",
            Self::Bpe(_) => "bpe",
            Self::SentencePiece(_) => "sentencepiece",
            #[cfg(feature = "huggingface")]
            Self::HuggingFace(_) => "huggingface",
        }
    }

    /// The tokens of a line; an empty line has none.
    #[must_use]
    pub fn tokenize(&self, line: &str) -> Vec<String> {
        match self {
            Self::Word => word::tokenize(line),
            Self::Character => character::tokenize(line),
            Self::Bpe(bpe) => bpe.segment(line),
            Self::SentencePiece(model) => model.segment(line).into_iter().map(|token| token.piece).collect(),
            #[cfg(feature = "huggingface")]
            Self::HuggingFace(model) => model.segment(line).into_iter().map(|token| token.text).collect(),
        }
    }

    /// The tokens of a line with the bytes and the word that each stands for.
    ///
    /// ```
    /// use regard_text::{Bpe, Tokenizer};
    /// let bpe = Tokenizer::Bpe(Bpe::learn(["low low slow"], 4, 2));
    /// let tokens = bpe.tokenize_with_ranges("the  slow");
    /// assert_eq!(tokens.last().map(|token| token.range.clone()), Some(6..9));
    /// ```
    #[must_use]
    pub fn tokenize_with_ranges(&self, line: &str) -> Vec<Token> {
        let mut tokens: Vec<Token> = match self {
            Self::Word => word::tokens(line),
            Self::Character => character::tokens(line),
            Self::Bpe(bpe) => bpe.tokens(line),
            Self::SentencePiece(model) => {
                model.segment(line).into_iter().map(|token| Token::new(token.piece, token.range)).collect()
            }
            #[cfg(feature = "huggingface")]
            Self::HuggingFace(model) => model.segment(line),
        };
        token::number_words(line, &mut tokens);
        tokens
    }

    /// The line that tokens make: the inverse of [`tokenize`](Self::tokenize), up to what the variant documents.
    #[must_use]
    pub fn detokenize(&self, tokens: &[impl AsRef<str>]) -> String {
        match self {
            Self::Word => word::detokenize(tokens),
            Self::Character => character::detokenize(tokens),
            Self::Bpe(_) => bpe::join(tokens),
            Self::SentencePiece(model) => model.join(tokens),
            #[cfg(feature = "huggingface")]
            Self::HuggingFace(model) => model.join(tokens),
        }
    }

    /// The tokens that text can become, for a model that brings its own: SentencePiece and Hugging Face.
    #[must_use]
    pub fn own_tokens(&self) -> Option<Vec<&str>> {
        match self {
            Self::Word | Self::Character | Self::Bpe(_) => None,
            Self::SentencePiece(model) => Some(model.text_pieces().collect()),
            #[cfg(feature = "huggingface")]
            Self::HuggingFace(model) => Some(model.tokens().iter().map(String::as_str).collect()),
        }
    }
}
