//! The two files of a training state. The first byte says which is exchanged; checksums are made to fit.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use regard_fuzz::{SCRATCH, model};
use regard_model::{Parameters, Preset};
use regard_train::TrainingState;

static DIR: LazyLock<PathBuf> = LazyLock::new(|| {
    model::save(&SCRATCH, Preset::Bahdanau);
    SCRATCH.clone()
});
static PARAMETERS: LazyLock<Parameters> =
    LazyLock::new(|| model::network(Preset::Bahdanau).parameters().clone());

fuzz_target!(|data: &[u8]| {
    let Some((which, bytes)) = data.split_first() else { return };
    let originals = ["training_state.json", "training_state.safetensors"].map(|name| DIR.join(name));
    let originals = originals.map(|path| (std::fs::read(&path).unwrap(), path));
    if which % 2 == 0 {
        model::exchange_tensors(&DIR, bytes);
    } else {
        model::exchange_state(&DIR, bytes);
    }
    if let Ok(state) = TrainingState::load(&DIR, &PARAMETERS) {
        let _ = state.identity.check(&state.identity);
        state.save(&DIR, PARAMETERS.names()).unwrap();
    }
    for (bytes, path) in originals {
        std::fs::write(path, bytes).unwrap();
    }
});
