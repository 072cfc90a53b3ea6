//! What is written for Hugging Face is read again as a model of the same probabilities.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use regard_model::exchange::{self, hf_marian};
use regard_model::{ModelConfig, ModelInfo, Preset, Row, Run, Seq2Seq, checkpoint};
use regard_tensor::{Tape, Threads};
use regard_text::special_tokens::{BOS, PAD};
use regard_text::{
    Bpe, Normalizer, Padded, Pipeline, Preparation, SentencePiece, SentencePieceAlgorithm,
    SentencePieceConfig, SentencePieceNormalization, Tokenizer,
};
use serde_json::{Value, json};

const SOURCE: [&str; 3] = ["the dog sees a cat", "a cat sees the old dog", "the bird hears a dog"];
const TARGET: [&str; 3] =
    ["le chien voit un chat", "un chat voit le vieux chien", "l'oiseau entend un chien"];

fn pipeline(lines: &[&str], pieces: usize) -> Pipeline {
    let config = SentencePieceConfig {
        algorithm: SentencePieceAlgorithm::Bpe,
        vocabulary_size: pieces,
        normalization: SentencePieceNormalization::Identity,
        ..SentencePieceConfig::default()
    };
    let model = SentencePiece::train(lines, &config, 1, &mut |_| {}).unwrap();
    Pipeline::from_model(Normalizer::None, Tokenizer::SentencePiece(model)).unwrap()
}

fn config(changes: &Value) -> ModelConfig {
    let small = json!({
        "d_model": 12, "d_ff": 10, "max_positions": 40,
        "encoder": {"layers": 2, "heads": 2}, "decoder": {"layers": 1, "heads": 3},
    });
    Preset::TransformerTiny.config().with_changes(&small).unwrap().with_changes(changes).unwrap()
}

/// A model of one vocabulary for both sides, or of one for each, whose source knows a tag.
fn info(config: ModelConfig) -> ModelInfo {
    let tags = || ["<fra>".to_owned()];
    let (source, target) = if config.tied_embeddings() == regard_model::TiedEmbeddings::All {
        let both = pipeline(&[SOURCE, TARGET].concat(), 40).with_tags(tags()).unwrap();
        (both.clone(), both)
    } else {
        (pipeline(&SOURCE, 30).with_tags(tags()).unwrap(), pipeline(&TARGET, 35))
    };
    ModelInfo { config, source_language: "en".to_owned(), target_language: "fr".to_owned(), source, target }
}

/// Weights none of which is zero or one by its nature.
fn network(info: &ModelInfo) -> Box<dyn Seq2Seq> {
    let mut network = info.build(3).unwrap();
    for (place, tensor) in network.parameters_mut().values_mut().iter_mut().enumerate() {
        for (index, value) in tensor.values_mut().iter_mut().enumerate() {
            *value += 0.3 * ((7 * place + index) as f32 * 1.7).sin();
        }
    }
    network
}

/// The log-probabilities among what can be written, of the steps of a given translation.
fn log_probs(info: &ModelInfo, network: &dyn Seq2Seq) -> Vec<f64> {
    let threads = Threads::new(1);
    let tape = Tape::inference(&threads);
    let run = Run::new(&tape);
    let source = info.source.encode_tagged(&["<fra>".to_owned()], SOURCE[1]).unwrap();
    let memory = network.encode(&run, &Padded::from_sentences(std::iter::once(source.as_slice()))).unwrap();
    let mut state = network.start(&run, &memory, &[0]).unwrap();
    let mut found = Vec::new();
    let tokens = [vec![BOS], info.target.encode(TARGET[2])].concat();
    for (position, token) in tokens.into_iter().enumerate() {
        let row = Row { sentence: 0, hypothesis: 0, parent: 0, position };
        let output = network.step(&run, &memory, &state, &[token], &[row]).unwrap();
        state = output.state;
        let written =
            output.log_probs.row(0).values().zip(0_u32..).filter(|(_, id)| ![PAD, BOS].contains(id));
        let written: Vec<f64> = written.map(|(log_prob, _)| f64::from(log_prob)).collect();
        let total = written.iter().map(|log_prob| log_prob.exp()).sum::<f64>().ln();
        found.extend(written.into_iter().map(|log_prob| log_prob - total));
    }
    found
}

#[test]
fn a_model_comes_back_with_the_same_probabilities() {
    for changes in [
        json!({"tied_embeddings": "all", "positions": "sinusoidal"}),
        json!({"tied_embeddings": "all", "positions": "sinusoidal_halves", "scale_embeddings": false}),
        json!({"tied_embeddings": "target_output", "positions": "sinusoidal", "activation": "gelu"}),
        json!({"tied_embeddings": "none", "positions": "sinusoidal", "activation": "swish", "output_bias": false}),
    ] {
        let info = info(config(&changes));
        let network = network(&info);
        let place = tempfile::tempdir().unwrap();
        hf_marian::write(place.path(), &info, network.parameters()).unwrap();
        let (again, network_again) = exchange::read(place.path()).unwrap();
        assert_eq!(again.source.vocabulary, info.source.vocabulary);
        assert_eq!(again.target.vocabulary, info.target.vocabulary);
        assert_eq!(again.config.tied_embeddings(), info.config.tied_embeddings());
        assert_eq!((again.source_language.as_str(), again.target_language.as_str()), ("en", "fr"));
        let (before, after) = (log_probs(&info, &*network), log_probs(&again, &*network_again));
        assert_eq!(before.len(), after.len());
        for (before, after) in before.iter().zip(&after) {
            assert!((before - after).abs() < 3e-5, "{changes}: {after} is not {before}");
        }
        // What the decoder reads first is a vector of zeros, as converters expect.
        let table =
            if changes["tied_embeddings"] == "all" { "embedding.weight" } else { "target_embedding.weight" };
        let table = network_again.parameters().get(table).unwrap();
        assert!(table.row(BOS as usize).iter().all(|&value| value == 0.0));
    }
}

#[test]
fn pad_has_one_id_that_both_sides_have() {
    for (tied, separate) in [("all", false), ("target_output", true)] {
        let info = info(config(&json!({"tied_embeddings": tied})));
        let place = tempfile::tempdir().unwrap();
        hf_marian::write(place.path(), &info, network(&info).parameters()).unwrap();
        let read = |name: &str| -> Value {
            serde_json::from_slice(&std::fs::read(place.path().join(name)).unwrap()).unwrap()
        };
        let (config, generation, tokenizer) =
            (read("config.json"), read("generation_config.json"), read("tokenizer_config.json"));
        let pad = config["pad_token_id"].as_u64().unwrap();
        assert_eq!(tokenizer["separate_vocabs"], separate);
        assert_eq!(place.path().join("target_vocab.json").exists(), separate);
        for file in if separate { &["vocab.json", "target_vocab.json"][..] } else { &["vocab.json"] } {
            let vocabulary = read(file);
            assert_eq!((&vocabulary["</s>"], &vocabulary["<unk>"]), (&json!(0), &json!(1)));
            assert_eq!(vocabulary["<pad>"], pad);
            assert_eq!(vocabulary[">>fra<<"].is_null(), *file == "target_vocab.json");
        }
        assert_eq!(config["decoder_start_token_id"], pad);
        assert_eq!(generation["bad_words_ids"], json!([[pad]]));
        let weights = std::fs::read(place.path().join("model.safetensors")).unwrap();
        let weights = checkpoint::read_tensors(place.path(), &weights).unwrap();
        let bias = &weights.iter().find(|(name, _)| name == "final_logits_bias").unwrap().1;
        assert_eq!(bias.values()[pad as usize].to_bits(), f32::to_bits(-1e4));
    }
}

#[test]
fn what_cannot_be_written_is_refused_by_its_key() {
    let refused = |info: &ModelInfo| {
        let place = tempfile::tempdir().unwrap();
        let error = hf_marian::write(place.path(), info, info.build(1).unwrap().parameters()).unwrap_err();
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
        error.to_string()
    };
    for (changes, key) in [
        (json!({"positions": "rotary"}), "model.positions = \"rotary\""),
        (json!({"positions": "learned"}), "model.positions = \"learned\""),
        (json!({"norm": "rms"}), "model.norm = \"rms\""),
        (json!({"norm_position": "pre"}), "model.norm_position = \"pre\""),
        (json!({"norm_epsilon": 1e-6}), "model.norm_epsilon = 1e-6"),
        (json!({"gated": true}), "model.gated = true"),
    ] {
        let message = refused(&info(config(&changes)));
        assert!(message.starts_with("this model cannot become a MarianMTModel: "), "{message}");
        assert!(message.contains(key), "{message}");
    }
    let recurrent = ModelInfo { config: Preset::Luong.config(), ..info(config(&json!({}))) };
    assert!(refused(&recurrent).contains("model.family = \"recurrent\""));

    let good = info(config(&json!({})));
    let text = |tokenizer| Pipeline::build(Normalizer::None, tokenizer, SOURCE, None, 1);
    let prepared = |preparation| Pipeline::from_model(preparation, pipeline(&TARGET, 35).tokenizer).unwrap();
    for (target, key) in [
        (text(Tokenizer::Word), "tokenizer.kind = \"word\""),
        (text(Tokenizer::Bpe(Bpe::learn(SOURCE, 9, 1))), "tokenizer.kind = \"bpe\""),
        (prepared(Preparation::from(Normalizer::Nfc)), "tokenizer.normalizer = \"nfc\""),
        (prepared(Preparation { lowercase: true, ..Preparation::default() }), "tokenizer.lowercase = true"),
    ] {
        let message = refused(&ModelInfo { target, ..good.clone() });
        assert!(message.contains(key) && message.contains("the target side"), "{message}");
    }
    let doubled = good.source.clone().with_tags(["<pad".to_owned() + ">"]).is_err();
    assert!(doubled, "a tag cannot be <pad>");
    let source = good.source.with_text_tokens(["</s>".to_owned()]).unwrap();
    let message = refused(&ModelInfo { source, target: good.target, config: good.config, ..recurrent });
    assert!(message.contains("two of its tokens would be </s>"), "{message}");
}
