//! A model of Marian and its vocabularies: an archive, source, target. The first byte says what form the vocabularies have.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regard_fuzz::{file, parts};
use regard_model::exchange::marian;

const FORMS: [&str; 4] = ["yml", "json", "txt", "spm"];

fuzz_target!(|data: &[u8]| {
    let Some((form, data)) = data.split_first() else { return };
    let [source, target, model] = parts(data);
    let form = FORMS[usize::from(form % 4)];
    let vocabularies = [file(&format!("source.{form}"), source), file(&format!("target.{form}"), target)];
    if let Ok((info, network)) = marian::read(&file("model.npz", model), Some(&vocabularies)) {
        assert_eq!(network.target_vocabulary(), info.target.vocabulary.len());
        assert!(info.config.check().is_ok());
    }
});
