//! Configurations by their names.

use serde::{Deserialize, Serialize};

use super::{ModelConfig, RecurrentConfig, TransformerConfig};

/// A configuration as a paper has it, at a size that trains on a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// Four LSTM layers, the source reversed, all states handed over once (Sutskever et al. 2014).
    Sutskever,
    /// A GRU whose last state is an input of every step and of a maxout output (Cho et al. 2014).
    Cho,
    /// A bidirectional GRU and additive attention by the previous state (Bahdanau et al. 2015).
    Bahdanau,
    /// LSTM layers, `general` attention by the current state, input feeding (Luong et al. 2015).
    Luong,
    /// Eight and eight LSTM layers, residual from the third, attention by the bottom layer's last output (Wu et al. 2016).
    Gnmt,
    /// A Transformer's encoder of four layers, and a GRU that looks at what it has read (Chen et al. 2018): fast at writing.
    TransformerReader,
    /// 4 + 4 Transformer layers of width 128 and 4 heads, for small corpora.
    TransformerTiny,
    /// 6 + 6 Transformer layers of width 512 and 8 heads (Vaswani et al. 2017, table 3, `base`).
    TransformerBase,
}

impl Preset {
    /// All presets, in the order of their papers; the small Transformer before the large one.
    pub const ALL: [Self; 8] = [
        Self::Sutskever,
        Self::Cho,
        Self::Bahdanau,
        Self::Luong,
        Self::Gnmt,
        Self::TransformerReader,
        Self::TransformerTiny,
        Self::TransformerBase,
    ];

    /// The configuration.
    #[must_use]
    pub fn config(self) -> ModelConfig {
        match self {
            Self::Sutskever => ModelConfig::Recurrent(RecurrentConfig::sutskever()),
            Self::Cho => ModelConfig::Recurrent(RecurrentConfig::cho()),
            Self::Bahdanau => ModelConfig::Recurrent(RecurrentConfig::bahdanau()),
            Self::Luong => ModelConfig::Recurrent(RecurrentConfig::luong()),
            Self::Gnmt => ModelConfig::Recurrent(RecurrentConfig::gnmt()),
            Self::TransformerReader => ModelConfig::Recurrent(RecurrentConfig::transformer_reader()),
            Self::TransformerTiny => ModelConfig::Transformer(TransformerConfig::tiny()),
            Self::TransformerBase => ModelConfig::Transformer(TransformerConfig::base()),
        }
    }
}
