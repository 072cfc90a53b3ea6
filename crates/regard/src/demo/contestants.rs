//! The two models: as equal as they can be, but for how the writer comes to know the source.

use regard_model::{
    AttentionConfig, Bidirectional, CellKind, ContextKind, DecoderConfig, EncoderConfig, InitialState,
    ModelConfig, Query, Readout, ReadoutState, RecurrentConfig, Score,
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
    /// Both, the fixed vector first.
    pub const BOTH: [Self; 2] = [
        Self { kind: Kind::FixedVector, name: "fixed_vector" },
        Self { kind: Kind::Attention, name: "attention" },
    ];

    /// Its network: a GRU of about 0.5 M weights.
    #[must_use]
    pub fn config(self) -> ModelConfig {
        let base = RecurrentConfig::bahdanau();
        let shared = RecurrentConfig {
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
            ..base.clone()
        };
        ModelConfig::Recurrent(match self.kind {
            Kind::FixedVector => RecurrentConfig {
                encoder: EncoderConfig {
                    layers: 1,
                    hidden: 224,
                    bidirectional: Bidirectional::None,
                    reverse_source: true,
                },
                context: ContextKind::Once,
                ..shared
            },
            Kind::Attention => RecurrentConfig {
                encoder: EncoderConfig {
                    layers: 1,
                    hidden: 112,
                    bidirectional: Bidirectional::All,
                    reverse_source: false,
                },
                context: ContextKind::Attention,
                attention: AttentionConfig { score: Score::General, query: Query::Current, ..base.attention },
                ..shared
            },
        })
    }

    /// How it is trained; the same for both.
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
                learning_rate: 0.004,
                warmup: 100,
                minimum: 0.0001,
                updates: None,
            },
            ..TrainingConfig::default()
        }
    }
}
