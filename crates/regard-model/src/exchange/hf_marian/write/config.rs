//! The JSON files that say what the model is, with the keys of `MarianConfig`, `GenerationConfig` and `MarianTokenizer`.

use serde_json::{Map, Value, json};

use super::vocabulary::{END, Vocabularies};
use crate::checkpoint::ModelInfo;
use crate::config::{Activation, TiedEmbeddings, TransformerConfig};

/// The longest translation that is asked for where nobody says another length; as OPUS-MT models have it.
const MAX_LENGTH: usize = 512;
/// The beam of `regard translate`.
const BEAMS: usize = 5;

/// `config.json`.
pub(super) fn network(config: &TransformerConfig, vocabularies: &Vocabularies) -> Value {
    let activation = match config.activation {
        Activation::Relu => "relu",
        Activation::Gelu => "gelu",
        Activation::Swish => "swish",
    };
    let pad = vocabularies.pad;
    json!({
        "architectures": ["MarianMTModel"],
        "model_type": "marian",
        "is_encoder_decoder": true,
        "vocab_size": vocabularies.source.len(),
        "decoder_vocab_size": vocabularies.target.len(),
        "share_encoder_decoder_embeddings": !vocabularies.separate,
        "tie_word_embeddings": config.tied_embeddings != TiedEmbeddings::None,
        "d_model": config.d_model,
        "encoder_layers": config.encoder.layers,
        "decoder_layers": config.decoder.layers,
        "encoder_attention_heads": config.encoder.heads,
        "decoder_attention_heads": config.decoder.heads,
        "encoder_ffn_dim": config.d_ff,
        "decoder_ffn_dim": config.d_ff,
        "activation_function": activation,
        "scale_embedding": config.scale_embeddings,
        "static_position_embeddings": true,
        "max_position_embeddings": config.max_positions,
        "dropout": config.dropout,
        "attention_dropout": config.attention_dropout,
        "activation_dropout": config.feed_forward_dropout,
        "torch_dtype": "float32",
        "bos_token_id": END,
        "eos_token_id": END,
        "forced_eos_token_id": END,
        "pad_token_id": pad,
        "decoder_start_token_id": pad,
    })
}

/// `generation_config.json`: the search of `regard translate`, as far as there is the same there.
pub(super) fn generation(config: &TransformerConfig, vocabularies: &Vocabularies) -> Value {
    let pad = vocabularies.pad;
    json!({
        "bad_words_ids": [[pad]],
        "bos_token_id": END,
        "decoder_start_token_id": pad,
        "eos_token_id": END,
        "forced_eos_token_id": END,
        "length_penalty": 1.0,
        "max_length": config.max_positions.min(MAX_LENGTH),
        "num_beams": BEAMS,
        "pad_token_id": pad,
    })
}

/// `tokenizer_config.json`.
pub(super) fn tokenizer(info: &ModelInfo, config: &TransformerConfig, vocabularies: &Vocabularies) -> Value {
    let mut fields = Map::new();
    fields.insert("tokenizer_class".to_owned(), "MarianTokenizer".into());
    fields.insert("separate_vocabs".to_owned(), vocabularies.separate.into());
    fields.insert("model_max_length".to_owned(), config.max_positions.into());
    for (key, code) in [("source_lang", &info.source_language), ("target_lang", &info.target_language)] {
        if !code.is_empty() {
            fields.insert(key.to_owned(), code.as_str().into());
        }
    }
    Value::Object(fields)
}
