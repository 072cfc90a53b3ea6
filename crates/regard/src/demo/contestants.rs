//! The three models: as equal as they can be, but for how the writer comes to know the source.

use regard_model::{
    AttentionConfig, Bidirectional, CellKind, ContextKind, DecoderConfig, EncoderConfig, InitialState,
    ModelConfig, NormPosition, Query, Readout, ReadoutState, RecurrentConfig, Score, StackConfig,
    TiedEmbeddings, TransformerConfig,
};
use regard_train::{ScheduleConfig, TrainingConfig};
use serde::Serialize;

use super::data::Sizes;

/// How the writer comes to know the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// One vector for the whole sentence, handed over once; the source is read backwards, which helps it.
    FixedVector,
    /// A look at all encoder states, anew at every word.
    Attention,
    /// Nothing but looks: at the source, and each side at itself.
    Transformer,
}

/// One of the models that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contestant {
    /// How it comes to know the source.
    pub kind: Kind,
    /// Its name, and that of its directory.
    pub name: &'static str,
}

impl Contestant {
    /// All, in the order of their papers.
    pub const ALL: [Self; 3] = [
        Self { kind: Kind::FixedVector, name: "fixed_vector" },
        Self { kind: Kind::Attention, name: "attention" },
        Self { kind: Kind::Transformer, name: "transformer" },
    ];

    /// Its network, of about 0.5 M weights.
    #[must_use]
    pub fn config(self) -> ModelConfig {
        match self.kind {
            Kind::FixedVector => ModelConfig::Recurrent(RecurrentConfig {
                encoder: EncoderConfig {
                    layers: 1,
                    hidden: 224,
                    bidirectional: Bidirectional::None,
                    reverse_source: true,
                },
                context: ContextKind::Once,
                ..gru()
            }),
            Kind::Attention => ModelConfig::Recurrent(RecurrentConfig {
                encoder: EncoderConfig {
                    layers: 1,
                    hidden: 112,
                    bidirectional: Bidirectional::All,
                    reverse_source: false,
                },
                context: ContextKind::Attention,
                ..gru()
            }),
            Kind::Transformer => ModelConfig::Transformer(TransformerConfig {
                d_model: 112,
                d_ff: 224,
                tied_embeddings: TiedEmbeddings::None,
                norm_position: NormPosition::Pre,
                encoder: StackConfig { layers: 2, heads: 4 },
                decoder: StackConfig { layers: 2, heads: 4 },
                dropout: 0.0,
                ..TransformerConfig::base()
            }),
        }
    }

    /// How it is trained: the same for all, but that a Transformer needs smaller steps.
    #[must_use]
    pub fn training(self, sizes: Sizes) -> TrainingConfig {
        TrainingConfig {
            updates: Some(sizes.updates),
            batch_sentences: Some(sizes.batch),
            label_smoothing: 0.0,
            report_every: 100,
            checkpoint_every: sizes.updates,
            keep_checkpoints: 1,
            schedule: ScheduleConfig::Cosine {
                learning_rate: if self.kind == Kind::Transformer { 0.002 } else { 0.004 },
                warmup: 100,
                minimum: 0.0001,
                updates: None,
            },
            ..TrainingConfig::default()
        }
    }
}

/// What the two recurrent models share.
fn gru() -> RecurrentConfig {
    let base = RecurrentConfig::bahdanau();
    RecurrentConfig {
        cell: CellKind::GruResetAfter,
        embedding: 96,
        dropout: 0.0,
        decoder: DecoderConfig {
            layers: 1,
            hidden: 224,
            initial_state: InitialState::Last,
            readout: Readout::Tanh,
            readout_state: ReadoutState::Current,
            readout_width: 128,
            ..base.decoder
        },
        attention: AttentionConfig { score: Score::General, query: Query::Current, ..base.attention },
        ..base
    }
}
