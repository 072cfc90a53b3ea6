//! Encoder-decoder networks and their files.
//!
//! A [`ModelConfig`] says what a network is made of; [`RecurrentModel`] is that network; [`Seq2Seq`] is all that the
//! search, the trainer and the pictures know of it. Attention is an output, filled where it is asked for, and an
//! intervention is an input, an [`AttentionHook`].
//!
//! Masks: true means "may attend".

mod attention;
pub mod checkpoint;
mod config;
mod config_check;
mod error;
mod parameters;
mod pass;
mod recurrent;
mod rnn;
mod seq2seq;

pub use attention::{AttentionHook, AttentionSite, HookCall, SiteKind, Temperature};
pub use checkpoint::ModelInfo;
pub use config::{
    AttentionConfig, Bidirectional, CellKind, ContextKind, ContextLayers, DecoderConfig, EncoderConfig,
    InitialState, ModelConfig, Preset, Query, QueryLayer, Readout, ReadoutState, Score, TiedEmbeddings,
    Window,
};
pub use error::{ModelError, Result};
pub use parameters::{ParameterId, Parameters};
pub use recurrent::RecurrentModel;
pub use seq2seq::{LossOutput, Memory, Noise, Row, Run, Seq2Seq, SiteAttention, State, StepOutput, Training};
