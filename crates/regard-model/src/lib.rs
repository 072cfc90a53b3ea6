//! Encoder-decoder networks and their files.
//!
//! A [`ModelConfig`] says what a network is made of; [`RecurrentModel`] and [`TransformerModel`] are the two families;
//! [`Predictor`] is all that the search and the pictures know of them, [`Seq2Seq`] what the trainer knows. Attention is an output, filled where it is asked for, and an
//! intervention is an input, an [`AttentionHook`].
//!
//! Masks: true means "may attend".

mod affine;
mod attention;
pub mod checkpoint;
mod config;
mod distributions;
mod error;
pub mod exchange;
mod history;
mod layer_norm;
mod listed_words;
mod parameters;
mod pass;
mod reader;
mod recurrent;
mod rnn;
mod seq2seq;
mod transformer;
mod word_tables;

pub use attention::{
    AttentionHook, AttentionSite, Block, BlockKind, HookCall, Place, SiteKind, Temperature, ValueCall,
};
pub use checkpoint::ModelInfo;
pub use config::{
    Activation, AttentionConfig, Bidirectional, CellKind, ContextKind, ContextLayers, CrossAttention,
    DecoderConfig, EncoderConfig, InitialState, LayerNorm, ModelConfig, Norm, NormPosition, Positions,
    Preset, Query, QueryLayer, ReaderConfig, Readout, ReadoutState, RecurrentConfig, Score, StackConfig,
    TiedEmbeddings, TransformerConfig, Window,
};
pub use distributions::Distributions;
pub use error::{ModelError, Result};
pub use history::History;
pub use listed_words::ListedWords;
pub use parameters::{ParameterId, Parameters};
pub use recurrent::RecurrentModel;
pub use seq2seq::{
    LossOutput, Memory, Noise, Predictor, Row, Run, Scored, Seq2Seq, SiteAttention, State, StepOutput,
    Training,
};
pub use transformer::TransformerModel;
