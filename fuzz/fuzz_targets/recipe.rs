//! A recipe and what `--set` changes of it, a line each.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use regard_fuzz::parts;
use regard_train::{Recipe, Schedule};

fuzz_target!(|data: &[u8]| {
    let [text, overrides] = parts(data);
    let overrides = String::from_utf8_lossy(overrides);
    let overrides: Vec<String> = overrides.lines().map(str::to_owned).collect();
    let Ok(mut recipe) = Recipe::parse(&String::from_utf8_lossy(text), &overrides) else { return };
    if recipe.init_from.is_none() {
        recipe.model_config().unwrap().check().unwrap();
    }
    assert!(!recipe.data.training_corpora().is_empty());
    recipe.resolve_paths(Path::new("/elsewhere"));
    let schedule = Schedule::new(recipe.training.schedule, recipe.training.updates);
    for step in [1, 2, 1000, u64::MAX] {
        let rate = schedule.learning_rate(step);
        assert!(rate >= 0.0, "{rate} at step {step}");
    }
});
